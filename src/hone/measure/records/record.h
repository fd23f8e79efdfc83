/// A record: what is stored of a trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/measure/records/task_key.h"
#include "hone/measure/trial.h"

namespace hone::measure {

/// One trial of one candidate of a task on a target. Failures are stored too: they are training data, and keep a search
/// from trying them again.
struct Record {
  TaskKey task;
  std::string target;        ///< codegen::to_string of it: records of other targets are not comparable
  std::string candidate;     ///< JSON: the space, the sketch and the decisions, as `space/` writes them
  std::string trace = "[]";  ///< JSON: the steps that make the program (schedule::to_json)

  TrialStatus status = TrialStatus::NotRun;
  std::vector<double> samples_ns;
  CacheState cache = CacheState::Warm;
  bool is_checked = false;  ///< whether the result was compared with the reference
  double compile_ms = 0;
  std::string message;

  std::string tags = "{}";   ///< JSON object of whatever helps to find the record again: search, seed, model
  std::string version;       ///< of hone; filled in when the record is stored
  std::int64_t time_ms = 0;  ///< since 1970; filled in when the record is stored
  std::string uid;           ///< the same wherever the record is copied to; filled in when the record is stored

  double min_ns() const;
  double median_ns() const;

  bool operator==(const Record&) const = default;
};

/// The record of a trial.
Record make_record(TaskKey task, std::string target, std::string candidate, std::string trace,
                   const MeasureResult& result);

/// What the tags of a record say about the comparison, in turns, that its candidate won.
struct Adoption {
  double first_ns = 0;     ///< what the first candidate of its space took there; infinity if that is not known
  std::string first = {};  ///< that candidate as JSON; empty if that is not known
  bool in_model = false;   ///< they were timed as parts of a running model, not alone: see finals.h
};

/// The tags of a record that tuning settles on; see Records::adopted.
std::string adopted_tags(const Adoption& adoption);
/// Nothing if the record is one of a trial.
std::optional<Adoption> find_adoption(const Record& record);

/// Of JSON lines, and of the tables of the database.
inline constexpr int kSchemaVersion = 1;

/// A task or a record as one line of JSON (a record names its task by key, and the line of the task comes first).
std::string to_json_line(const TaskKey& task);
std::string to_json_line(const Record& record);

/// What a line of JSON holds: a task, or a record whose task has its key alone.
struct JsonLine {
  bool is_task = false;
  TaskKey task;
  Record record;
};

/// Reads a line. An error names the field, what was found and what is allowed; a line of a newer schema is Unsupported.
Result<JsonLine> parse_json_line(std::string_view line);

}  // namespace hone::measure
