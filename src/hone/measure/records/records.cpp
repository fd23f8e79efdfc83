#include "hone/measure/records/records.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <random>
#include <thread>

#include "hone/measure/records/database.h"
#include "hone/measure/records/schema.h"

namespace hone::measure {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kColumns =
    "SELECT t.key, t.family, t.text, t.shapes, t.constants, g.text, r.candidate, r.trace, r.status, r.samples_ns, "
    "r.cache,"
    " r.checked, r.compile_ms, r.message, r.tags, r.version, r.time_ms, r.uid"
    " FROM records r JOIN tasks t ON t.id = r.task JOIN targets g ON g.id = r.target";

Error damaged(const Statement& row, const char* what) {
  return error(ErrorCode::ParseError, "records: the {} of record '{}' cannot be read", what, row.text(17));
}

template <typename T>
bool read_json(const std::string& text, T& value) {
  try {
    Json::parse(text).get_to(value);
    return true;
  } catch (const nlohmann::json::exception&) { return false; }
}

/// The record in a row of kColumns.
Result<Record> read_row(const Statement& row) {
  Record record;
  record.task.key = row.text(0);
  record.task.family = row.text(1);
  record.task.text = row.text(2);
  if (!read_json(row.text(3), record.task.shapes)) return damaged(row, "shapes");
  if (!read_json(row.text(4), record.task.constants)) return damaged(row, "constants");
  record.target = row.text(5);
  record.candidate = row.text(6);
  record.trace = row.text(7);
  const std::optional<TrialStatus> status = find_trial_status(row.text(8));
  if (!status) return damaged(row, "status");
  record.status = *status;
  if (!read_json(row.text(9), record.samples_ns)) return damaged(row, "samples");
  const std::optional<CacheState> cache = find_cache_state(row.text(10));
  if (!cache) return damaged(row, "cache state");
  record.cache = *cache;
  record.is_checked = row.integer(11) != 0;
  record.compile_ms = row.number(12);
  record.message = row.text(13);
  record.tags = row.text(14);
  record.version = row.text(15);
  record.time_ms = row.integer(16);
  record.uid = row.text(17);
  return record;
}

/// The conditions of a filter, and the values that they are about.
struct Where {
  std::string sql;
  std::vector<std::string> values;

  explicit Where(const RecordFilter& filter) {
    add("t.key = ?", filter.task);
    add("t.family = ?", filter.family);
    add("g.text = ?", filter.target);
    if (filter.status) add("r.status = ?", std::string(to_string(*filter.status)));
    if (filter.cache) add("r.cache = ?", std::string(to_string(*filter.cache)));
    if (filter.only_checked) sql += sql.empty() ? " WHERE r.checked = 1" : " AND r.checked = 1";
  }

  void bind(Statement& statement) const {
    for (std::size_t i = 0; i < values.size(); ++i) statement.bind(static_cast<int>(i) + 1, values[i]);
  }

 private:
  void add(const char* condition, const std::string& value) {
    if (value.empty()) return;
    sql += (sql.empty() ? " WHERE " : " AND ") + std::string(condition);
    values.push_back(value);
  }
};

std::string random_uid() {
  static thread_local std::random_device device;
  std::string uid;
  for (int i = 0; i < 4; ++i) uid += fmt::format("{:08x}", static_cast<std::uint32_t>(device()));
  return uid;
}

std::string own_version() {
  const char* commit = std::getenv("HONE_COMMIT");
  return commit && *commit ? HONE_VERSION "+" + std::string(commit) : HONE_VERSION;
}

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Result<void> check_json(const char* what, const std::string& text) {
  if (!Json::accept(text)) return error(ErrorCode::InvalidArgument, "records: {} '{}' is no JSON", what, text);
  return {};
}

/// Lets readers and a writer work at once, and makes a commit cheap. Fails while others have the file open for the
/// first time, which the usual waiting does not cover.
Result<void> use_write_ahead_log(Database& database) {
  Result<void> done;
  for (int attempt = 0; attempt < 500; ++attempt) {
    done = database.execute("PRAGMA journal_mode = WAL");
    if (done || !database.is_busy()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  HONE_TRY(std::move(done));
  return database.execute("PRAGMA synchronous = NORMAL");
}

}  // namespace

std::string default_records_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string file = variable("HONE_RECORDS"); !file.empty()) return file;
  if (const std::string data = variable("XDG_DATA_HOME"); data.starts_with('/')) return data + "/hone/records.db";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.local/share/hone/records.db";
  return "";
}

std::string records_file(const std::string& named) {
  if (named == "none") return "";
  return named == "default" ? default_records_file() : named;
}

void complete(Record& record) {
  if (record.uid.empty()) record.uid = random_uid();
  if (record.version.empty()) record.version = own_version();
  if (record.time_ms == 0) record.time_ms = now_ms();
}

class Records::Impl {
 public:
  explicit Impl(Database opened) : database(std::move(opened)) {}

  Result<void> add_task(const TaskKey& task) {
    HONE_TRY(Statement insert, database.prepare("INSERT OR IGNORE INTO tasks (key, family, text, shapes, constants)"
                                                " VALUES (?, ?, ?, ?, ?)"));
    return insert.bind_all(task.key, task.family, task.text, Json(task.shapes).dump(), Json(task.constants).dump())
        .run();
  }

  /// Adds a record whose task is there, inside a transaction. False if it was there already.
  Result<bool> add_record(Record record) {
    HONE_TRY(check_json("candidate", record.candidate));
    HONE_TRY(check_json("trace", record.trace));
    HONE_TRY(check_json("tags", record.tags));
    complete(record);
    HONE_TRY(Statement target, database.prepare("INSERT OR IGNORE INTO targets (text) VALUES (?)"));
    HONE_TRY(target.bind_all(record.target).run());
    HONE_TRY(Statement insert,
             database.prepare("INSERT OR IGNORE INTO records (uid, task, target, candidate, trace, status, samples_ns,"
                              " cache, checked, compile_ms, message, tags, version, time_ms, min_ns, median_ns) VALUES"
                              " (?, (SELECT id FROM tasks WHERE key = ?), (SELECT id FROM targets WHERE text = ?),"
                              " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind_all(record.uid, record.task.key, record.target, record.candidate, record.trace,
                    to_string(record.status), Json(record.samples_ns).dump(), to_string(record.cache),
                    std::int64_t{record.is_checked}, record.compile_ms, record.message, record.tags, record.version,
                    record.time_ms);
    if (record.status == TrialStatus::Ok && !record.samples_ns.empty()) {
      insert.bind(15, record.min_ns());
      insert.bind(16, record.median_ns());
    }
    HONE_TRY(insert.run());
    return database.changes() > 0;
  }

  Result<std::vector<Record>> rows(Statement statement) const {
    std::vector<Record> records;
    for (;;) {
      HONE_TRY(const bool has_row, statement.step());
      if (!has_row) return records;
      HONE_TRY(Record record, read_row(statement));
      records.push_back(std::move(record));
    }
  }

  mutable Database database;
};

Records::Records(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Records::Records(Records&&) noexcept = default;
Records& Records::operator=(Records&&) noexcept = default;
Records::~Records() = default;

Result<Records> Records::open(const std::string& file, Mode mode) {
  if (file.empty())
    return error(ErrorCode::NotFound,
                 "records: no file is named, and neither HONE_RECORDS, XDG_DATA_HOME nor HOME is set");
  if (mode != Mode::ReadOnly) {
    const auto access = mode == Mode::Existing ? Database::Access::Existing : Database::Access::ReadWrite;
    HONE_TRY(Database database, Database::open(file, access));
    HONE_TRY(upgrade_schema(database));
    HONE_TRY(use_write_ahead_log(database));
    return Records(std::make_unique<Impl>(std::move(database)));
  }
  HONE_TRY(Database database, Database::open(file, Database::Access::ReadOnly));
  if (Result<void> checked = check_schema(database); !checked) {
    // Readers share memory in a file beside this one, which cannot be made on read-only media; there, nobody writes.
    HONE_TRY(database, Database::open(file, Database::Access::Immutable));
    if (!check_schema(database)) return std::move(checked).error();
  }
  return Records(std::make_unique<Impl>(std::move(database)));
}

const std::string& Records::file() const { return impl_->database.file(); }

Result<void> Records::insert(Record record) {
  return impl_->database.transaction([&]() -> Result<void> {
    HONE_TRY(impl_->add_task(record.task));
    HONE_TRY(impl_->add_record(std::move(record)));
    return {};
  });
}

Result<std::int64_t> Records::insert_all(std::vector<Record> records) {
  std::int64_t added = 0;
  HONE_TRY(impl_->database.transaction([&]() -> Result<void> {
    for (Record& record : records) {
      HONE_TRY(impl_->add_task(record.task));
      HONE_TRY(const bool is_new, impl_->add_record(std::move(record)));
      added += is_new ? 1 : 0;
    }
    return {};
  }));
  return added;
}

Result<std::optional<Record>> Records::best(std::string_view task, std::string_view target, CacheState cache) const {
  HONE_TRY(Statement query, impl_->database.prepare(
                                std::string(kColumns) +
                                " WHERE t.key = ? AND g.text = ? AND r.cache = ? AND r.status = 'ok' AND r.checked = 1"
                                " AND r.min_ns IS NOT NULL ORDER BY r.min_ns, r.id LIMIT 1"));
  query.bind_all(task, target, to_string(cache));
  HONE_TRY(std::vector<Record> found, impl_->rows(std::move(query)));
  if (found.empty()) return std::optional<Record>();
  return std::optional<Record>(std::move(found.front()));
}

Result<std::vector<Record>> Records::best_of_family(const TaskKey& task, std::string_view target,
                                                    CacheState cache) const {
  HONE_TRY(Statement query,
           impl_->database.prepare(std::string(kColumns) +
                                   " WHERE t.family = ? AND t.key != ? AND g.text = ? AND r.id = (SELECT b.id FROM"
                                   " records b WHERE b.task = r.task AND b.target = r.target AND b.cache = ? AND"
                                   " b.status = 'ok' AND b.checked = 1 AND b.min_ns IS NOT NULL"
                                   " ORDER BY b.min_ns, b.id LIMIT 1) ORDER BY t.id"));
  query.bind_all(task.family, task.key, target, to_string(cache));
  return impl_->rows(std::move(query));
}

Result<std::optional<Record>> Records::adopted(std::string_view task, std::string_view target) const {
  HONE_TRY(Statement query,
           impl_->database.prepare(std::string(kColumns) + " WHERE t.key = ? AND g.text = ? AND r.status = 'ok' AND"
                                                           " json_extract(r.tags, '$.adopted') = 1"
                                                           " ORDER BY r.time_ms DESC, r.id DESC LIMIT 1"));
  query.bind_all(task, target);
  HONE_TRY(std::vector<Record> found, impl_->rows(std::move(query)));
  if (found.empty()) return std::optional<Record>();
  return std::optional<Record>(std::move(found.front()));
}

Result<std::vector<Record>> Records::adopted_of_family(const TaskKey& task, std::string_view target) const {
  HONE_TRY(Statement query,
           impl_->database.prepare(std::string(kColumns) +
                                   " WHERE t.family = ? AND t.key != ? AND g.text = ? AND r.id = (SELECT b.id FROM"
                                   " records b WHERE b.task = r.task AND b.target = r.target AND b.status = 'ok' AND"
                                   " json_extract(b.tags, '$.adopted') = 1 ORDER BY b.time_ms DESC, b.id DESC LIMIT 1)"
                                   " ORDER BY t.id"));
  query.bind_all(task.family, task.key, target);
  return impl_->rows(std::move(query));
}

Result<std::vector<Record>> Records::find(const RecordFilter& filter) const {
  std::vector<Record> found;
  HONE_TRY(for_each(filter, [&](const Record& record) { found.push_back(record); }));
  return found;
}

Result<void> Records::for_each(const RecordFilter& filter, const std::function<void(const Record&)>& visit) const {
  const Where where(filter);
  HONE_TRY(Statement query, impl_->database.prepare(kColumns + where.sql + " ORDER BY r.id"));
  where.bind(query);
  for (;;) {
    HONE_TRY(const bool has_row, query.step());
    if (!has_row) return {};
    HONE_TRY(const Record record, read_row(query));
    visit(record);
  }
}

Result<std::int64_t> Records::count(const RecordFilter& filter) const {
  const Where where(filter);
  HONE_TRY(Statement query, impl_->database.prepare("SELECT count(*) FROM records r JOIN tasks t ON t.id = r.task"
                                                    " JOIN targets g ON g.id = r.target" +
                                                    where.sql));
  where.bind(query);
  HONE_TRY(query.step());
  return query.integer(0);
}

Result<std::vector<TaskSummary>> Records::summaries() const {
  HONE_TRY(Statement query,
           impl_->database.prepare(
               "SELECT t.key, t.family, t.text, t.shapes, t.constants, g.text,"
               " sum(json_extract(r.tags, '$.adopted') IS NOT 1), sum(r.status != 'ok'),"
               " min(CASE WHEN r.checked = 1 THEN r.min_ns END) AS best FROM records r JOIN tasks t ON t.id = r.task"
               " JOIN targets g ON g.id = r.target GROUP BY r.task, r.target ORDER BY t.id, g.id"));
  std::vector<TaskSummary> summaries;
  for (;;) {
    HONE_TRY(const bool has_row, query.step());
    if (!has_row) return summaries;
    TaskSummary& summary = summaries.emplace_back();
    summary.task = {query.text(0), query.text(1), query.text(2), {}, {}};
    if (!read_json(query.text(3), summary.task.shapes) || !read_json(query.text(4), summary.task.constants))
      return error(ErrorCode::ParseError, "records: the shapes of task '{}' cannot be read", summary.task.key);
    summary.target = query.text(5);
    summary.trials = query.integer(6);
    summary.failures = query.integer(7);
    summary.best_ns = query.is_null(8) ? std::numeric_limits<double>::infinity() : query.number(8);
  }
}

Result<void> Records::export_lines(std::ostream& out, const RecordFilter& filter) const {
  std::vector<std::string> known;  // tasks that were written
  HONE_TRY(for_each(filter, [&](const Record& record) {
    if (std::find(known.begin(), known.end(), record.task.key) == known.end()) {
      known.push_back(record.task.key);
      out << to_json_line(record.task) << '\n';
    }
    out << to_json_line(record) << '\n';
  }));
  if (!out.flush()) return error(ErrorCode::Unsupported, "records: not everything could be written");
  return {};
}

Result<std::int64_t> Records::import_lines(std::istream& in) {
  std::int64_t number = 0, added = 0;
  const auto import_line = [&](const std::string& text) -> Result<void> {
    HONE_TRY(JsonLine line, parse_json_line(text));
    if (line.is_task) return impl_->add_task(line.task);
    const std::string key = line.record.task.key;
    HONE_TRY(Statement task, impl_->database.prepare("SELECT 1 FROM tasks WHERE key = ?"));
    task.bind_all(key);
    HONE_TRY(const bool is_known, task.step());
    if (!is_known) return error(ErrorCode::ParseError, "no line before it is about the task '{}'", key);
    HONE_TRY(const bool is_new, impl_->add_record(std::move(line.record)));
    added += is_new ? 1 : 0;
    return {};
  };
  HONE_TRY(impl_->database.transaction([&]() -> Result<void> {
    for (std::string text; std::getline(in, text);) {
      ++number;
      if (text.find_first_not_of(" \t\r") == std::string::npos || text[0] == '#') continue;
      if (const Result<void> done = import_line(text); !done)
        return error(done.error().code, "records: line {}: {}", number, done.error().message);
    }
    return {};
  }));
  return added;
}

Result<std::int64_t> Records::merge(const Records& other) {
  std::int64_t added = 0;
  HONE_TRY(impl_->database.transaction([&]() -> Result<void> {
    Result<void> done;
    HONE_TRY(other.for_each({}, [&](const Record& record) {
      if (!done) return;
      done = [&]() -> Result<void> {
        HONE_TRY(impl_->add_task(record.task));
        HONE_TRY(const bool is_new, impl_->add_record(record));
        added += is_new ? 1 : 0;
        return {};
      }();
    }));
    return done;
  }));
  return added;
}

Result<std::int64_t> Records::prune(std::int64_t keep, bool keep_failures) {
  std::int64_t deleted = 0;
  HONE_TRY(impl_->database.transaction([&]() -> Result<void> {
    HONE_TRY(Statement remove,
             impl_->database.prepare(
                 "DELETE FROM records WHERE (status = 'ok' OR ? = 0) AND"
                 " json_extract(tags, '$.adopted') IS NOT 1 AND id NOT IN (SELECT id FROM (SELECT id,"
                 " row_number() OVER (PARTITION BY task, target, cache, checked ORDER BY min_ns, id) AS place"
                 " FROM records WHERE status = 'ok') WHERE place <= ?)"));
    HONE_TRY(remove.bind_all(std::int64_t{keep_failures}, keep).run());
    deleted = impl_->database.changes();
    return impl_->database.execute("DELETE FROM tasks WHERE id NOT IN (SELECT task FROM records)");
  }));
  (void)impl_->database.execute("VACUUM");  // gives the space back; it does not matter if others are at work
  return deleted;
}

}  // namespace hone::measure
