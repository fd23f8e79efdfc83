#include "hone/search/task_scheduler.h"

#include <algorithm>
#include <cmath>

namespace hone::search {
namespace {

/// A task without a result after as many trials as so many whole rounds have is given up.
constexpr std::size_t kFailedRounds = 3;

/// A task that had so many rounds more than the rest of its family, and is still slow, does not belong to it.
constexpr std::size_t kRoundsAhead = 5;

}  // namespace

Result<TaskScheduler> TaskScheduler::make(std::vector<ScheduledTask> tasks, const SchedulerOptions& options) {
  std::vector<State> states;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!(tasks[i].weight >= 0) || std::isinf(tasks[i].weight))
      return error(ErrorCode::InvalidArgument, "task scheduler: the weight of task {} is {}, but must not be negative",
                   i, tasks[i].weight);
    if (!(tasks[i].flops >= 0) || std::isinf(tasks[i].flops))
      return error(ErrorCode::InvalidArgument, "task scheduler: task {} has {} flops, but there are none below 0", i,
                   tasks[i].flops);
    states.push_back({.task = std::move(tasks[i])});
  }
  if (options.round == 0 || options.window == 0)
    return error(ErrorCode::InvalidArgument, "task scheduler: {} is 0, but must be at least 1",
                 options.round == 0 ? "round" : "window");
  if (!(options.alpha >= 0 && options.alpha <= 1))
    return error(ErrorCode::InvalidArgument, "task scheduler: alpha is {}, but must be in 0..1", options.alpha);
  if (!(options.beta > 0))
    return error(ErrorCode::InvalidArgument, "task scheduler: beta is {}, but must be positive", options.beta);
  if (!(options.target_seconds >= 0))
    return error(ErrorCode::InvalidArgument, "task scheduler: target_seconds is {}, but must not be negative",
                 options.target_seconds);
  return TaskScheduler(std::move(states), options);
}

TaskScheduler::TaskScheduler(std::vector<State> states, const SchedulerOptions& options)
    : states_(std::move(states)), options_(options), rng_(options.seed) {
  if (options_.trials != 0 && !states_.empty())
    options_.round = std::clamp<std::size_t>(options_.trials / states_.size(), 1, options_.round);
}

std::size_t TaskScheduler::round_trials() const {
  if (options_.trials == 0) return options_.round;
  return std::min(options_.round, options_.trials - std::min(used_, options_.trials));
}

std::optional<std::size_t> TaskScheduler::next_in_warm_up(std::optional<std::size_t> except) const {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    if (i == except || state.is_over || state.has_result()) continue;
    if (state.trials_since_gain >= kFailedRounds * options_.round) continue;
    if (!next || state.rounds < states_[*next].rounds) next = i;
  }
  return next;
}

bool TaskScheduler::is_open(const State& state) const {
  return !state.is_over && state.has_result() &&
         (options_.early_stop == 0 || state.trials_since_gain < options_.early_stop);
}

std::optional<std::size_t> TaskScheduler::next_task(std::optional<std::size_t> except) {
  if (round_trials() == 0) return std::nullopt;
  if (const std::optional<std::size_t> next = next_in_warm_up(except)) return next;
  if (latency() <= options_.target_seconds) return std::nullopt;

  std::vector<std::size_t> best;
  double steepest = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (i == except || !is_open(states_[i])) continue;
    const double slope = gradient(i);
    if (best.empty() || slope < steepest) best.clear();
    if (!best.empty() && slope > steepest) continue;
    steepest = slope;
    best.push_back(i);
  }
  if (best.empty()) return std::nullopt;
  if (best.size() == 1) return best.front();
  if (!drawn_ || drawn_ == except) drawn_ = rng_.choose(best);
  return drawn_;
}

void TaskScheduler::tell(std::size_t task, double best_seconds, std::size_t trials) {
  HONE_CHECK(task < states_.size(), "task {} of {}", task, states_.size());
  State& state = states_[task];
  drawn_.reset();
  used_ += trials;
  state.trials_since_gain += trials;
  if (best_seconds < state.best) {
    state.best = best_seconds;
    state.trials_since_gain = 0;
  }
  if (trials == 0) {
    state.is_over = true;
    return;
  }
  ++state.rounds;
  state.history.push_back(state.best);
  leave_family_if_alone_slow(task);
}

void TaskScheduler::restore(std::size_t task, double best_seconds, std::size_t trials) {
  HONE_CHECK(task < states_.size(), "task {} of {}", task, states_.size());
  State& state = states_[task];
  if (!(best_seconds < state.best)) return;  // failures of earlier runs do not count as warm-up
  state.best = best_seconds;
  state.rounds = std::max<std::size_t>(1, (trials + options_.round - 1) / options_.round);
  state.history = {best_seconds};
}

double TaskScheduler::gradient(std::size_t task) const {
  HONE_CHECK(task < states_.size(), "task {} of {}", task, states_.size());
  const State& state = states_[task];
  if (!state.has_result() || state.rounds == 0) return 0;
  const double best = state.best, window = static_cast<double>(options_.window);
  const std::size_t rounds = state.history.size();
  const double backward = rounds > options_.window ? (best - state.history[rounds - 1 - options_.window]) / window : 0;

  double next = best - best / static_cast<double>(state.rounds);
  double family_speed = 0;
  for (const State& other : states_)
    if (&other != &state && is_family(state, other)) family_speed = std::max(family_speed, other.speed());
  if (family_speed > 0 && state.task.flops > 0)
    next = std::min(next, options_.beta * state.task.flops / std::max(family_speed, state.speed()));
  return state.task.weight * (options_.alpha * backward + (1 - options_.alpha) * (next - best));
}

double TaskScheduler::latency() const {
  double sum = 0;
  for (const State& state : states_)
    if (state.has_result()) sum += state.task.weight * state.best;
  return sum;
}

bool TaskScheduler::is_family(const State& a, const State& b) const {
  return !a.task.family.empty() && a.task.family == b.task.family;
}

void TaskScheduler::leave_family_if_alone_slow(std::size_t task) {
  State& state = states_[task];
  double speed = 0;
  std::size_t rounds = 0;
  bool has_others = false;
  for (const State& other : states_) {
    if (&other == &state || !is_family(state, other)) continue;
    has_others = true;
    speed = std::max(speed, other.speed());
    rounds = std::max(rounds, other.rounds);
  }
  if (has_others && state.speed() < speed / options_.beta && state.rounds > rounds + kRoundsAhead)
    state.task.family.clear();
}

}  // namespace hone::search
