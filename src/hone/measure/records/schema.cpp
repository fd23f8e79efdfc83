#include "hone/measure/records/schema.h"

#include <array>
#include <string>

#include "hone/measure/records/record.h"

namespace hone::measure {
namespace {

/// Says in the file itself whose database it is: "hone".
constexpr std::int64_t kApplicationId = 0x686f6e65;

/// What leads from each version to the next one, beginning with an empty file. Entries are never changed: files of
/// their version exist.
constexpr std::array<const char*, kSchemaVersion> kUpgrades = {
    R"(
    CREATE TABLE tasks (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      family TEXT NOT NULL,
      text TEXT NOT NULL,       -- the naive program
      shapes TEXT NOT NULL,     -- JSON
      constants TEXT NOT NULL   -- JSON
    );
    CREATE INDEX tasks_by_family ON tasks(family);
    CREATE TABLE targets (
      id INTEGER PRIMARY KEY,
      text TEXT NOT NULL UNIQUE
    );
    CREATE TABLE records (
      id INTEGER PRIMARY KEY,
      uid TEXT NOT NULL UNIQUE,
      task INTEGER NOT NULL REFERENCES tasks(id),
      target INTEGER NOT NULL REFERENCES targets(id),
      candidate TEXT NOT NULL,  -- JSON
      trace TEXT NOT NULL,      -- JSON
      status TEXT NOT NULL,
      samples_ns TEXT NOT NULL, -- JSON
      min_ns REAL,              -- NULL unless the status is 'ok'
      median_ns REAL,
      cache TEXT NOT NULL,
      checked INTEGER NOT NULL,
      compile_ms REAL NOT NULL,
      message TEXT NOT NULL,
      tags TEXT NOT NULL,       -- JSON
      version TEXT NOT NULL,
      time_ms INTEGER NOT NULL
    );
    CREATE INDEX records_by_speed ON records(task, target, cache, median_ns);
    )",
};

Error newer(const Database& database, std::int64_t version) {
  return error(ErrorCode::Unsupported, "records: '{}' has schema {}, this hone reads up to {}: use a newer hone",
               database.file(), version, kSchemaVersion);
}

Error foreign(const Database& database) {
  return error(ErrorCode::ParseError, "records: '{}' is a database, but not one of hone's", database.file());
}

}  // namespace

Result<void> upgrade_schema(Database& database) {
  HONE_TRY(const std::int64_t known, database.ask("PRAGMA user_version"));
  if (known == kSchemaVersion) return check_schema(database);
  return database.transaction([&]() -> Result<void> {
    // again, now that nobody else can be at it
    HONE_TRY(const std::int64_t version, database.ask("PRAGMA user_version"));
    HONE_TRY(const std::int64_t owner, database.ask("PRAGMA application_id"));
    HONE_TRY(const std::int64_t tables, database.ask("SELECT count(*) FROM sqlite_master"));
    if (tables > 0 && owner != kApplicationId) return foreign(database);
    if (version > kSchemaVersion) return newer(database, version);
    for (std::int64_t at = version; at < kSchemaVersion; ++at)
      HONE_TRY(database.execute(kUpgrades[static_cast<std::size_t>(at)]));
    HONE_TRY(database.execute(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str()));
    return database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
  });
}

Result<void> check_schema(Database& database) {
  HONE_TRY(const std::int64_t version, database.ask("PRAGMA user_version"));
  HONE_TRY(const std::int64_t owner, database.ask("PRAGMA application_id"));
  HONE_TRY(const std::int64_t tables, database.ask("SELECT count(*) FROM sqlite_master"));
  if (tables == 0 && owner == 0)  // left by a process that was killed as soon as it had made the file
    return error(ErrorCode::NotFound, "records: '{}' holds nothing yet", database.file());
  if (owner != kApplicationId) return foreign(database);
  if (version > kSchemaVersion) return newer(database, version);
  if (version < kSchemaVersion)
    return error(ErrorCode::Unsupported,
                 "records: '{}' has schema {}, which has to be brought to {}, but it is opened to be read only",
                 database.file(), version, kSchemaVersion);
  return {};
}

}  // namespace hone::measure
