/// The task scheduler: which task of a model gets the next trials.
///
/// This is Ansor's (arXiv 2006.06762, section 6): rounds go to the task whose next round promises to make the model
/// faster by most, judged by how it went so far and by what tasks of its family have reached.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hone/support/result.h"
#include "hone/support/rng.h"

namespace hone::search {

/// A task as far as the scheduler cares.
struct ScheduledTask {
  double weight = 1;        ///< how often it occurs in the model
  double flops = 0;         ///< 0: not known, or none
  std::string family = {};  ///< tasks that differ in nothing but sizes share it; empty: like no other
};

struct SchedulerOptions {
  std::size_t trials = 0;      ///< of all tasks; 0: no limit
  std::size_t round = 64;      ///< trials a task gets at a time; fewer if not every task would get a round
  double target_seconds = 0;   ///< the latency of the model at which to stop; 0: never
  std::size_t early_stop = 0;  ///< trials without a gain after which a task is left alone; 0: never
  double alpha = 0.2;          ///< how much the gain of the last rounds counts against what the next may bring
  double beta = 2;             ///< how far from the speed of its family a task may stay
  std::size_t window = 3;      ///< the last rounds, of which alpha speaks
  std::uint64_t seed = 1;
};

/// Gives rounds to tasks.
class TaskScheduler {
 public:
  /// An error names a weight or an option that is out of range.
  static Result<TaskScheduler> make(std::vector<ScheduledTask> tasks, const SchedulerOptions& options);

  /// The task to spend the next round on: at first each in turn until it has a result. Nothing: the budget is spent,
  /// the target is reached, or no task can gain. Asking changes nothing until something is told. With `except`, the
  /// task to go on with while the round of that one is under way.
  std::optional<std::size_t> next_task(std::optional<std::size_t> except = {});
  /// How many trials the next round has; 0 if the budget is spent.
  std::size_t round_trials() const;

  /// The best a task has reached after a round of so many trials; infinity: nothing runs yet. Without trials, its
  /// search is over and it gets no other round.
  void tell(std::size_t task, double best_seconds, std::size_t trials);
  /// What a task reached in earlier runs, which costs no budget. To be called before its first round.
  void restore(std::size_t task, double best_seconds, std::size_t trials);

  /// By how much a round on a task promises to change the latency of the model, in seconds; at most 0.
  double gradient(std::size_t task) const;
  /// The latency of the model: that of all tasks with a result, by weight.
  double latency() const;
  std::size_t trials_used() const { return used_; }

 private:
  struct State {
    ScheduledTask task;
    std::vector<double> history = {};  ///< the best after each round
    double best = std::numeric_limits<double>::infinity();
    std::size_t rounds = 0;  ///< those of earlier runs as well
    std::size_t trials_since_gain = 0;
    bool is_over = false;

    bool has_result() const { return best < std::numeric_limits<double>::infinity(); }
    double speed() const { return has_result() ? task.flops / best : 0; }
  };

  TaskScheduler(std::vector<State> states, const SchedulerOptions& options);

  std::optional<std::size_t> next_in_warm_up(std::optional<std::size_t> except) const;
  bool is_open(const State& state) const;
  bool is_family(const State& a, const State& b) const;
  void leave_family_if_alone_slow(std::size_t task);

  std::vector<State> states_;
  SchedulerOptions options_;
  Rng rng_;
  std::optional<std::size_t> drawn_;  // among equals, until something is told
  std::size_t used_ = 0;
};

}  // namespace hone::search
