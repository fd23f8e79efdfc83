/// Collecting data sets: draws programs of many tasks, and measures each of them on several targets.
///
/// The programs of a task come from the spaces of all targets, a part of them at random, the others changed and crossed
/// from the fastest so far, so that a model sees what it will have to choose among. Each program is measured on every
/// target, the programs of a task in turns, and the fastest of a dozen short samples counts: what else runs on a
/// machine only ever slows a program down. What is measured is in the file at once; called again, collecting goes on
/// where it ended.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hone/cost/dataset.h"
#include "hone/measure/measurer.h"
#include "hone/space/space.h"

namespace hone::search {

/// A task to collect programs of.
struct CollectTask {
  std::shared_ptr<const space::Task> task;
  std::string name;
  std::map<std::string, double> networks;  ///< how often a run of each network calls it
};

/// Trials that failed for the same reason.
struct CollectFailures {
  std::int64_t count = 0;
  std::string first_message;  ///< for people
};

/// Where collecting stands.
struct CollectProgress {
  std::size_t wanted = 0;                               ///< programs of each task in the pass under way
  std::size_t tasks = 0, done = 0;                      ///< tasks in all, and those that want no more in this pass
  std::int64_t measured = 0, failures = 0;              ///< of this run
  double elapsed_s = 0, left_s = 0;                     ///< left: estimated from what was done in this run
  std::string task = {};                                ///< the one under way
  std::map<std::string, CollectFailures> reasons = {};  ///< why trials of this run failed, as labels say it
};

struct CollectOptions {
  std::vector<codegen::Target> targets;  ///< at least one
  std::size_t tasks = 0;                 ///< for training at most, drawn from the seed; 0: all
  std::size_t programs = 160;            ///< of each task, if there are so many
  std::size_t first_pass = 32;           ///< of each task before any gets more; each further pass doubles it
  double longest_ms = 20;  ///< tasks that take longer at best on the first target, and programs that do, go no further
  std::uint64_t seed = 1;
  double seconds = 0;  ///< of wall time; 0: no limit
  measure::MeasurerOptions measurer = {.timing = {.repeats = 12, .min_repeat_ms = 0.4, .enough_ms = 10},
                                       .compile_timeout_ms = 8'000,
                                       .run_timeout_ms = 4'000};
  const std::atomic<bool>* stop = nullptr;
  /// Told after each trial.
  std::function<void(const CollectProgress&)> progress = {};
};

/// Collects until each task has its programs, the time is over, or it is told to stop. All tasks get some programs
/// before any gets more, in an order drawn from the seed, so that what is there after a while is a sample of all.
Result<CollectProgress> collect(const std::vector<CollectTask>& tasks, cost::DatasetFile& file,
                                const CollectOptions& options);

}  // namespace hone::search
