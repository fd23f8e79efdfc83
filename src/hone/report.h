/// A report on a model: what tuning tried for each of its tasks, what it found, and what the kernels look like.
///
///     HONE_TRY(const hone::Report report, hone::make_report(session, inputs, {.records_file = "records.db"}));
///     fmt::print("{}", hone::to_json(report));
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "hone/kernel_text.h"
#include "hone/session.h"
#include "hone/tuned.h"

namespace hone {

/// A trial of a task, in the order in which they were made.
struct ReportTrial {
  double seconds = 0;       ///< of tuning since the first trial of the model, pauses left out
  double ns = 0;            ///< the fastest sample; infinity for a failure
  bool is_adopted = false;  ///< it is no trial but the comparison that its candidate won
};

/// Why trials failed.
struct ReportFailure {
  std::string reason;   ///< "timeout", "wrong answer": see measure::TrialStatus
  std::string message;  ///< of the first of them
  std::int64_t count = 0;
};

/// A task of the model. Times that are not known are infinity.
struct ReportTask {
  std::string name, key;                          ///< the operators; measure::TaskKey::key
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the parameters
  std::int64_t uses = 0;                          ///< calls in one run of the model
  double flops = 0, bytes = 0;                    ///< of a call: of the direct algorithm; of all parameters, each once
  Origin origin = Origin::Default;
  std::vector<std::vector<std::int64_t>> near_shapes;  ///< for Compatible and Nearest: of the task that was tuned
  double default_ns = 0, chosen_ns = 0;  ///< what a call takes by the default, and by what is compiled now
  bool is_decided_in_model = false;      ///< by the finals of tuning: unless measured anew, so were these times
  std::int64_t trials = 0;
  std::vector<ReportFailure> failures;
  std::vector<ReportTrial> history;
  KernelText default_text, chosen_text;  ///< equal if nothing better than the default is known

  std::int64_t failed() const;
  /// Whether both times are known, so that the task counts in the sums.
  bool is_timed() const;
  double speedup() const { return default_ns / chosen_ns; }
  /// Of the kernel that is compiled now; 0 if that is not known.
  double gflops() const;
  /// FLOPs for each byte of its parameters.
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
};

/// How fast data are read that fit somewhere.
struct ReportBandwidth {
  std::string memory;      ///< "L1", "L2", "memory"
  std::int64_t bytes = 0;  ///< that each thread reads again and again
  double gbytes = 0;       ///< a second, all threads together
};

/// What the kernels of a model took all together, as tuning went on.
struct ReportPoint {
  std::int64_t trials = 0;
  double seconds = 0, ns = 0;
};

struct Report {
  std::string model, target, machine, version;
  int threads = 1;
  std::int64_t made_ms = 0;                ///< since 1970
  std::string records_file;                ///< empty: none
  bool is_measured = false;                ///< times are of now; else they are those of the records
  std::int64_t first_ms = 0, last_ms = 0;  ///< of the trials, since 1970; 0 if there are none
  double tuning_s = 0;                     ///< between the first and the last trial, pauses left out
  double peak_gflops = 0;                  ///< of fp32 multiply-adds; 0 if it was not measured
  std::vector<ReportBandwidth> bandwidths;
  std::vector<ReportTask> tasks;   ///< what takes longest by the default comes first
  std::vector<ReportPoint> curve;  ///< over the tasks whose times are known; empty if tuning adopted nothing
  /// Targets of other records of these tasks, and how many trials those are: why there may be none for this one.
  std::map<std::string, std::int64_t> other_targets;

  std::int64_t trials() const;
  std::map<std::string, std::int64_t> failures() const;  ///< by their reason
  std::size_t timed_tasks() const;
  /// The time of one run of all kernels, over the tasks that are timed.
  double default_ns() const;
  double chosen_ns() const;
};

struct ReportOptions {
  std::string model = {}, version = {};   ///< what the report calls the model and this hone
  std::string records_file = {};          ///< empty: there are none
  bool measures_peak = true;              ///< a moment's work on all threads
  bool measures_tasks = false;            ///< time the default and the present kernel of each task in turns, now
  std::size_t most_text_bytes = 2 << 20;  ///< of all programs and assembly together, about
};

/// Makes a report on what a run on these inputs calls. The session must keep its tasks. An error if the file of records
/// cannot be read.
Result<Report> make_report(const Session& session, std::span<const Value> inputs, const ReportOptions& options);

/// All of it as a JSON object; times that are not known are null.
std::string to_json(const Report& report);

}  // namespace hone
