/// Records: everything that was ever measured, in one file that outlives crashes and is shared by processes.
///
///     Result<measure::Records> records = measure::Records::open();        // the user's file; or open(path)
///     if (!records) warn(records.error().message);                        // tuning goes on without
///     const measure::TaskKey task = measure::task_key(naive, constants);
///     if (auto best = records->best(task.key, target); best && *best) use((*best)->trace);
///     records->insert(measure::make_record(task, target, candidate_json, trace_json, result));
///
/// Each insert is on its way to the disk before it returns: a process that is killed loses at most the trial under way.
/// Any number of processes read and write one file at once; in a process, one thread at a time uses an object. Every
/// function says in its error what is wrong with which file; none of them leaves the file worse than it was.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/measure/records/record.h"

namespace hone::measure {

/// Where records are kept unless somebody says otherwise: the file that HONE_RECORDS names, or hone/records.db in
/// XDG_DATA_HOME or ~/.local/share. Empty if there is no home either.
std::string default_records_file();
/// The file that an option names: "default" the one above, "none" and an empty name no file at all.
std::string records_file(const std::string& named);

/// Which records a query is about; what is empty does not matter.
struct RecordFilter {
  std::string task;    ///< TaskKey::key
  std::string family;  ///< TaskKey::family
  std::string target;
  std::optional<TrialStatus> status;
  std::optional<CacheState> cache;
  bool only_checked = false;
};

/// What is known about a task on a target.
struct TaskSummary {
  TaskKey task;
  std::string target;
  std::int64_t trials = 0, failures = 0;  ///< what was adopted was a trial before, and does not count again
  double best_ns = 0;                     ///< the fastest sample of checked records; infinity if there is none
};

/// Gives a record what it leaves open: uid, time and version.
void complete(Record& record);

class Records {
 public:
  enum class Mode {
    ReadWrite,  ///< the file and its folders are made if they are missing
    Existing,   ///< the same, but NotFound if there is no file
    ReadOnly,   ///< works on read-only media too; NotFound if there is no file
  };

  /// Opens a file, and brings one of an older schema up to date. Errors: NotFound, ParseError for a file that is
  /// damaged or something else, Unsupported for a newer schema, and for a file that cannot be opened or written.
  static Result<Records> open(const std::string& file = default_records_file(), Mode mode = Mode::ReadWrite);

  Records(Records&&) noexcept;
  Records& operator=(Records&&) noexcept;
  ~Records();

  const std::string& file() const;

  /// Stores a record, durably; what it leaves open (uid, time, version) is filled in. An error if candidate, trace or
  /// tags are not JSON.
  Result<void> insert(Record record);
  /// Stores many at once, all or none; those that are there already are kept once. Gives the number of new ones.
  Result<std::int64_t> insert_all(std::vector<Record> records);

  /// The fastest record of a task on a target, by its fastest sample, that is Ok and was checked; nothing if there is
  /// none.
  Result<std::optional<Record>> best(std::string_view task, std::string_view target,
                                     CacheState cache = CacheState::Warm) const;
  /// The fastest record of each other task of a family on a target: where to start from with a shape never seen.
  Result<std::vector<Record>> best_of_family(const TaskKey& task, std::string_view target,
                                             CacheState cache = CacheState::Warm) const;

  /// The record that tuning settled on for a task on a target: the latest whose tags say so (see adopted_tags). Nothing
  /// if there is none.
  Result<std::optional<Record>> adopted(std::string_view task, std::string_view target) const;
  /// The same for each other task of a family.
  Result<std::vector<Record>> adopted_of_family(const TaskKey& task, std::string_view target) const;

  /// All records that pass the filter, oldest first: to resume a search, or to train a model.
  Result<std::vector<Record>> find(const RecordFilter& filter) const;
  Result<void> for_each(const RecordFilter& filter, const std::function<void(const Record&)>& visit) const;
  Result<std::int64_t> count(const RecordFilter& filter = {}) const;
  /// One line for each task and target.
  Result<std::vector<TaskSummary>> summaries() const;

  /// Writes tasks and records as JSON lines.
  Result<void> export_lines(std::ostream& out, const RecordFilter& filter = {}) const;
  /// Takes in JSON lines: all of them, or none if one is wrong (the error has its number). Empty lines and lines that
  /// begin with # are skipped, records that are there already are kept once. Gives the number of new records.
  Result<std::int64_t> import_lines(std::istream& in);
  /// Takes in the records of another file.
  Result<std::int64_t> merge(const Records& other);

  /// Deletes all but the `keep` fastest Ok records of each task, target and cache state, those adopted, and with
  /// `keep_failures` the failures too. Gives the number of deleted records.
  Result<std::int64_t> prune(std::int64_t keep, bool keep_failures = false);

 private:
  class Impl;
  explicit Records(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::measure
