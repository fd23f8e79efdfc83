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

/// A model that knows tasks which were never measured, for whoever holds its mutex.
struct FirstModel {
  explicit FirstModel(std::unique_ptr<cost::CostModel> made) : model(std::move(made)) {}

  std::mutex mutex;
  std::unique_ptr<cost::CostModel> model;
};

/// The network that comes with hone, or that HONE_COST_MODEL names: compiled once in a process for each target.
Result<std::shared_ptr<FirstModel>> first_model(const codegen::Target& target);

/// Chooses among the candidates of the mapping space that differ from what its rules say in one decision: that one
/// whose program a trained model likes best, if it likes it better by a margin. Thread-safe.
class FirstChoice {
 public:
  /// Without a model the rules alone choose.
  explicit FirstChoice(std::shared_ptr<FirstModel> model = nullptr) : model_(std::move(model)) {}

  FirstCandidate choose(const space::Task& task, const codegen::Target& target) const;

 private:
  std::shared_ptr<FirstModel> model_;
};

}  // namespace hone
