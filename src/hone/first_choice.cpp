#include "hone/first_choice.h"

#include <algorithm>

#include "hone/measure/records/task_key.h"
#include "hone/search/model_scorer.h"
#include "hone/space/candidate.h"
#include "hone/space/mapping_space.h"
#include "hone/support/log.h"

namespace hone {
namespace {

/// By how much a program must score better than that of the rules. Of programs that differ by 1 in score, the better
/// one is the faster one in 73 of 100 cases.
constexpr double kMargin = 1;

/// What the rules say, for each algorithm, and everything that differs from it in one decision; the rules' own choice
/// comes first.
std::vector<space::Candidate> near_the_rules(const space::Space& space) {
  std::vector<space::Candidate> pool = {space.first()};
  for (std::size_t s = 0; s < space.sketches().size(); ++s) {
    const std::vector<space::Knob>& knobs = space.sketches()[s].knobs;
    const space::Candidate rules{s, std::vector<std::size_t>(knobs.size(), 0)};
    pool.push_back(rules);
    for (std::size_t k = 0; k < knobs.size(); ++k)
      for (std::size_t i = 1; i < knobs[k].options.size(); ++i) {
        pool.push_back(rules);
        pool.back().choices[k] = i;
      }
  }
  pool.erase(std::remove(pool.begin() + 1, pool.end(), pool.front()), pool.end());
  return pool;
}

}  // namespace

FirstCandidate FirstChoice::choose(const space::Task& task, const codegen::Target& target) {
  FirstCandidate choice{.space = space::make_mapping_space(task, target), .candidate = {}};
  choice.candidate = choice.space->first();
  if (!model_ || space::size_of(*choice.space) == 1) return choice;
  const measure::TaskKey key = measure::task_key(task.naive(), task.constants);
  const search::ScoredTask scored{key.key, key.family};
  std::vector<space::Candidate> pool;
  std::vector<std::shared_ptr<const search::Built>> programs;
  std::vector<cost::Subject> subjects;
  search::Builder builder(*choice.space);
  for (const space::Candidate& candidate : near_the_rules(*choice.space)) {
    std::shared_ptr<const search::Built> built = builder.build(candidate);
    if (!built && pool.empty()) return choice;
    if (!built) continue;
    subjects.push_back(search::subject_of(*choice.space, candidate, *built, scored));
    pool.push_back(candidate);
    programs.push_back(std::move(built));
  }
  const std::scoped_lock lock(mutex_);
  const Result<std::vector<double>> scores = model_->predict(subjects);
  if (!scores) {
    log::warning("first choice", "the cost model is of no help: {}", scores.error().message);
    return choice;
  }
  const auto best = std::max_element(scores->begin(), scores->end());
  if (*best < scores->front() + kMargin) return choice;
  choice.candidate = pool[static_cast<std::size_t>(best - scores->begin())];
  choice.is_predicted = true;
  return choice;
}

}  // namespace hone
