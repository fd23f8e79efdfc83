#include "hone/search/model_scorer.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "hone/space/candidate.h"
#include "hone/support/log.h"
#include "hone/support/rng.h"

namespace hone::search {
namespace {

/// Beyond so many, what was built is forgotten: a program takes some tens of kilobytes.
constexpr std::size_t kMostKept = 4096;

std::shared_ptr<const Built> build_one(const Space& space, const Candidate& candidate) {
  const Result<schedule::Schedule> made = space.build(candidate);
  return made ? std::make_shared<const Built>(Built{made->program(), made->trace(), made->naive()}) : nullptr;
}

}  // namespace

std::shared_ptr<const Built> Builder::build(const Candidate& candidate) { return build(std::span(&candidate, 1))[0]; }

std::vector<std::shared_ptr<const Built>> Builder::build(std::span<const Candidate> candidates) {
  std::vector<std::shared_ptr<const Built>> all(candidates.size());
  std::vector<std::size_t> missing;
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (const auto found = built_.find(candidates[i]); found != built_.end())
        all[i] = found->second;
      else
        missing.push_back(i);
    }
  }
  if (missing.empty()) return all;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < missing.size(); i = next++)
      all[missing[i]] = build_one(space_, candidates[missing[i]]);
  };
  constexpr std::size_t kPerThread = 8;
  const std::size_t most = threads_ > 0 ? static_cast<std::size_t>(threads_) : std::thread::hardware_concurrency();
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(most, missing.size() / kPerThread); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  const std::scoped_lock lock(mutex_);
  if (built_.size() + missing.size() > kMostKept) built_.clear();
  for (const std::size_t i : missing) built_.emplace(candidates[i], all[i]);
  return all;
}

bool Builder::has(const Candidate& candidate) const {
  const std::scoped_lock lock(mutex_);
  return built_.contains(candidate);
}

std::string Builder::refusal(const Candidate& candidate) const {
  const Result<schedule::Schedule> made = space_.build(candidate);
  return made ? "" : made.error().message;
}

cost::Subject subject_of(const Space& space, const Candidate& candidate, const Built& built, const ScoredTask& task) {
  cost::Subject subject{
      .task = task.key, .family = task.family, .program = &built.program, .trace = &built.trace, .naive = &built.naive};
  // Sketches have different knobs: each has its own places, those of the others are 0.
  const std::vector<space::Sketch>& sketches = space.sketches();
  for (std::size_t s = 0; s < sketches.size(); ++s) {
    subject.knobs.push_back(s == candidate.sketch ? 1 : 0);
    for (std::size_t k = 0; k < sketches[s].knobs.size(); ++k) {
      const auto& options = sketches[s].knobs[k].options;
      for (std::size_t i = 0; i < options.front().size(); ++i) {
        const bool has_number = s == candidate.sketch && i < options[candidate.choices[k]].size();
        subject.knobs.push_back(has_number ? static_cast<double>(options[candidate.choices[k]][i]) : 0);
      }
    }
  }
  return subject;
}

Scorer model_scorer(const Space& space, Builder& builder, cost::CostModel& model, ScoredTask task,
                    std::size_t most_new) {
  return [&space, &builder, &model, task = std::move(task), most_new](std::span<const Candidate> candidates) {
    std::vector<double> scores;
    if (!model.is_trained(task.key, task.family)) {
      if (most_new == 0) return scores;
      // Whoever wants all candidates ranked gets them in an order that has no pattern.
      for (const Candidate& candidate : candidates) scores.push_back(Rng(space::index_of(space, candidate)).unit());
      return scores;
    }
    std::vector<std::size_t> places;
    std::vector<Candidate> looked_at;
    std::size_t fresh = 0;
    const std::size_t stride = most_new == 0 ? 1 : std::max<std::size_t>(1, candidates.size() / most_new);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool is_known = builder.has(candidates[i]);
      if (!is_known && most_new != 0 && (i % stride != 0 || fresh == most_new)) continue;
      fresh += is_known ? 0 : 1;
      places.push_back(i);
      looked_at.push_back(candidates[i]);
    }
    const std::vector<std::shared_ptr<const Built>> built = builder.build(looked_at);
    std::vector<cost::Subject> subjects;
    for (std::size_t i = 0; i < looked_at.size(); ++i)
      if (built[i]) subjects.push_back(subject_of(space, looked_at[i], *built[i], task));
    const Result<std::vector<double>> predicted = model.predict(subjects);
    if (!predicted) {
      log::warning("search", "the cost model cannot score: {}", predicted.error().message);
      return scores;
    }
    const double lowest = predicted->empty() ? 0 : *std::min_element(predicted->begin(), predicted->end());
    scores.assign(candidates.size(), lowest);
    std::size_t next = 0;
    for (std::size_t i = 0; i < looked_at.size(); ++i)
      scores[places[i]] = built[i] ? (*predicted)[next++] : -std::numeric_limits<double>::infinity();
    return scores;
  };
}

}  // namespace hone::search
