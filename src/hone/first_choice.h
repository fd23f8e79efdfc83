/// The first choice: what a task is compiled to as long as nothing of it was measured.
#pragma once

#include <memory>
#include <mutex>

#include "hone/cost/cost_model.h"
#include "hone/space/space.h"

namespace hone {

/// A candidate in its space.
struct FirstCandidate {
  std::unique_ptr<space::Space> space;
  space::Candidate candidate;
  bool is_predicted = false;  ///< by a model rather than by the rules of the space
};

/// Chooses among the candidates of the mapping space that differ from what its rules say in one decision: that one
/// whose program a trained model likes best, if it likes it better by a margin. Thread-safe.
class FirstChoice {
 public:
  /// A model that knows tasks which were never measured; null: rules alone.
  explicit FirstChoice(std::unique_ptr<cost::CostModel> model = nullptr) : model_(std::move(model)) {}

  FirstCandidate choose(const space::Task& task, const codegen::Target& target);

 private:
  std::mutex mutex_;  ///< of the model
  std::unique_ptr<cost::CostModel> model_;
};

}  // namespace hone
