#include "hone/search/tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <thread>

#include "hone/ir/equal.h"
#include "hone/measure/records/record_queue.h"
#include "hone/schedule/prepack.h"
#include "hone/search/crown.h"
#include "hone/search/earlier_runs.h"
#include "hone/search/model_scorer.h"
#include "hone/search/task_data.h"
#include "hone/search/task_scheduler.h"
#include "hone/search/task_state.h"
#include "hone/search/transfer.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/support/log.h"

namespace hone::search {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What takes so many times as long as the fastest is hopeless: few samples will do.
constexpr double kHopeless = 1.5;
/// The first round of a task is short, so that all tasks of a model have had one soon: what rules and trained networks
/// choose first is most of what can be gained.
constexpr std::size_t kFirstRound = 4;
/// Where a search ranks all candidates again and again, it gets to know so many new ones each time.
constexpr std::size_t kBuiltPerRound = 64;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// How many threads choose candidates: all if nothing else is to be done.
int thinking_threads(bool is_beside_trials) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return is_beside_trials ? std::max(1, cores / 4) : cores;
}

/// Candidates of a task that its search asked for at once.
struct Round {
  std::size_t task = 0;
  std::vector<Candidate> batch = {};
  measure::Timing timing = {};
  std::size_t given = 0, finished = 0;  ///< of the batch

  bool is_given() const { return given == batch.size(); }
  bool is_finished() const { return finished == batch.size(); }
};

/// While the trials of one round are measured, the next round is chosen, for another task. What is chosen depends on no
/// clock: the search of a round, the scheduler and the cost model know all rounds but the one under way, and nothing of
/// that one. If there is no other task to go on with, the round under way is finished first.
class Tuner {
 public:
  explicit Tuner(const TunerOptions& options) : options_(options), queue_(options.records) {}

  Result<TuneReport> run(const std::vector<TuneTask>& tasks) {
    HONE_TRY(model_, options_.make_model(options_.cost_model,
                                         {.seed = options_.seed, .threads = thinking_threads(tasks.size() > 1)}));
    if (!options_.learnt_file.empty()) HONE_TRY(model_->load(options_.learnt_file));
    report_.progress.tasks.resize(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      HONE_TRY(TaskState state, prepare(tasks[i], report_.progress.tasks[i]));
      states_.push_back(std::move(state));
    }
    learn_from_earlier_runs();
    HONE_TRY(scheduler_, make_scheduler());
    measure::MeasurerOptions measuring = options_.measurer;
    measuring.stop = options_.stop;
    HONE_TRY(measure::Measurer measurer, measure::Measurer::start(measuring));
    measurer_ = &measurer;
    HONE_TRY(save_model());  // what cannot be saved is an error now, not after hours
    look_at_target();
    HONE_TRY(measure_all());
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (has_challenger(states_[i]) || (!states_[i].is_leader_recorded && !states_[i].ok.empty())) ask_for_crown(i);
    if (!crowns_.empty()) HONE_TRY(measure_all());
    report_.is_stopped = is_stopped();
    queue_.flush();
    if (!queue_.problem().empty()) report_.records_error = queue_.problem();
    if (const Result<void> saved = save_model(); !saved) report_.model_error = saved.error().message;
    tell_progress();
    return std::move(report_);
  }

 private:
  /// What the measurer was given: a trial of a round, or else a contest.
  struct Given {
    std::shared_ptr<Round> round = {};
    std::size_t place = 0;  ///< in its batch
    std::size_t task = 0;
    Contest contest = {};
  };
  /// What the cost model has not seen yet.
  struct Lesson {
    std::size_t task;
    std::vector<Trial> trials;
  };

  Result<TaskState> prepare(const TuneTask& task, TaskProgress& progress) {
    const codegen::Target& target = options_.measurer.target;
    TaskState state;
    HONE_TRY(state.space, space::make_space(options_.space, *task.task, target));
    state.builder = std::make_unique<Builder>(*state.space);
    state.key = measure::task_key(task.task->naive(), task.task->constants);
    state.data = make_task_data(*task.task, target);
    state.standard = standard_of(state, task, target);
    state.leader = state.standard;
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
    const std::size_t most_new = tries_all(options_.search, *state.space) ? kBuiltPerRound : 0;
    if (options_.cost_model != "none")
      setup.scorer = model_scorer(*state.space, *state.builder, *model_, state.scored(), most_new);
    HONE_TRY(state.search, make_search(options_.search, *state.space, setup));
    if (options_.explore > 0)
      state.search = explore_then_exploit(std::move(state.search), options_.explore, *state.space, std::move(setup));
    return state;
  }

  /// The default, of whatever space.
  static Contender standard_of(const TaskState& state, const TuneTask& task, const codegen::Target& target) {
    if (task.standard.empty()) return state.contender(state.space->first());
    if (const auto here = space::parse_candidate(*state.space, task.standard)) return state.contender(*here);
    const auto other = space::make_space(space::space_of(task.standard), *task.task, target);
    const auto parsed = other ? space::parse_candidate(**other, task.standard) : Result<Candidate>(other.error());
    const auto built = parsed ? (*other)->build(*parsed) : Result<schedule::Schedule>(parsed.error());
    if (!built) {
      log::warning("tuner", "{}: what it is compiled to cannot be built: {}", task.name, built.error().message);
      return state.contender(state.space->first());
    }
    return {.json = task.standard, .elsewhere = std::make_shared<const Built>(Built{built->program(), built->trace()})};
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
        scheduler.restore(i, states_[i].fastest(), static_cast<std::size_t>(states_[i].progress->trials));
    return scheduler;
  }

  /// Programs are equal if their structure is; what cannot be built is all alike.
  static Canonical canonical_of(Builder& builder) {
    return [&builder](const Candidate& candidate) -> std::uint64_t {
      const std::shared_ptr<const Built> built = builder.build(candidate);
      return built ? ir::structural_hash(built->program).low : 0;
    };
  }

  /// What earlier runs measured.
  std::vector<Trial> known_trials(TaskState& state) {
    if (!options_.records) return {};
    Result<std::vector<Trial>> known = take_known_trials(state, *options_.records, options_.measurer.target);
    if (known) return *std::move(known);
    report_.records_error = known.error().message;
    return {};
  }

  /// What to try first: the default, what the rules choose, and soon what was adopted for a task like this one.
  std::vector<Candidate> starts_of(TaskState& state, const space::Task& task) {
    std::vector<Candidate> starts;
    if (options_.tries_rules_first) starts = state.space->starts();
    if (const std::optional<Candidate>& standard = state.standard.here; standard && options_.tries_rules_first)
      if (std::find(starts.begin(), starts.end(), *standard) == starts.end()) starts.insert(starts.begin(), *standard);
    if (!options_.records) return starts;
    const auto adopted = take_adopted(state, *options_.records, task, options_.measurer.target);
    if (!adopted) report_.records_error = adopted.error().message;
    if (adopted && *adopted) starts.insert(starts.begin() + (starts.empty() ? 0 : 1), **adopted);
    return starts;
  }

  bool is_stopped() const { return options_.stop && *options_.stop; }
  bool is_out_of_time() const { return options_.seconds > 0 && seconds_since(start_) >= options_.seconds; }
  bool is_over() const {
    return is_stopped() || is_out_of_time() || report_.is_target_reached || (options_.enough && *options_.enough) ||
           (options_.trials > 0 && report_.progress.trials + under_way_ >= options_.trials);
  }

  /// Takes note when the kernels are as fast as was asked for. The scheduler knows the fastest trials, which luck made
  /// look better than they are; what counts is what was timed in turns.
  void look_at_target() {
    double ns = 0;
    for (const TaskProgress& task : report_.progress.tasks) ns += task.weight * task.best_ns;
    if (options_.target_seconds > 0 && ns <= options_.target_seconds * 1e9) report_.is_target_reached = true;
  }

  /// Measures until there is nothing more to try, or the budget is used up.
  Result<void> measure_all() {
    given_.clear();
    return measurer_->run_jobs(
        [this] { return next_job(); },
        [this](std::size_t i, const std::vector<measure::MeasureResult>& results) { take_results(i, results); });
  }

  std::optional<measure::MeasureJob> next_job() {
    if (is_stopped()) return std::nullopt;
    while (!crowns_.empty())
      if (std::optional<measure::MeasureJob> contest = next_contest()) return contest;
    while (!is_over()) {
      if (current_ && !current_->is_given()) {
        if (std::optional<measure::MeasureJob> trial = next_trial()) return trial;
      } else if (!begin_round()) {
        break;
      }
    }
    return std::nullopt;
  }

  /// Begins with the round that was chosen; if there is none yet, it is thought about.
  bool begin_round() {
    if (chosen_) {
      current_ = std::exchange(chosen_, nullptr);
      open_.push_back(current_);
      const TaskState& state = states_[current_->task];
      current_->timing = options_.measurer.timing;
      if (const double best = state.fastest(); std::isfinite(best))
        current_->timing.hopeless_ns = kHopeless * best * 1e9;
      plan();
      return true;
    }
    plan();
    return false;
  }

  /// Begins to think about the next round, unless that has to wait.
  void plan() {
    if (is_thinking_ || chosen_ || is_over() || open_.size() > 1) return;
    const std::optional<std::size_t> task =
        open_.empty() ? scheduler_->next_task() : scheduler_->next_task(/*except=*/open_.front()->task);
    if (!task) return;
    TaskState& state = states_[*task];
    std::size_t wanted = std::min(options_.batch, scheduler_->round_trials());
    if (options_.trials_per_task > 0)
      wanted = std::min(wanted, static_cast<std::size_t>(
                                    std::max<std::int64_t>(0, options_.trials_per_task - state.progress->trials)));
    if (state.progress->trials == 0) wanted = std::min(wanted, kFirstRound);
    is_thinking_ = true;
    const int threads = thinking_threads(/*is_beside_trials=*/!open_.empty());
    state.builder->set_threads(threads);
    auto round = std::make_shared<Round>(Round{.task = *task});
    measurer_->meanwhile(
        [this, &state, round, wanted] {
          teach();
          round->batch = state.search->ask(wanted);
        },
        [this, round] { take_thought(round); }, threads);
  }

  void take_thought(const std::shared_ptr<Round>& round) {
    is_thinking_ = false;
    if (round->batch.empty()) {  // there is nothing more to try
      TaskState& state = states_[round->task];
      state.progress->is_done = true;
      scheduler_->tell(round->task, state.fastest(), 0);
      tell_progress();
      plan();
    } else {
      chosen_ = round;
    }
    end_rounds();
  }

  /// The next trial of the round, if one of those that are left can be built.
  std::optional<measure::MeasureJob> next_trial() {
    Round& round = *current_;
    TaskState& state = states_[round.task];
    report_.progress.current = round.task;
    while (!round.is_given() && !is_over()) {
      const std::size_t place = round.given++;
      if (const std::shared_ptr<const Built> built = state.builder->build(round.batch[place])) {
        given_.push_back({.round = current_, .place = place});
        ++under_way_;
        return measure::MeasureJob{{{schedule::split_packing(built->program), state.data}}, round.timing};
      }
      measure::MeasureResult failed;
      failed.status = measure::TrialStatus::CompileError;
      failed.message = state.builder->refusal(round.batch[place]);
      ++round.finished;
      finish(state, round.batch[place], failed);
    }
    end_rounds();
    return std::nullopt;
  }

  void take_results(std::size_t i, const std::vector<measure::MeasureResult>& results) {
    Given given = std::exchange(given_[i], {});
    if (!given.round) return take_contest(given, results);
    --under_way_;
    ++given.round->finished;
    if (results[0].status != measure::TrialStatus::NotRun)
      finish(states_[given.round->task], given.round->batch[given.place], results[0]);
    end_rounds();
  }

  /// Takes note of rounds that are finished: in their order, and not while the next one is thought about.
  void end_rounds() {
    if (is_thinking_ || open_.empty() || !open_.front()->is_finished()) return;
    const Round& round = *open_.front();
    TaskState& state = states_[round.task];
    to_teach_.push_back({round.task, std::exchange(state.untold, {})});
    scheduler_->tell(round.task, state.fastest(), round.batch.size());
    if (has_challenger(state)) ask_for_crown(round.task);
    open_.pop_front();
    plan();
    end_rounds();
  }

  void ask_for_crown(std::size_t task) {
    if (is_stopped() || std::exchange(states_[task].is_crowning, true)) return;
    crowns_.push_back(task);
  }

  std::optional<measure::MeasureJob> next_contest() {
    const std::size_t task = crowns_.front();
    crowns_.pop_front();
    std::optional<Contest> contest = make_contest(states_[task], options_.measurer.timing);
    states_[task].is_crowning = contest.has_value();
    if (!contest) return std::nullopt;
    measure::MeasureJob job = std::exchange(contest->job, {});
    given_.push_back({.task = task, .contest = *std::move(contest)});
    return job;
  }

  void take_contest(const Given& given, const std::vector<measure::MeasureResult>& results) {
    TaskState& state = states_[given.task];
    state.is_crowning = false;
    const std::optional<Verdict> verdict = settle(state, given.contest, results);
    if (verdict && verdict->is_adopted)
      store(state, given.contest.rivals[verdict->best], results[verdict->best],
            measure::adopted_tags({verdict->first_ns, state.standard.json}));
    look_at_target();
    tell_progress();
  }

  void finish(TaskState& state, const Candidate& candidate, const measure::MeasureResult& result) {
    store(state, state.contender(candidate), result, "{}");
    const Outcome outcome = result.is_ok() ? outcome_of(result.samples_ns) : Outcome{};
    state.search->tell(candidate, outcome);
    state.count({candidate, outcome});
    ++report_.progress.trials;
    tell_progress();
  }

  /// Shows the cost model what was measured in earlier runs, unless it comes from one of them and knows.
  void learn_from_earlier_runs() {
    const bool knows = !options_.learnt_file.empty();
    if (!knows) learn_from_others();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      std::vector<Trial> known = std::exchange(states_[i].untold, {});
      if (!knows) to_teach_.push_back({i, std::move(known)});
    }
    teach();
  }

  /// Writes what the cost model knows, trials of rounds that were not finished as well.
  Result<void> save_model() {
    if (options_.save_cost_model.empty()) return {};
    for (std::size_t i = 0; i < states_.size(); ++i) to_teach_.push_back({i, std::exchange(states_[i].untold, {})});
    teach();
    if (const Result<void> saved = model_->save(options_.save_cost_model); !saved)
      return error(saved.error().code, "the cost model cannot be saved: {}", saved.error().message);
    return {};
  }

  /// The same of other tasks.
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

  /// Shows the cost model what was measured in rounds that are over.
  void teach() {
    const std::vector<Lesson> lessons = std::exchange(to_teach_, {});
    if (options_.cost_model == "none") return;
    std::vector<std::shared_ptr<const Built>> built;
    std::vector<cost::Subject> subjects;
    std::vector<double> seconds;
    for (const Lesson& lesson : lessons)
      for (const Trial& trial : lesson.trials) {
        const TaskState& state = states_[lesson.task];
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

  void store(const TaskState& state, const Contender& contender, const measure::MeasureResult& result,
             std::string_view tags) {
    if (!options_.records) return;
    const std::shared_ptr<const Built> built = state.build(contender);
    measure::Record record =
        measure::make_record(state.key, codegen::to_string(options_.measurer.target), contender.json,
                             built ? schedule::to_json(built->trace) : "[]", result);
    record.tags = tags;
    queue_.insert(std::move(record));
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
  std::optional<TaskScheduler> scheduler_;
  std::vector<TaskState> states_;
  TuneReport report_;
  std::deque<std::shared_ptr<Round>> open_;  ///< rounds that were begun and are not over, in their order
  std::shared_ptr<Round> current_;           ///< the last of them
  std::shared_ptr<Round> chosen_;            ///< the next one, as soon as it is known
  bool is_thinking_ = false;                 ///< about the next one, on another thread
  std::vector<Lesson> to_teach_;
  std::deque<std::size_t> crowns_;  ///< tasks whose leader is challenged
  std::deque<Given> given_;         ///< by the number of the job
  std::int64_t under_way_ = 0;      ///< trials that were begun and are not finished
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
