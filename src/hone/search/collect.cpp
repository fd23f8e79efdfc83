#include "hone/search/collect.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/measure/records/task_key.h"
#include "hone/search/model_scorer.h"
#include "hone/search/task_data.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/support/log.h"

namespace hone::search {
namespace {

using Clock = std::chrono::steady_clock;
using space::Candidate;

/// Programs of a task are drawn in so many rounds; all but the first start from what was fastest before.
constexpr std::size_t kDrawRounds = 3;
/// So many of the fastest programs of a target are the parents of the next round.
constexpr std::size_t kDrawParents = 12;
/// Candidates that are drawn at most for one that is new and can be built.
constexpr std::size_t kDrawsPerProgram = 12;
/// In a task that has few programs, a task is done when so many draws in a row give nothing new.
constexpr std::size_t kBarrenDraws = 200;

/// Programs whose samples are taken in turns.
constexpr std::size_t kTimedTogether = 8;

double elapsed_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A space of a task, and for which target it is.
struct ProgramSource {
  std::unique_ptr<space::Space> space;
  std::size_t target = 0;
};

/// A program of the task at hand.
struct Drawn {
  /// Where it comes from: others are made of it by changing decisions.
  struct Origin {
    std::size_t source = 0;
    Candidate candidate;
  };
  std::size_t place = 0;         ///< in the data set
  std::optional<Origin> origin;  ///< none: it is in no space of the targets that are measured on here
  schedule::KernelProgram program;
};

class Collector {
 public:
  Collector(cost::DatasetFile& file, const CollectOptions& options) : file_(file), options_(options) {}

  Result<CollectProgress> run(const std::vector<CollectTask>& tasks) {
    if (options_.targets.empty()) return error(ErrorCode::InvalidArgument, "collect: no target is given");
    for (const codegen::Target& target : options_.targets) {
      HONE_TRY(const std::size_t place, file_.add_target(codegen::to_string(target)));
      targets_.push_back(place);
    }
    const std::vector<std::size_t> order = choose_tasks(tasks);
    progress_.tasks = order.size();
    measure::MeasurerOptions measuring = options_.measurer;
    measuring.stop = options_.stop;
    measuring.target = options_.targets.front();
    measuring.timing.hopeless_ns = options_.longest_ms * 1e6;
    HONE_TRY(measure::Measurer measurer, measure::Measurer::start(measuring));
    measurer_ = &measurer;
    HONE_TRY(join(tasks));
    while (progress_.wanted < options_.programs && !is_over()) {
      before_ = progress_.wanted;
      progress_.wanted =
          std::min(options_.programs, before_ == 0 ? std::max<std::size_t>(options_.first_pass, 1) : 2 * before_);
      progress_.done = 0;
      for (const std::size_t i : order) {
        if (is_over()) break;
        HONE_TRY(collect_task(tasks[i]));
      }
    }
    tell();
    return progress_;
  }

 private:
  bool is_over() const {
    return (options_.stop && *options_.stop) || (options_.seconds > 0 && elapsed_since(start_) >= options_.seconds);
  }

  /// All tasks for testing and so many of the others as are wanted, in an order drawn from the seed.
  std::vector<std::size_t> choose_tasks(const std::vector<CollectTask>& tasks) const {
    std::vector<std::size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), 0);
    Rng rng(options_.seed);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(i) - 1))]);
    if (options_.tasks == 0) return order;
    std::size_t others = 0;
    std::erase_if(order, [&](std::size_t i) {
      const bool is_test = std::any_of(tasks[i].networks.begin(), tasks[i].networks.end(),
                                       [](const auto& use) { return cost::is_test_network(use.first); });
      return !is_test && ++others > options_.tasks;
    });
    return order;
  }

  /// Measures what others collected of tasks that are not among ours: the file says what these compute.
  Result<void> join(const std::vector<CollectTask>& tasks) {
    std::set<std::string> ours;
    for (const CollectTask& task : tasks) ours.insert(key_of(task).key);
    for (std::size_t place = 0; place < file_.data().tasks.size() && !is_over(); ++place) {
      const cost::DatasetTask& known = file_.data().tasks[place];
      if (ours.contains(known.key) || known.algorithms.empty() || is_measured(known)) continue;
      auto task = std::make_shared<space::Task>();
      for (const cost::DatasetTask::Algorithm& algorithm : known.algorithms) {
        HONE_TRY(ir::Function naive, ir::parse_function(algorithm.text));
        task->algorithms.push_back({algorithm.name, std::move(naive)});
      }
      task->constants = known.constants;
      progress_.task = known.name;
      begin({task, known.name, {}}, place);
      HONE_TRY(measure_all());
    }
    drawn_.clear();
    return {};
  }

  static measure::TaskKey key_of(const CollectTask& task) {
    return measure::task_key(task.task->naive(), task.task->constants);
  }

  Result<void> collect_task(const CollectTask& task) {
    HONE_TRY(const std::size_t place, add(task));
    const cost::DatasetTask& known = file_.data().tasks[place];
    progress_.task = task.name;
    const bool is_enough = !known.done.empty() || known.programs.size() >= progress_.wanted;
    if (is_enough && is_measured(known)) {
      ++progress_.done;
      drawn_.clear();
      tell();
      return {};
    }
    begin(task, place);
    make_sources(task);
    HONE_TRY(measure_all());
    for (std::size_t round = 0; round < kDrawRounds && !is_over() && file_.data().tasks[place].done.empty(); ++round) {
      const std::size_t wanted = progress_.wanted * (round + 1) / kDrawRounds;
      if (drawn_.size() >= wanted) continue;
      HONE_TRY(const bool is_drawn, draw(wanted, round));
      HONE_TRY(measure_all());
      if (is_over()) break;
      if (const double best = best_seconds(0); std::isfinite(best) && best * 1e3 > options_.longest_ms) {
        HONE_TRY(file_.finish_task(place, "slow"));
      } else if (!is_drawn) {
        HONE_TRY(file_.finish_task(place, "exhausted"));
      }
    }
    if (!is_over()) {
      ++progress_.done;
      finished_ += static_cast<double>(progress_.wanted - before_);
      drawn_.clear();
    }
    tell();
    return {};
  }

  Result<std::size_t> add(const CollectTask& task) {
    const measure::TaskKey key = key_of(task);
    cost::DatasetTask added{.key = key.key,
                            .family = key.family,
                            .name = task.name,
                            .algorithms = {},
                            .constants = task.task->constants,
                            .flops = task.task->flops,
                            .networks = task.networks};
    for (const space::Algorithm& algorithm : task.task->algorithms)
      added.algorithms.push_back({algorithm.name, ir::to_text(algorithm.naive)});
    HONE_TRY(const std::size_t place, file_.add_task(added));
    for (const auto& [network, calls] : task.networks) HONE_TRY(file_.add_use(place, network, calls));
    return place;
  }

  bool is_measured(const cost::DatasetTask& task) const {
    return std::all_of(task.programs.begin(), task.programs.end(), [&](std::size_t program) {
      return std::all_of(targets_.begin(), targets_.end(), [&](std::size_t t) { return !is_wanted(program, t); });
    });
  }

  /// Whether a program is to be measured on a target: it is not yet, and was not too slow on others.
  bool is_wanted(std::size_t program, std::size_t target) const {
    const std::vector<double>& seconds = file_.data().programs[program].seconds;
    return std::isnan(seconds[target]) && std::none_of(seconds.begin(), seconds.end(), [&](double known) {
             return std::isfinite(known) && known * 1e3 > options_.longest_ms;
           });
  }

  /// Turns to a task, and makes the programs again that it has already.
  void begin(const CollectTask& task, std::size_t place) {
    task_ = task.task;
    place_ = place;
    sources_.clear();
    drawn_.clear();
    hashes_.clear();
    rng_ = Rng(options_.seed).fork(ir::structural_hash(task_->naive()).low);
    data_ = make_task_data(*task_, options_.targets.front());
    for (const std::size_t program : file_.data().tasks[place].programs) {
      const cost::DatasetProgram& known = file_.data().programs[program];
      hashes_.insert(known.hash);
      Result<schedule::Program> made = replay(known);
      if (made && ir::to_string(ir::structural_hash(*made)) == known.hash)
        drawn_.push_back({program, std::nullopt, schedule::split_packing(*made)});
      else
        log::warning("collect", "a program of the data set is not one of this hone any more: {}", known.candidate);
    }
  }

  Result<schedule::Program> replay(const cost::DatasetProgram& known) const {
    HONE_TRY(const schedule::Trace trace, schedule::parse_trace(known.trace));
    if (known.algorithm >= task_->algorithms.size())
      return error(ErrorCode::NotFound, "the task has no algorithm {}", known.algorithm);
    return schedule::replay(task_->algorithms[known.algorithm].naive, trace);
  }

  /// Makes the spaces of the task at hand, and finds the candidates in them that its programs come from.
  void make_sources(const CollectTask& task) {
    for (std::size_t t = 0; t < options_.targets.size(); ++t)
      for (const char* name : {"mapping", "sketch", "template"}) {
        Result<std::unique_ptr<space::Space>> space = space::make_space(name, *task.task, options_.targets[t]);
        if (!space)
          log::warning("collect", "{}: {}", task.name, space.error().message);
        else if (space::size_of(**space) > 1)
          sources_.push_back({*std::move(space), t});
      }
    for (Drawn& drawn : drawn_) drawn.origin = find_origin(file_.data().programs[drawn.place]);
  }

  /// The candidate that a program comes from. What was drawn for targets of other machines is often in the spaces of
  /// ours too: then the candidate makes the same program there.
  std::optional<Drawn::Origin> find_origin(const cost::DatasetProgram& known) const {
    const bool is_ours = std::find(targets_.begin(), targets_.end(), known.drawn_for) != targets_.end();
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      if (is_ours && targets_[sources_[s].target] != known.drawn_for) continue;
      const space::Space& space = *sources_[s].space;
      const Result<Candidate> candidate = space::parse_candidate(space, known.candidate);
      if (candidate && (is_ours || makes(space, *candidate, known.hash))) return Drawn::Origin{s, *candidate};
    }
    return std::nullopt;
  }

  static bool makes(const space::Space& space, const Candidate& candidate, const std::string& hash) {
    const Result<schedule::Schedule> built = space.build(candidate);
    return built && ir::to_string(ir::structural_hash(built->program())) == hash;
  }

  /// Draws programs until there are so many; false if no more are found.
  Result<bool> draw(std::size_t wanted, std::size_t round) {
    if (sources_.empty()) return false;
    for (std::size_t s = 0; s < sources_.size(); ++s) HONE_TRY(take({{s, sources_[s].space->first()}}));
    std::vector<std::vector<std::size_t>> parents;
    for (const std::size_t target : targets_) parents.push_back(fastest(target));
    std::size_t barren = 0;
    for (std::size_t tries = 0;
         drawn_.size() < wanted && barren < kBarrenDraws && tries < kDrawsPerProgram * wanted && !is_over();) {
      std::vector<std::pair<std::size_t, Candidate>> batch;
      constexpr std::size_t kBatch = 16;
      for (std::size_t i = 0; i < std::min(kBatch, wanted - drawn_.size()); ++i, ++tries)
        batch.push_back(draw_one(parents, tries, round));
      const std::size_t before = drawn_.size();
      HONE_TRY(take(batch));
      barren = drawn_.size() > before ? 0 : barren + batch.size();
    }
    return drawn_.size() >= wanted;
  }

  std::pair<std::size_t, Candidate> draw_one(const std::vector<std::vector<std::size_t>>& parents, std::size_t number,
                                             std::size_t round) {
    constexpr double kRandomShare = 0.25, kCrossed = 0.4, kChangedAgain = 0.4;
    const std::vector<std::size_t>& best = parents[number % parents.size()];
    if (round == 0 || best.empty() || rng_.chance(kRandomShare)) {
      const std::size_t source = number % sources_.size();
      return {source, space::random_candidate(*sources_[source].space, rng_)};
    }
    const Drawn::Origin &parent = *drawn_[rng_.choose(best)].origin, &other = *drawn_[rng_.choose(best)].origin;
    const space::Space& space = *sources_[parent.source].space;
    Candidate child = parent.candidate;
    const bool can_cross = other.source == parent.source && other.candidate.sketch == child.sketch;
    if (can_cross && rng_.chance(kCrossed)) child = space::cross(space, child, other.candidate, rng_);
    if (child == parent.candidate || rng_.chance(kChangedAgain)) child = space::mutate(space, child, rng_);
    return {parent.source, std::move(child)};
  }

  /// The fastest programs on a target whose origin is known, by place among those drawn.
  std::vector<std::size_t> fastest(std::size_t target) const {
    const auto seconds = [&](std::size_t i) { return file_.data().programs[drawn_[i].place].seconds[target]; };
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < drawn_.size(); ++i)
      if (drawn_[i].origin && std::isfinite(seconds(i))) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return seconds(a) < seconds(b); });
    order.resize(std::min(order.size(), kDrawParents));
    return order;
  }

  double best_seconds(std::size_t target) const { return file_.data().best_seconds(place_, targets_[target]); }

  /// Builds candidates, and adds to the data set what is new.
  Result<void> take(const std::vector<std::pair<std::size_t, Candidate>>& batch) {
    for (const auto& [source, candidate] : batch) {
      const space::Space& space = *sources_[source].space;
      const Result<schedule::Schedule> built = space.build(candidate);
      if (!built) continue;
      const std::string hash = ir::to_string(ir::structural_hash(built->program()));
      if (!hashes_.insert(hash).second) continue;
      HONE_TRY(const std::size_t algorithm, algorithm_of(space.sketches()[candidate.sketch].name));
      HONE_TRY(const std::size_t place, file_.add_program({.task = place_,
                                                           .algorithm = algorithm,
                                                           .hash = hash,
                                                           .drawn_for = targets_[sources_[source].target],
                                                           .candidate = space::to_json(space, candidate),
                                                           .trace = schedule::to_json(built->trace())}));
      drawn_.push_back({place, Drawn::Origin{source, candidate}, schedule::split_packing(built->program())});
    }
    return {};
  }

  /// Sketches begin with the name of their algorithm.
  Result<std::size_t> algorithm_of(const std::string& sketch) const {
    const std::string name = sketch.substr(0, sketch.find(' '));
    const std::vector<space::Algorithm>& all = task_->algorithms;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == name) return i;
    if (sketch == "untouched") return std::size_t{0};
    return error(ErrorCode::NotFound, "sketch '{}' is of no algorithm of its task", sketch);
  }

  /// Measures what is not measured yet, target by target, some programs at a time.
  Result<void> measure_all() {
    for (std::size_t t = 0; t < targets_.size() && !is_over(); ++t) {
      std::vector<const Drawn*> missing;
      for (const Drawn& drawn : drawn_)
        if (is_wanted(drawn.place, targets_[t])) missing.push_back(&drawn);
      measurer_->set_target(options_.targets[t]);
      HONE_TRY(measure_in_groups(missing, targets_[t]));
    }
    return {};
  }

  /// Measures programs in groups, those of a group in turns: their samples are spread over a longer time, and what
  /// disturbs disturbs all of them. While one group is timed, others are compiled.
  Result<void> measure_in_groups(const std::vector<const Drawn*>& programs, std::size_t target) {
    const auto group = [&](std::size_t number) {
      const std::size_t begin = number * kTimedTogether;
      return std::span(programs).subspan(begin, std::min(kTimedTogether, programs.size() - begin));
    };
    const std::size_t groups = (programs.size() + kTimedTogether - 1) / kTimedTogether;
    std::size_t begun = 0;
    std::vector<const Drawn*> alone;
    Result<void> stored;
    HONE_TRY(measurer_->run_jobs(
        [&]() -> std::optional<measure::MeasureJob> {
          if (begun == groups || is_over() || !stored) return std::nullopt;
          return measure::MeasureJob{inputs_of(group(begun++)), measurer_->options().timing};
        },
        [&](std::size_t number, const std::vector<measure::MeasureResult>& results) {
          // Where one took the worker with it, each is measured alone, so that it is known which.
          const bool is_whole = std::all_of(results.begin(), results.end(),
                                            [](const measure::MeasureResult& result) { return result.is_ok(); });
          if (!is_whole) {
            alone.insert(alone.end(), group(number).begin(), group(number).end());
          } else if (stored) {
            stored = store(group(number), results, target);
          }
        }));
    HONE_TRY(stored);
    if (alone.empty() || is_over()) return {};
    return store(alone, measurer_->measure(inputs_of(alone)), target);
  }

  std::vector<measure::MeasureInput> inputs_of(std::span<const Drawn* const> programs) const {
    std::vector<measure::MeasureInput> inputs;
    for (const Drawn* drawn : programs) inputs.push_back({drawn->program, data_});
    return inputs;
  }

  Result<void> store(std::span<const Drawn* const> programs, const std::vector<measure::MeasureResult>& results,
                     std::size_t target) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const measure::MeasureResult& result = results[i];
      if (result.status == measure::TrialStatus::NotRun) continue;
      ++progress_.measured;
      if (!result.is_ok()) count_failure(result);
      HONE_TRY(file_.add_label(programs[i]->place, target, result.is_ok() ? result.min_ns() * 1e-9 : cost::kFailed,
                               measure::to_string(result.status)));
    }
    tell();
    return {};
  }

  void count_failure(const measure::MeasureResult& result) {
    ++progress_.failures;
    CollectFailures& alike = progress_.reasons[std::string(measure::to_string(result.status))];
    if (alike.count++ == 0) alike.first_message = result.message;
  }

  void tell() {
    progress_.elapsed_s = elapsed_since(start_);
    const auto tasks = static_cast<double>(progress_.tasks), pass = static_cast<double>(progress_.wanted - before_);
    const double share = under_way();
    const double left = (tasks - static_cast<double>(progress_.done) - share) * pass +
                        tasks * static_cast<double>(options_.programs - progress_.wanted);
    const double finished = finished_ + share * pass;
    progress_.left_s = left <= 0      ? 0
                       : finished > 0 ? progress_.elapsed_s * left / finished
                                      : std::numeric_limits<double>::infinity();
    if (options_.progress) options_.progress(progress_);
  }

  /// How much of the task at hand is done of what this pass wants.
  double under_way() const {
    if (drawn_.empty() || progress_.done == progress_.tasks || progress_.wanted == before_) return 0;
    double measured = 0;
    for (const Drawn& drawn : drawn_)
      for (const std::size_t target : targets_) measured += is_wanted(drawn.place, target) ? 0 : 1;
    const auto before = static_cast<double>(before_ * targets_.size());
    return std::clamp((measured - before) / (static_cast<double>(progress_.wanted * targets_.size()) - before), 0.0,
                      1.0);
  }

  cost::DatasetFile& file_;
  const CollectOptions& options_;
  const Clock::time_point start_ = Clock::now();
  measure::Measurer* measurer_ = nullptr;
  std::vector<std::size_t> targets_;  ///< places of the options' targets in the data set
  CollectProgress progress_;
  std::size_t before_ = 0;  ///< programs that each task was to have before the pass under way
  double finished_ = 0;     ///< programs of tasks that this run was done with

  // The task at hand.
  std::shared_ptr<const space::Task> task_;
  std::size_t place_ = 0;
  std::vector<ProgramSource> sources_;
  std::vector<Drawn> drawn_;
  std::set<std::string> hashes_;
  std::shared_ptr<measure::TaskData> data_;
  Rng rng_{1};
};

}  // namespace

Result<CollectProgress> collect(const std::vector<CollectTask>& tasks, cost::DatasetFile& file,
                                const CollectOptions& options) {
  return Collector(file, options).run(tasks);
}

}  // namespace hone::search
