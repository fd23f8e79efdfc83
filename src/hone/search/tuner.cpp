#include "hone/search/tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>

#include "hone/ir/equal.h"
#include "hone/measure/statistics.h"
#include "hone/schedule/prepack.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"

namespace hone::search {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Tasks whose candidates are measured in one round: so many that workers do not wait for the last of a batch.
constexpr std::size_t kTasksPerRound = 4;
/// Candidates that are timed in turns with the leader.
constexpr std::size_t kChallengers = 3;
/// A challenger must gain this much: less is noise, or not worth another kernel.
constexpr double kSmallestGain = 0.01;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Outcome outcome_of(const std::vector<double>& samples_ns) {
  Outcome outcome{measure::median(samples_ns) * 1e-9, {}};
  for (const double sample : samples_ns) outcome.samples.push_back(sample * 1e-9);
  return outcome;
}

/// One task under tuning.
struct TaskState {
  std::unique_ptr<space::Space> space;
  std::unique_ptr<Search> search;
  measure::TaskKey key;
  std::shared_ptr<measure::TaskData> data;
  Candidate leader;                 ///< adopted, or the default
  bool is_leader_recorded = false;  ///< whether records have it as adopted
  std::vector<Trial> ok;            ///< all that ran, also in earlier runs
  TaskProgress* progress = nullptr;
};

class Tuner {
 public:
  explicit Tuner(const TunerOptions& options) : options_(options) {}

  Result<TuneReport> run(const std::vector<TuneTask>& tasks) {
    report_.progress.tasks.resize(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      HONE_TRY(TaskState state, prepare(tasks[i], report_.progress.tasks[i]));
      states_.push_back(std::move(state));
    }
    measure::MeasurerOptions measuring = options_.measurer;
    measuring.stop = options_.stop;
    HONE_TRY(measure::Measurer measurer, measure::Measurer::start(measuring));
    measurer_ = &measurer;
    while (!is_over()) {
      const std::vector<std::size_t> round = next_tasks();
      if (round.empty()) break;
      HONE_TRY(measure_round(round));
      for (const std::size_t task : round)
        if (!is_stopped()) crown(states_[task]);
      tell_progress();
    }
    report_.is_stopped = is_stopped();
    return std::move(report_);
  }

 private:
  Result<TaskState> prepare(const TuneTask& task, TaskProgress& progress) {
    TaskState state;
    HONE_TRY(state.space, space::make_space(options_.space, *task.task, options_.measurer.target));
    state.key = measure::task_key(task.task->naive(), task.task->constants);
    state.data = std::make_shared<measure::TaskData>();
    codegen::Target one_thread = options_.measurer.target;
    one_thread.threads = 1;
    HONE_TRY(
        const auto mapping,
        space::make_space("mapping", {.algorithms = {task.task->algorithms.front()}, .constants = {}}, one_thread));
    HONE_TRY(const schedule::Schedule reference, mapping->build(mapping->first()));
    state.data->reference = schedule::split_packing(reference.program());
    state.leader = state.space->first();
    progress = {.name = task.name,
                .key = state.key.key,
                .weight = task.weight,
                .flops = task.task->flops,
                .space_size = space::size_of(*state.space),
                .first_ns = kInfinity,
                .best_ns = kInfinity};
    state.progress = &progress;
    SearchSetup setup{.seed = options_.seed,
                      .options = options_.search_options,
                      .canonical = canonical_of(*state.space),
                      .known = known_trials(state),
                      .starts = {state.space->first()}};
    HONE_TRY(state.search, make_search(options_.search, *state.space, std::move(setup)));
    return state;
  }

  /// Programs are equal if their structure is; what cannot be built is all alike.
  static Canonical canonical_of(const space::Space& space) {
    return [&space](const Candidate& candidate) -> std::uint64_t {
      const Result<schedule::Schedule> built = space.build(candidate);
      return built ? ir::structural_hash(built->program()).low : 0;
    };
  }

  /// What earlier runs measured, and the leader that they left.
  std::vector<Trial> known_trials(TaskState& state) {
    if (!options_.records) return {};
    const std::string target = codegen::to_string(options_.measurer.target);
    const auto found = options_.records->find({.task = state.key.key, .target = target});
    if (!found) {
      note(found.error());
      return {};
    }
    std::vector<Trial> known;
    for (const measure::Record& record : *found) {
      const Result<Candidate> candidate = space::parse_candidate(*state.space, record.candidate);
      if (!candidate || record.tags == measure::kAdopted) continue;  // an adopted one was a trial before
      const bool is_ok = record.status == measure::TrialStatus::Ok;
      known.push_back({*candidate, is_ok ? outcome_of(record.samples_ns) : Outcome{}});
      ++state.progress->trials;
      if (is_ok)
        state.ok.push_back(known.back());
      else
        ++state.progress->failures;
      if (*candidate == state.space->first() && is_ok)
        state.progress->first_ns = std::min(state.progress->first_ns, record.median_ns());
    }
    if (const auto adopted = options_.records->adopted(state.key.key, target); adopted && *adopted)
      if (const Result<Candidate> candidate = space::parse_candidate(*state.space, (*adopted)->candidate)) {
        state.leader = *candidate;
        state.is_leader_recorded = true;
        state.progress->best_ns = (*adopted)->median_ns();
        state.progress->best = (*adopted)->candidate;
      }
    return known;
  }

  bool is_stopped() const { return options_.stop && *options_.stop; }
  bool is_out_of_time() const { return options_.seconds > 0 && seconds_since(start_) >= options_.seconds; }
  bool is_over() const {
    return is_stopped() || is_out_of_time() || (options_.trials > 0 && report_.progress.trials >= options_.trials);
  }

  /// The tasks that matter most now: first those never measured, then by the time they take in the model and what the
  /// last trials gained.
  std::vector<std::size_t> next_tasks() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (!states_[i].progress->is_done) open.push_back(i);
    std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) { return urgency(a) > urgency(b); });
    if (open.size() > kTasksPerRound) open.resize(kTasksPerRound);
    return open;
  }

  double urgency(std::size_t task) const {
    const TaskProgress& progress = *states_[task].progress;
    if (progress.trials == 0) return kInfinity;
    const double share = progress.weight * std::min(progress.best_ns, progress.first_ns);
    return share / std::sqrt(static_cast<double>(progress.trials));
  }

  /// A candidate to measure.
  struct Wanted {
    std::size_t task;
    Candidate candidate;
    std::string trace = "[]";
  };

  Result<void> measure_round(const std::vector<std::size_t>& tasks) {
    std::deque<Wanted> wanted;
    for (const std::size_t task : tasks) {
      TaskState& state = states_[task];
      const std::int64_t limit = options_.trials_per_task;
      const std::size_t count =
          limit == 0 ? options_.batch
                     : std::min<std::size_t>(options_.batch, static_cast<std::size_t>(std::max<std::int64_t>(
                                                                 0, limit - state.progress->trials)));
      const std::vector<Candidate> batch = state.search->ask(count);
      if (batch.empty()) state.progress->is_done = true;
      for (const Candidate& candidate : batch) wanted.push_back({task, candidate});
    }
    std::vector<Wanted> under_way;
    const auto next = [&]() -> std::optional<measure::MeasureInput> {
      while (!wanted.empty() && !is_over()) {
        Wanted one = std::move(wanted.front());
        wanted.pop_front();
        TaskState& state = states_[one.task];
        const Result<schedule::Schedule> built = state.space->build(one.candidate);
        if (!built) {
          measure::MeasureResult failed;
          failed.status = measure::TrialStatus::CompileError;
          failed.message = built.error().message;
          finish(one, failed);
          continue;
        }
        one.trace = schedule::to_json(built->trace());
        under_way.push_back(std::move(one));
        return measure::MeasureInput{schedule::split_packing(built->program()), state.data};
      }
      return std::nullopt;
    };
    return measurer_->run(next, [&](std::size_t i, const measure::MeasureResult& result) {
      if (result.status != measure::TrialStatus::NotRun) finish(under_way[i], result);
    });
  }

  void finish(const Wanted& wanted, const measure::MeasureResult& result) {
    TaskState& state = states_[wanted.task];
    TaskProgress& progress = *state.progress;
    store(state, wanted.candidate, wanted.trace, result, "{}");
    const Outcome outcome = result.is_ok() ? outcome_of(result.samples_ns) : Outcome{};
    state.search->tell(wanted.candidate, outcome);
    ++progress.trials;
    ++report_.progress.trials;
    if (!result.is_ok())
      ++progress.failures;
    else
      state.ok.push_back({wanted.candidate, outcome});
    if (result.is_ok() && wanted.candidate == state.space->first())
      progress.first_ns = std::min(progress.first_ns, result.median_ns());
    report_.progress.current = wanted.task;
    tell_progress();
  }

  void store(const TaskState& state, const Candidate& candidate, std::string trace,
             const measure::MeasureResult& result, std::string_view tags) {
    if (!options_.records) return;
    measure::Record record = measure::make_record(state.key, codegen::to_string(options_.measurer.target),
                                                  space::to_json(*state.space, candidate), std::move(trace), result);
    record.tags = tags;
    if (const Result<void> stored = options_.records->insert(std::move(record)); !stored) note(stored.error());
  }

  void note(const Error& problem) {
    if (report_.records_error.empty()) report_.records_error = problem.message;
  }

  /// Times the fastest candidates in turns with the leader and the default, and adopts the winner.
  void crown(TaskState& state) {
    std::stable_sort(state.ok.begin(), state.ok.end(),
                     [](const Trial& a, const Trial& b) { return a.outcome.seconds < b.outcome.seconds; });
    std::vector<Candidate> rivals = {state.leader};
    if (state.leader != state.space->first()) rivals.push_back(state.space->first());
    const std::size_t known = rivals.size();
    for (const Trial& trial : state.ok) {
      if (rivals.size() == known + kChallengers) break;
      if (std::find(rivals.begin(), rivals.end(), trial.candidate) == rivals.end())
        rivals.push_back(trial.candidate);
      else if (trial.candidate == state.leader && state.is_leader_recorded)
        break;  // nothing is faster than the leader
    }
    if (rivals.size() == known && state.is_leader_recorded) return;
    std::vector<measure::MeasureInput> inputs;
    std::vector<std::string> traces;
    for (const Candidate& rival : rivals) {
      const Result<schedule::Schedule> built = state.space->build(rival);
      if (!built) return;
      inputs.push_back({schedule::split_packing(built->program()), state.data});
      traces.push_back(schedule::to_json(built->trace()));
    }
    measure::Timing timing = measurer_->options().timing;
    timing.repeats = std::max(timing.repeats, 7);
    const std::vector<measure::MeasureResult> results = measurer_->compare(inputs, timing);
    std::size_t best = 0;
    for (std::size_t i = 1; i < results.size(); ++i) {
      const bool is_faster = results[i].median_ns() < results[best].median_ns() * (best == 0 ? 1 - kSmallestGain : 1);
      const bool is_sure =
          !results[0].is_ok() || measure::welch_p_value(results[i].samples_ns, results[0].samples_ns) < 0.05;
      if (results[i].is_ok() && results[i].is_checked && is_faster && is_sure) best = i;
    }
    if (!results[best].is_ok() || !results[best].is_checked) return;
    for (std::size_t i = 0; i < rivals.size(); ++i)
      if (rivals[i] == state.space->first() && results[i].is_ok()) state.progress->first_ns = results[i].median_ns();
    const bool is_new = best != 0 || !state.is_leader_recorded;
    state.leader = rivals[best];
    state.progress->best_ns = results[best].median_ns();
    state.progress->best = space::to_json(*state.space, state.leader);
    if (is_new) store(state, state.leader, traces[best], results[best], measure::kAdopted);
    state.is_leader_recorded = true;
  }

  void tell_progress() {
    TuneProgress& progress = report_.progress;
    progress.elapsed_s = seconds_since(start_);
    progress.left_s = left_seconds();
    if (options_.progress) options_.progress(progress);
  }

  double left_seconds() const {
    const TuneProgress& progress = report_.progress;
    double left = options_.seconds > 0 ? std::max(0.0, options_.seconds - progress.elapsed_s) : kInfinity;
    if (progress.trials > 0) {
      double trials = options_.trials > 0 ? static_cast<double>(options_.trials - progress.trials) : kInfinity;
      double untried = 0;
      for (const TaskProgress& task : progress.tasks)
        if (!task.is_done)
          untried += std::max(0.0, static_cast<double>(task.space_size) - static_cast<double>(task.trials));
      trials = std::min(trials, untried);
      left = std::min(left, trials * progress.elapsed_s / static_cast<double>(progress.trials));
    }
    return left;
  }

  const TunerOptions& options_;
  const Clock::time_point start_ = Clock::now();
  measure::Measurer* measurer_ = nullptr;
  std::vector<TaskState> states_;
  TuneReport report_;
};

double total(const TuneProgress& progress, double TaskProgress::* time) {
  double sum = 0;
  for (const TaskProgress& task : progress.tasks)
    if (std::isfinite(task.first_ns) && std::isfinite(task.best_ns)) sum += task.weight * (task.*time);
  return sum;
}

}  // namespace

double TuneProgress::first_ns() const { return total(*this, &TaskProgress::first_ns); }
double TuneProgress::best_ns() const { return total(*this, &TaskProgress::best_ns); }

Result<TuneReport> tune(const std::vector<TuneTask>& tasks, const TunerOptions& options) {
  return Tuner(options).run(tasks);
}

}  // namespace hone::search
