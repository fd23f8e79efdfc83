/// Logs of Ansor (TVM's auto_scheduler, TenSet) taken into records, and records written as such logs.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "hone/measure/records/records.h"

namespace hone {

/// What became of the lines of a log, or of the records that were to be written as one.
struct AnsorTally {
  std::int64_t taken = 0;                         ///< lines that became records, or records that became lines
  std::int64_t known = 0;                         ///< lines whose records were there already
  std::map<std::string, std::int64_t> workloads;  ///< lines of workloads that no task computes
  std::map<std::string, std::int64_t> refused;    ///< by the reason
};

/// Takes in a log. A line belongs to the task, among those that there are records of, whose parameters have the sizes
/// that the workload names, or to the one that `tasks` gives for the name of the workload (the first digits of its
/// key). Its steps become a trace of that task; its times are kept under the target "ansor: …", since they are not
/// ours. Lines that fit no task, or have steps that do not fit the task or our primitives, are counted, and so is what
/// is no record. An error if records cannot be read or written, or `tasks` names none.
Result<AnsorTally> import_ansor(measure::Records& records, std::istream& in,
                                const std::map<std::string, std::string>& tasks);

/// Writes records as a log: those that were taken in as they were, others if Ansor has steps for what they do. Their
/// workload is "hone:" with the key of the task.
Result<AnsorTally> export_ansor(const measure::Records& records, std::ostream& out);

}  // namespace hone
