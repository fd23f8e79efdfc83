/// The first choice: what a task is compiled to as long as nothing of it was measured.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "hone/cost/cost_model.h"
#include "hone/space/space.h"

namespace hone {

/// A candidate in its space.
struct FirstCandidate {
  std::unique_ptr<space::Space> space;
  space::Candidate candidate;
  bool is_predicted = false;  ///< by a model rather than by the rules of the space
};

/// A model that knows tasks which were never measured. Thread-safe.
class FirstModel {
 public:
  explicit FirstModel(std::unique_ptr<cost::CostModel> model) : model_(std::move(model)) {}
  /// The network that comes with hone, read and compiled when it is first asked.
  explicit FirstModel(codegen::Target target) : target_(std::move(target)) {}

  Result<std::vector<double>> predict(std::span<const cost::Subject> subjects);

  /// What it chose for a task (measure::TaskKey::key), as JSON, or empty: what the rules say. Nothing if it was not
  /// asked yet.
  std::optional<std::string> known(const std::string& task) const;
  void remember(const std::string& task, std::string choice);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> known_;
  codegen::Target target_;
  std::unique_ptr<cost::CostModel> model_;
};

/// Chooses among the candidates of the mapping space that differ from what its rules say for an algorithm in one
/// decision, or where all of them are one program, among some sketches: that one whose program a trained model likes
/// best, if it likes it better than that of the rules by a margin. Thread-safe.
class FirstChoice {
 public:
  /// Without a model the rules alone choose.
  explicit FirstChoice(std::shared_ptr<FirstModel> model = nullptr) : model_(std::move(model)) {}
  /// By the network that HONE_COST_MODEL names, or else that comes with hone: one in a process for each target.
  static Result<FirstChoice> by_network(const codegen::Target& target);

  FirstCandidate choose(const space::Task& task, const codegen::Target& target) const;
  const std::shared_ptr<FirstModel>& model() const { return model_; }

 private:
  std::shared_ptr<FirstModel> model_;
};

}  // namespace hone
