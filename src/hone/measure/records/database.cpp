#include "hone/measure/records/database.h"

#include <filesystem>

namespace hone::measure {
namespace {

/// How long a writer waits for another one.
constexpr int kBusyMs = 20'000;

/// What went wrong last with this connection, in words that tell what to do about it.
Error failure(sqlite3* handle, const std::string& file) {
  const int code = sqlite3_errcode(handle) & 0xff;
  const char* text = sqlite3_errmsg(handle);
  switch (code) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return error(ErrorCode::ParseError, "records: '{}' is damaged or no record file: {}; move it away to start anew",
                   file, text);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return error(ErrorCode::Unsupported, "records: '{}' cannot be written: {}", file, text);
    case SQLITE_CANTOPEN:
      return error(ErrorCode::Unsupported, "records: '{}' cannot be opened: {}", file, text);
    case SQLITE_FULL:
      return error(ErrorCode::Unsupported, "records: no space is left for '{}': {}", file, text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(ErrorCode::Unsupported, "records: another process keeps '{}' locked for more than {} s", file,
                   kBusyMs / 1000);
    case SQLITE_IOERR:
      return error(ErrorCode::Unsupported,
                   "records: '{}' cannot be {}: {}; the disk may be full, or files may not grow as large", file,
                   sqlite3_extended_errcode(handle) == SQLITE_IOERR_READ ? "read" : "written", text);
    default:
      return error(ErrorCode::Unsupported, "records: '{}': {}", file, text);
  }
}

std::string immutable_uri(const std::string& file) {
  std::string uri = "file:";
  for (const char c : file) uri += c == '?' ? "%3f" : c == '#' ? "%23" : c == '%' ? "%25" : std::string(1, c);
  return uri + "?immutable=1";
}

}  // namespace

Statement& Statement::bind(int place, std::string_view text) {
  sqlite3_bind_text64(statement_, place, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(int place, std::int64_t number) {
  sqlite3_bind_int64(statement_, place, number);
  return *this;
}

Statement& Statement::bind(int place, double number) {
  sqlite3_bind_double(statement_, place, number);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_), file_);
}

Result<void> Statement::run() {
  for (;;) {
    HONE_TRY(const bool has_row, step());
    if (!has_row) return {};
  }
}

std::string Statement::text(int column) const {
  const unsigned char* data = sqlite3_column_text(statement_, column);
  return data ? std::string(reinterpret_cast<const char*>(data),
                            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
              : "";
}

Result<Database> Database::open(const std::string& file, Access access) {
  const std::filesystem::path path(file);
  std::error_code code;
  if (access == Access::ReadWrite) {
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), code);
    if (code)
      return error(ErrorCode::Unsupported, "records: the folder of '{}' cannot be made: {}", file, code.message());
  } else if (!std::filesystem::exists(path, code)) {
    return error(ErrorCode::NotFound, "records: there is no file '{}'", file);
  }
  const int flags = access == Access::ReadWrite  ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                    : access == Access::Existing ? SQLITE_OPEN_READWRITE
                                                 : SQLITE_OPEN_READONLY;
  const std::string name = access == Access::Immutable ? immutable_uri(file) : file;
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(name.c_str(), &handle,
                                     flags | SQLITE_OPEN_FULLMUTEX | (name == file ? 0 : SQLITE_OPEN_URI), nullptr);
  Database database(handle, file);
  if (!handle) return error(ErrorCode::OutOfMemory, "records: no memory to open '{}'", file);
  if (opened != SQLITE_OK) return failure(handle, file);
  sqlite3_busy_timeout(handle, kBusyMs);
  return database;
}

Result<void> Database::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure(handle_, file_);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
    return failure(handle_, file_);
  return Statement(statement, file_);
}

Result<std::int64_t> Database::ask(const char* sql) {
  HONE_TRY(Statement statement, prepare(sql));
  HONE_TRY(const bool has_row, statement.step());
  return has_row ? statement.integer(0) : 0;
}

}  // namespace hone::measure
