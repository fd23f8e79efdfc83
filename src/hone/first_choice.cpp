#include "hone/first_choice.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "hone/ir/equal.h"
#include "hone/measure/records/task_key.h"
#include "hone/network_model.h"
#include "hone/search/model_scorer.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/space/mapping_space.h"
#include "hone/support/log.h"
#include "hone/support/rng.h"

namespace hone {
namespace {

/// By how much a program must score better than that of the rules: of the same algorithm, and of another one, about
/// which the model is wrong by more. Lower ones cost more than they gain (docs/results/cost-model.md).
constexpr double kMargin = 1.5, kMarginOfOthers = 2.1;

/// Algorithms whose program by the rules scores worse than the best of them by more are not looked at further.
constexpr double kReach = 1;

/// Tasks of less work than this, in multiply-adds and the like, take so little time that rules will do.
constexpr double kWorthAsking = 2e6;

/// How many sketches are looked at where mappings leave nothing to choose.
constexpr int kSketches = 48;

/// The programs of a task that were looked at so far, and what the model makes of them.
class Pool {
 public:
  Pool(const space::Space& space, const space::Task& task, FirstModel& model)
      : space_(space), builder_(space), key_(measure::task_key(task.naive(), task.constants)), model_(model) {}

  /// Builds and scores candidates, without those that cannot be built, or are programs that are there already.
  Result<void> add(const std::vector<space::Candidate>& candidates) {
    const search::ScoredTask scored{key_.key, key_.family};
    std::vector<std::shared_ptr<const search::Built>> programs;
    std::vector<cost::Subject> subjects;
    for (const space::Candidate& candidate : candidates) {
      std::shared_ptr<const search::Built> built = builder_.build(candidate);
      if (!built || !programs_.insert(ir::structural_hash(built->program)).second) continue;
      subjects.push_back(search::subject_of(space_, candidate, *built, scored));
      candidates_.push_back(candidate);
      programs.push_back(std::move(built));
    }
    HONE_TRY(const std::vector<double> scores, model_.predict(subjects));
    scores_.insert(scores_.end(), scores.begin(), scores.end());
    return {};
  }

  const std::vector<space::Candidate>& candidates() const { return candidates_; }
  const std::vector<double>& scores() const { return scores_; }
  std::size_t best() const {
    return static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  }

 private:
  const space::Space& space_;
  search::Builder builder_;
  measure::TaskKey key_;
  FirstModel& model_;
  std::set<ir::Hash128> programs_;
  std::vector<space::Candidate> candidates_;
  std::vector<double> scores_;
};

space::Candidate by_rules(const space::Space& space, std::size_t sketch) {
  return {sketch, std::vector<std::size_t>(space.sketches()[sketch].knobs.size(), 0)};
}

/// The rules' own choice, then what they say for each other algorithm.
std::vector<space::Candidate> all_by_rules(const space::Space& space) {
  std::vector<space::Candidate> all = {space.first()};
  for (std::size_t s = 0; s < space.sketches().size(); ++s)
    if (by_rules(space, s) != all.front()) all.push_back(by_rules(space, s));
  return all;
}

/// Everything that differs from a candidate in one decision.
void add_neighbours(const space::Space& space, const space::Candidate& of, std::vector<space::Candidate>& to) {
  const std::vector<space::Knob>& knobs = space.sketches()[of.sketch].knobs;
  for (std::size_t k = 0; k < knobs.size(); ++k)
    for (std::size_t i = 0; i < knobs[k].options.size(); ++i) {
      if (i == of.choices[k]) continue;
      to.push_back(of);
      to.back().choices[k] = i;
    }
}

/// Looks at mappings: what the rules say for each algorithm, and what is near that of the first one if it is likely.
/// That is the direct one; of how others are best cut into tiles the model knows less than the rules.
Result<void> add_mappings(const space::Space& space, Pool& pool) {
  HONE_TRY(pool.add(all_by_rules(space)));
  if (pool.candidates().empty()) return {};
  const double worth_it = pool.scores()[pool.best()] - kReach;
  std::vector<space::Candidate> near;
  for (std::size_t i = 0; i < pool.candidates().size(); ++i)
    if (pool.candidates()[i].sketch == 0 && pool.scores()[i] >= worth_it)
      add_neighbours(space, pool.candidates()[i], near);
  return pool.add(near);
}

/// Looks at where sketches begin, and at some of them at random.
Result<void> add_sketches(const space::Space& space, Pool& pool) {
  std::vector<space::Candidate> some = space.starts();
  Rng rng(/*seed=*/1);
  for (int i = 0; i < kSketches; ++i) some.push_back(space::random_candidate(space, rng));
  return pool.add(some);
}

/// What the model chooses, as JSON; empty if it does not like it better than what the rules say by a margin.
Result<std::string> ask(FirstModel& model, const space::Space& mapping, const space::Task& task,
                        const codegen::Target& target) {
  Pool mappings(mapping, task, model);
  HONE_TRY(add_mappings(mapping, mappings));
  if (mappings.candidates().empty() || mappings.candidates().front() != mapping.first()) return std::string();
  const double rules = mappings.scores().front();
  if (mappings.candidates().size() > 1) {
    const space::Candidate& best = mappings.candidates()[mappings.best()];
    const double margin = best.sketch == mapping.first().sketch ? kMargin : kMarginOfOthers;
    return mappings.scores()[mappings.best()] < rules + margin ? std::string() : space::to_json(mapping, best);
  }
  HONE_TRY(const auto sketch, space::make_space("sketch", task, target));
  Pool sketches(*sketch, task, model);
  HONE_TRY(add_sketches(*sketch, sketches));
  if (sketches.candidates().empty() || sketches.scores()[sketches.best()] < rules + kMarginOfOthers)
    return std::string();
  return space::to_json(*sketch, sketches.candidates()[sketches.best()]);
}

/// A choice of the model, in the space it is of.
Result<FirstCandidate> parse(const std::string& json, const space::Task& task, const codegen::Target& target) {
  FirstCandidate choice{.space = nullptr, .candidate = {}, .is_predicted = true};
  HONE_TRY(choice.space, space::make_space(space::space_of(json), task, target));
  HONE_TRY(choice.candidate, space::parse_candidate(*choice.space, json));
  return choice;
}

}  // namespace

FirstCandidate FirstChoice::choose(const space::Task& task, const codegen::Target& target) const {
  FirstCandidate choice{.space = space::make_mapping_space(task, target), .candidate = {}};
  choice.candidate = choice.space->first();
  if (!model_ || task.flops < kWorthAsking || space::size_of(*choice.space) == 1) return choice;
  const std::string key = measure::task_key(task.naive(), task.constants).key;
  std::optional<std::string> chosen = model_->known(key);
  if (!chosen) {
    Result<std::string> asked = ask(*model_, *choice.space, task, target);
    if (!asked) log::warning("first choice", "the cost model is of no help: {}", asked.error().message);
    chosen = asked ? *asked : std::string();
    model_->remember(key, *chosen);
  }
  if (chosen->empty()) return choice;
  Result<FirstCandidate> predicted = parse(*chosen, task, target);
  HONE_CHECK(predicted, "what the model chose is no candidate");
  return *std::move(predicted);
}

std::optional<std::string> FirstModel::known(const std::string& task) const {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(task);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void FirstModel::remember(const std::string& task, std::string choice) {
  const std::scoped_lock lock(mutex_);
  known_[task] = std::move(choice);
}

Result<std::vector<double>> FirstModel::predict(std::span<const cost::Subject> subjects) {
  const std::scoped_lock lock(mutex_);
  if (!model_) { HONE_TRY(model_, make_any_cost_model("tlp", {.threads = 1}, target_, "")); }
  return model_->predict(subjects);
}

Result<FirstChoice> FirstChoice::by_network(const codegen::Target& target) {
  // Never destroyed: what its kernels need may be gone when a process ends.
  static std::mutex& mutex = *new std::mutex;
  static auto& models = *new std::map<std::string, std::shared_ptr<FirstModel>>;
  const char* file = std::getenv("HONE_COST_MODEL");
  const std::scoped_lock lock(mutex);
  std::shared_ptr<FirstModel>& model = models[fmt::format("{} {}", codegen::to_string(target), file ? file : "")];
  if (model) return FirstChoice(model);
  if (file && *file) {  // somebody's own: whether it can be used is said at once
    HONE_TRY(std::unique_ptr<cost::CostModel> made, make_any_cost_model("tlp", {.threads = 1}, target, ""));
    model = std::make_shared<FirstModel>(std::move(made));
  } else {
    model = std::make_shared<FirstModel>(target);
  }
  return FirstChoice(model);
}

}  // namespace hone
