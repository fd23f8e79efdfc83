/// The finals of tuning: the best few candidates of each task, timed within the running model.
///
/// A kernel that is timed alone finds its weights and inputs in the caches; within a model they come from farther away,
/// and neighbours have been there. So the model is compiled several times, each variant with another candidate for each
/// task, and the variants are run in turns. Each task gets what is fastest there, the default unless something is
/// surely faster; at last the model that is assembled so has to be faster as a whole than the one that was never tuned.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hone/finals_rules.h"
#include "hone/session.h"
#include "hone/tasks.h"

namespace hone {

/// A task and those of its candidates that take part.
struct FinalsTask {
  TaskUse use;
  std::string key;                      ///< measure::TaskKey::key
  std::vector<std::string> candidates;  ///< as JSON: the default, then the others, the most promising first
  std::size_t leader = 0;               ///< which of them is fastest when timed alone
};

/// How far the finals are.
struct FinalsProgress {
  std::string stage;  ///< "compiling", "timing" or "checking"
  std::size_t variants = 0;
  std::size_t rounds = 0;  ///< of this stage, so far
  double elapsed_s = 0;
  double left_s = 0;  ///< estimated; infinite until the first variant is compiled
};

struct FinalsOptions {
  double seconds = 0;  ///< to take at most, but for the fewest rounds that can be compared; 0: as much as it needs
  std::size_t most_variants = 4;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const FinalsProgress&)> progress = {};
};

/// What was decided about a task. Times are of one call within the model.
struct FinalsDecision {
  std::string key, candidate;  ///< as JSON
  bool is_default = false;     ///< it is what would be compiled without tuning
  bool is_changed = false;     ///< it is not what is fastest alone
  double default_ns = 0;
  Samples samples_ns;  ///< of what was chosen, one for each round
};

struct FinalsReport {
  std::vector<FinalsDecision> tasks;  ///< empty if the finals were stopped: nothing is decided
  Verdict verdict = Verdict::Default;
  std::size_t variants = 0, rounds = 0;
  double default_ns = 0, alone_ns = 0, chosen_ns = 0;  ///< of the whole model
  double seconds = 0;
  bool is_stopped = false;
};

/// Runs the finals of a model. The session must keep its tasks. Nothing is stored. An error if the model cannot be
/// compiled or run.
Result<FinalsReport> run_finals(const Session& session, std::span<const Value> inputs,
                                const std::vector<FinalsTask>& tasks, const FinalsOptions& options);

}  // namespace hone
