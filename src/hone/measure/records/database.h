/// SQLite with Results: statements, transactions, and messages that name the file.
#pragma once

#include <cstdint>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <utility>

#include "hone/support/result.h"

namespace hone::measure {

/// A prepared statement. Values are bound by position from 1 on; columns are read by position from 0 on.
class Statement {
 public:
  Statement(sqlite3_stmt* statement, std::string file) : statement_(statement), file_(std::move(file)) {}
  Statement(Statement&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)), file_(std::move(other.file_)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(statement_, other.statement_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& bind(int place, std::string_view text);
  Statement& bind(int place, std::int64_t number);
  Statement& bind(int place, double number);
  /// Binds values to the places 1, 2, …
  template <typename... Values>
  Statement& bind_all(const Values&... values) {
    int place = 0;
    (bind(++place, values), ...);
    return *this;
  }

  /// Goes to the next row; false if there is none.
  Result<bool> step();
  /// Runs a statement that gives no rows.
  Result<void> run();
  /// Makes it ready to run once more, with other values.
  void reset() { sqlite3_reset(statement_); }

  std::string text(int column) const;
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  double number(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  sqlite3_stmt* statement_;
  std::string file_;
};

/// An open database file.
class Database {
 public:
  enum class Access {
    ReadWrite,
    Existing,  ///< to read and write, without making the file
    ReadOnly,
    Immutable,  ///< nobody changes the file as long as it is open: needs no lock
  };

  /// Opens the file; with ReadWrite it is made if it is missing, and its folders.
  static Result<Database> open(const std::string& file, Access access);

  Database(Database&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), file_(std::move(other.file_)) {}
  Database& operator=(Database&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~Database() { sqlite3_close_v2(handle_); }

  const std::string& file() const { return file_; }
  /// Runs statements without values or rows.
  Result<void> execute(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  /// The one number that a query gives.
  Result<std::int64_t> ask(const char* sql);
  /// Whether the last call failed because others were at work.
  bool is_busy() const { return (sqlite3_errcode(handle_) & 0xff) == SQLITE_BUSY; }
  std::int64_t changes() const { return sqlite3_changes64(handle_); }

  /// Runs `work` in a transaction that no other writer interrupts; an error undoes all of it.
  template <typename Work>
  Result<void> transaction(Work&& work) {
    HONE_TRY(execute("BEGIN IMMEDIATE"));
    Result<void> done = work();
    if (done) done = execute("COMMIT");
    if (!done && !sqlite3_get_autocommit(handle_)) (void)execute("ROLLBACK");
    return done;
  }

 private:
  Database(sqlite3* handle, std::string file) : handle_(handle), file_(std::move(file)) {}

  sqlite3* handle_;
  std::string file_;
};

}  // namespace hone::measure
