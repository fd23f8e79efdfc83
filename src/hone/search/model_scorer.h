/// Scores candidates by a cost model: builds them, several at a time, and shows the model their programs and traces.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "hone/cost/cost_model.h"
#include "hone/search/search.h"

namespace hone::search {

/// A candidate as the measurer and cost models need it.
struct Built {
  schedule::Program program;
  schedule::Trace trace;
  schedule::Program naive;
};

/// Builds the candidates of one space, and keeps what it built lately. Thread-safe, and builds on several threads.
class Builder {
 public:
  /// `space` must outlive it.
  explicit Builder(const Space& space) : space_(space) {}

  /// Null if the candidate cannot be built.
  std::shared_ptr<const Built> build(const Candidate& candidate);
  std::vector<std::shared_ptr<const Built>> build(std::span<const Candidate> candidates);
  bool has(const Candidate& candidate) const;
  /// Why a candidate cannot be built; empty if it can.
  std::string refusal(const Candidate& candidate) const;
  /// How many threads build; 0: one a core.
  void set_threads(int threads) { threads_ = threads; }

 private:
  const Space& space_;
  std::atomic<int> threads_ = 0;
  mutable std::mutex mutex_;
  std::map<Candidate, std::shared_ptr<const Built>> built_;
};

/// Which task candidates belong to, for a cost model.
struct ScoredTask {
  std::string key, family;
};

/// What a cost model sees of a candidate.
cost::Subject subject_of(const Space& space, const Candidate& candidate, const Built& built, const ScoredTask& task);

/// A scorer that asks the model as soon as it knows anything about the task. All three must outlive it. Building takes
/// longer than predicting: of more than `most_new` candidates that were never built, only so many are, spread
/// evenly, and the others rank last; 0: all are built.
Scorer model_scorer(const Space& space, Builder& builder, cost::CostModel& model, ScoredTask task,
                    std::size_t most_new = 0);

}  // namespace hone::search
