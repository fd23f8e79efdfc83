#include "hone/search/tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "hone/ir/equal.h"
#include "hone/measure/records/record_queue.h"
#include "hone/measure/statistics.h"
#include "hone/schedule/prepack.h"
#include "hone/search/model_scorer.h"
#include "hone/search/reuse.h"
#include "hone/search/task_data.h"
#include "hone/search/task_scheduler.h"
#include "hone/search/transfer.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/support/log.h"

namespace hone::search {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Candidates that are timed in turns with the leader.
constexpr std::size_t kChallengers = 3;
/// A challenger must gain this much: less is noise, or not worth another kernel.
constexpr double kSmallestGain = 0.01;
/// What takes so many times as long as the fastest is timed once.
constexpr double kHopeless = 3;
constexpr double kSignificance = 0.05;
constexpr int kCrownRepeats = 15;
/// Where a search ranks all candidates again and again, it gets to know so many new ones each time.
constexpr std::size_t kBuiltPerRound = 64;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Outcome outcome_of(const std::vector<double>& samples_ns) {
  Outcome outcome{measure::minimum(samples_ns) * 1e-9, {}};
  for (const double sample : samples_ns) outcome.samples.push_back(sample * 1e-9);
  return outcome;
}

/// Whether two programs differ, by the faster half of the samples of each: the others were disturbed.
bool is_surely_other(std::vector<double> a, std::vector<double> b) {
  for (std::vector<double>* samples : {&a, &b}) {
    std::sort(samples->begin(), samples->end());
    samples->resize((samples->size() + 1) / 2);
  }
  return measure::welch_p_value(a, b) < kSignificance;
}

/// One task under tuning.
struct TaskState {
  std::unique_ptr<space::Space> space;
  std::unique_ptr<Builder> builder;
  std::unique_ptr<Search> search;
  measure::TaskKey key;
  std::shared_ptr<measure::TaskData> data;
  /// What was adopted in another space.
  struct Incumbent {
    std::string candidate;  ///< as JSON
    std::shared_ptr<const Built> built;
  };
  std::optional<Incumbent> incumbent;  ///< leads as long as there is one
  Candidate leader;                    ///< adopted, or the default
  bool is_leader_recorded = false;     ///< whether records have it as adopted
  bool is_decided_in_model = false;    ///< what is adopted won within a model: times of kernels alone do not change it
  double leader_seconds = kInfinity;   ///< when it was timed last
  std::vector<Trial> ok;               ///< all that ran, also in earlier runs
  std::vector<Trial> untold;           ///< what the cost model has not seen yet, failures included
  TaskProgress* progress = nullptr;

  ScoredTask scored() const { return {key.key, key.family}; }
};

class Tuner {
 public:
  explicit Tuner(const TunerOptions& options) : options_(options), queue_(options.records) {}

  Result<TuneReport> run(const std::vector<TuneTask>& tasks) {
    HONE_TRY(model_, options_.make_model(options_.cost_model, {.seed = options_.seed}));
    report_.progress.tasks.resize(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      HONE_TRY(TaskState state, prepare(tasks[i], report_.progress.tasks[i]));
      states_.push_back(std::move(state));
    }
    learn_from_others();
    teach(states_);
    HONE_TRY(TaskScheduler scheduler, make_scheduler());
    measure::MeasurerOptions measuring = options_.measurer;
    measuring.stop = options_.stop;
    HONE_TRY(measure::Measurer measurer, measure::Measurer::start(measuring));
    measurer_ = &measurer;
    while (!is_over()) {
      const std::optional<std::size_t> task = scheduler.next_task();
      if (!task) break;
      HONE_TRY(const std::size_t trials, measure_round(*task));
      TaskState& state = states_[*task];
      teach(std::span(&state, 1));
      if (!is_stopped() && has_challenger(state)) crown(state);
      scheduler.tell(*task, fastest(state), trials);
      tell_progress();
    }
    for (TaskState& state : states_)
      if (!is_stopped() && !state.is_leader_recorded && !state.ok.empty()) crown(state);
    report_.is_stopped = is_stopped();
    queue_.flush();
    if (!queue_.problem().empty()) report_.records_error = queue_.problem();
    tell_progress();
    return std::move(report_);
  }

 private:
  Result<TaskState> prepare(const TuneTask& task, TaskProgress& progress) {
    const codegen::Target& target = options_.measurer.target;
    TaskState state;
    HONE_TRY(state.space, space::make_space(options_.space, *task.task, target));
    state.builder = std::make_unique<Builder>(*state.space);
    state.key = measure::task_key(task.task->naive(), task.task->constants);
    state.data = make_task_data(*task.task, target);
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
                      .canonical = canonical_of(*state.builder),
                      .known = known_trials(state),
                      .starts = starts_of(state, *task.task)};
    const std::size_t most_new = options_.search == "exhaustive" ? kBuiltPerRound : 0;
    if (options_.cost_model != "none")
      setup.scorer = model_scorer(*state.space, *state.builder, *model_, state.scored(), most_new);
    HONE_TRY(state.search, make_search(options_.search, *state.space, setup));
    if (options_.explore > 0)
      state.search = explore_then_exploit(std::move(state.search), options_.explore, *state.space, std::move(setup));
    return state;
  }

  Result<TaskScheduler> make_scheduler() const {
    std::vector<ScheduledTask> tasks;
    for (const TaskState& state : states_)
      tasks.push_back({state.progress->weight, state.progress->flops, state.key.family});
    HONE_TRY(TaskScheduler scheduler,
             TaskScheduler::make(std::move(tasks), {.trials = static_cast<std::size_t>(options_.trials),
                                                    .round = options_.batch,
                                                    .early_stop = options_.early_stop,
                                                    .seed = options_.seed}));
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (states_[i].progress->trials > 0)
        scheduler.restore(i, fastest(states_[i]), static_cast<std::size_t>(states_[i].progress->trials));
    return scheduler;
  }

  /// Programs are equal if their structure is; what cannot be built is all alike.
  static Canonical canonical_of(Builder& builder) {
    return [&builder](const Candidate& candidate) -> std::uint64_t {
      const std::shared_ptr<const Built> built = builder.build(candidate);
      return built ? ir::structural_hash(built->program).low : 0;
    };
  }

  /// What earlier runs measured, and the leader that they left.
  std::vector<Trial> known_trials(TaskState& state) {
    if (!options_.records) return {};
    const std::string target = codegen::to_string(options_.measurer.target);
    const auto found = options_.records->find({.task = state.key.key, .target = target});
    if (!found) {
      report_.records_error = found.error().message;
      return {};
    }
    std::vector<Trial> known;
    for (const measure::Record& record : *found) {
      const Result<Candidate> candidate = space::parse_candidate(*state.space, record.candidate);
      if (!candidate || measure::find_adoption(record)) continue;  // an adopted one was a trial before
      const bool is_ok = record.status == measure::TrialStatus::Ok;
      known.push_back({*candidate, is_ok ? outcome_of(record.samples_ns) : Outcome{}});
      count(state, known.back());
    }
    return known;
  }

  /// What to try first. What was adopted for this task leads it; what was adopted for one like it is tried soon.
  std::vector<Candidate> starts_of(TaskState& state, const space::Task& task) {
    std::vector<Candidate> starts;
    if (options_.tries_rules_first) starts = state.space->starts();
    if (!options_.records) return starts;
    const std::optional<Reused> found = find_reusable(*options_.records, task, options_.measurer.target);
    if (!found) return starts;
    state.progress->reused = to_string(found->origin);
    const Result<Candidate> as_recorded = space::parse_candidate(*state.space, found->record.candidate);
    if (found->origin == Origin::Exact && as_recorded) {
      lead(state, *as_recorded, found->record.min_ns());
      if (const std::optional<measure::Adoption> adoption = measure::find_adoption(found->record))
        if (std::isfinite(adoption->first_ns)) state.progress->first_ns = adoption->first_ns;
      keep_if_decided_in_model(state, *found);
    } else if (found->origin == Origin::Exact && space::parse_candidate(*found->space, found->record.candidate)) {
      lead_from_elsewhere(state, *found);
      keep_if_decided_in_model(state, *found);
    } else if (const auto fitted =
                   space::parse_candidate(*state.space, space::to_json(*found->space, found->candidate))) {
      starts.insert(starts.begin() + (starts.empty() ? 0 : 1), *fitted);
    }
    return starts;
  }

  /// What was decided in a model is faster there; alone, it is only as fast as its own trials say.
  static void keep_if_decided_in_model(TaskState& state, const Reused& found) {
    const std::optional<measure::Adoption> adoption = measure::find_adoption(found.record);
    if (!adoption || !adoption->in_model) return;
    state.is_decided_in_model = true;
    for (const Trial& trial : state.ok)
      if (!state.incumbent && trial.candidate == state.leader)
        state.leader_seconds = std::min(state.leader_seconds, trial.outcome.seconds);
  }

  /// Lets a candidate of another space lead: what is found here has to be faster.
  static void lead_from_elsewhere(TaskState& state, const Reused& found) {
    const Result<schedule::Schedule> made = found.space->build(found.candidate);
    if (!made) return;
    state.incumbent = {found.record.candidate, std::make_shared<const Built>(Built{made->program(), made->trace()})};
    state.is_leader_recorded = true;
    state.leader_seconds = found.record.min_ns() * 1e-9;
    state.progress->best_ns = found.record.min_ns();
    state.progress->best = found.record.candidate;
  }

  void count(TaskState& state, const Trial& trial) {
    ++state.progress->trials;
    state.untold.push_back(trial);
    if (!trial.outcome.is_ok()) {
      ++state.progress->failures;
      return;
    }
    state.ok.push_back(trial);
    if (trial.candidate == state.space->first())
      state.progress->first_ns = std::min(state.progress->first_ns, trial.outcome.seconds * 1e9);
  }

  static void lead(TaskState& state, const Candidate& candidate, double ns) {
    state.incumbent.reset();
    state.leader = candidate;
    state.is_leader_recorded = true;
    state.leader_seconds = ns * 1e-9;
    state.progress->best_ns = ns;
    state.progress->best = space::to_json(*state.space, candidate);
  }

  bool is_stopped() const { return options_.stop && *options_.stop; }
  bool is_out_of_time() const { return options_.seconds > 0 && seconds_since(start_) >= options_.seconds; }
  bool is_over() const {
    return is_stopped() || is_out_of_time() || (options_.enough && *options_.enough) ||
           (options_.trials > 0 && report_.progress.trials + under_way_ >= options_.trials);
  }

  static double fastest(const TaskState& state) {
    double seconds = kInfinity;
    for (const Trial& trial : state.ok) seconds = std::min(seconds, trial.outcome.seconds);
    return seconds;
  }

  /// Measures what the search of a task asks for; gives the number of trials, 0 if there is nothing more to try.
  Result<std::size_t> measure_round(std::size_t task) {
    TaskState& state = states_[task];
    std::size_t wanted = options_.batch;
    if (options_.trials_per_task > 0)
      wanted = std::min(wanted, static_cast<std::size_t>(
                                    std::max<std::int64_t>(0, options_.trials_per_task - state.progress->trials)));
    const std::vector<Candidate> batch = state.search->ask(wanted);
    if (batch.empty()) {
      state.progress->is_done = true;
      return 0;
    }
    report_.progress.current = task;
    measure::Timing timing = options_.measurer.timing;
    if (const double best = fastest(state); std::isfinite(best)) timing.hopeless_ns = kHopeless * best * 1e9;
    measurer_->set_timing(timing);
    std::size_t next = 0;
    std::vector<std::size_t> under_way;
    const auto give = [&]() -> std::optional<measure::MeasureInput> {
      while (next < batch.size() && !is_over()) {
        const std::size_t place = next++;
        if (const std::shared_ptr<const Built> built = state.builder->build(batch[place])) {
          under_way.push_back(place);
          ++under_way_;
          return measure::MeasureInput{schedule::split_packing(built->program), state.data};
        }
        measure::MeasureResult failed;
        failed.status = measure::TrialStatus::CompileError;
        failed.message = state.builder->refusal(batch[place]);
        finish(state, batch[place], failed);
      }
      return std::nullopt;
    };
    HONE_TRY(measurer_->run(give, [&](std::size_t i, const measure::MeasureResult& result) {
      --under_way_;
      if (result.status != measure::TrialStatus::NotRun) finish(state, batch[under_way[i]], result);
    }));
    return batch.size();
  }

  void finish(TaskState& state, const Candidate& candidate, const measure::MeasureResult& result) {
    store(state, candidate, result, "{}");
    const Outcome outcome = result.is_ok() ? outcome_of(result.samples_ns) : Outcome{};
    state.search->tell(candidate, outcome);
    count(state, {candidate, outcome});
    ++report_.progress.trials;
    tell_progress();
  }

  /// Shows the cost model what was measured of other tasks in earlier runs.
  void learn_from_others() {
    if (!options_.transfer || !options_.records) return;
    std::vector<measure::TaskKey> tasks;
    for (const TaskState& state : states_) tasks.push_back(state.key);
    const std::string target = codegen::to_string(options_.measurer.target);
    const Result<std::size_t> learnt = learn_from_records(*model_, *options_.records, target, tasks);
    if (learnt)
      report_.transferred = static_cast<std::int64_t>(*learnt);
    else
      report_.records_error = learnt.error().message;
  }

  /// Shows the cost model what was measured of tasks since the last time.
  void teach(std::span<TaskState> states) {
    if (options_.cost_model == "none") return;
    std::vector<std::shared_ptr<const Built>> built;
    std::vector<cost::Subject> subjects;
    std::vector<double> seconds;
    for (TaskState& state : states)
      for (const Trial& trial : std::exchange(state.untold, {})) {
        std::shared_ptr<const Built> one = state.builder->build(trial.candidate);
        if (!one) continue;
        subjects.push_back(subject_of(*state.space, trial.candidate, *one, state.scored()));
        seconds.push_back(trial.outcome.seconds);
        built.push_back(std::move(one));
      }
    if (subjects.empty()) return;
    if (const Result<void> learnt = model_->update(subjects, seconds); !learnt)
      log::warning("search", "the cost model cannot learn: {}", learnt.error().message);
  }

  void store(const TaskState& state, const Candidate& candidate, const measure::MeasureResult& result,
             std::string_view tags) {
    if (!options_.records) return;
    const std::shared_ptr<const Built> built = state.builder->build(candidate);
    measure::Record record = measure::make_record(state.key, codegen::to_string(options_.measurer.target),
                                                  space::to_json(*state.space, candidate),
                                                  built ? schedule::to_json(built->trace) : "[]", result);
    record.tags = tags;
    queue_.insert(std::move(record));
  }

  /// Whether something seems faster than the leader by more than noise.
  static bool has_challenger(const TaskState& state) {
    return fastest(state) < state.leader_seconds * (1 - kSmallestGain);
  }

  /// Times the fastest candidates in turns with the leader and the default, and adopts the winner.
  void crown(TaskState& state) {
    std::vector<std::optional<Candidate>> rivals(1);  // none: the incumbent
    if (!state.incumbent) rivals[0] = state.leader;
    if (rivals[0] != state.space->first()) rivals.emplace_back(state.space->first());
    const std::size_t known = rivals.size();
    std::stable_sort(state.ok.begin(), state.ok.end(),
                     [](const Trial& a, const Trial& b) { return a.outcome.seconds < b.outcome.seconds; });
    for (const Trial& trial : state.ok) {
      if (rivals.size() == known + kChallengers) break;
      if (std::find(rivals.begin(), rivals.end(), trial.candidate) == rivals.end())
        rivals.emplace_back(trial.candidate);
    }
    std::vector<measure::MeasureInput> inputs;
    for (const std::optional<Candidate>& rival : rivals) {
      const std::shared_ptr<const Built> built = rival ? state.builder->build(*rival) : state.incumbent->built;
      if (!built) return;
      inputs.push_back({schedule::split_packing(built->program), state.data});
    }
    measure::Timing timing = options_.measurer.timing;
    timing.repeats = std::max(timing.repeats, kCrownRepeats);
    timing.enough_ms *= 4;
    const std::vector<measure::MeasureResult> results = measurer_->compare(inputs, timing);
    std::size_t best = 0;
    for (std::size_t i = 1; i < results.size(); ++i) {
      if (!results[i].is_ok() || !results[i].is_checked) continue;
      const bool is_faster = results[i].min_ns() < results[best].min_ns() * (best == 0 ? 1 - kSmallestGain : 1);
      const bool is_sure = !results[0].is_ok() || is_surely_other(results[i].samples_ns, results[0].samples_ns);
      if (is_faster && is_sure) best = i;
    }
    if (!results[best].is_ok() || !results[best].is_checked) return;
    double first_ns = kInfinity;
    for (std::size_t i = 0; i < rivals.size(); ++i)
      if (rivals[i] == state.space->first() && results[i].is_ok()) first_ns = results[i].min_ns();
    if (std::isfinite(first_ns)) state.progress->first_ns = first_ns;
    const std::string first_json = space::to_json(*state.space, state.space->first());
    if (!state.is_decided_in_model && (best != 0 || !state.is_leader_recorded))
      store(state, *rivals[best], results[best], measure::adopted_tags({first_ns, first_json}));
    state.leader_seconds = results[best].min_ns() * 1e-9;
    state.progress->best_ns = results[best].min_ns();
    if (rivals[best]) lead(state, *rivals[best], results[best].min_ns());
    // What was beaten in turns is as slow as that says: it does not challenge again.
    for (Trial& trial : state.ok)
      for (std::size_t i = 0; i < rivals.size(); ++i)
        if (trial.candidate == rivals[i] && results[i].is_ok()) trial.outcome = outcome_of(results[i].samples_ns);
  }

  void tell_progress() {
    TuneProgress& progress = report_.progress;
    progress.elapsed_s = seconds_since(start_);
    progress.left_s = left_seconds();
    if (options_.progress) options_.progress(progress);
  }

  double left_seconds() const {
    const TuneProgress& progress = report_.progress;
    const double left = options_.seconds > 0 ? std::max(0.0, options_.seconds - progress.elapsed_s) : kInfinity;
    if (progress.trials == 0) return left;
    double untried = 0;
    for (const TaskProgress& task : progress.tasks) {
      const auto size = static_cast<double>(task.space_size);
      const double limit =
          options_.trials_per_task > 0 ? std::min(size, static_cast<double>(options_.trials_per_task)) : size;
      if (!task.is_done) untried += std::max(0.0, limit - static_cast<double>(task.trials));
    }
    if (options_.trials > 0) untried = std::min(untried, static_cast<double>(options_.trials - progress.trials));
    return std::min(left, untried * progress.elapsed_s / static_cast<double>(progress.trials));
  }

  const TunerOptions& options_;
  const Clock::time_point start_ = Clock::now();
  measure::RecordQueue queue_;
  std::unique_ptr<cost::CostModel> model_;
  measure::Measurer* measurer_ = nullptr;
  std::vector<TaskState> states_;
  TuneReport report_;
  std::int64_t under_way_ = 0;  ///< trials that were begun and are not finished
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
