/// A task under tuning: its space and search, what was measured, and which candidate leads.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "hone/measure/records/records.h"
#include "hone/measure/trial.h"
#include "hone/search/model_scorer.h"
#include "hone/search/tuner.h"

namespace hone::search {

/// A candidate of a task: of the space that is searched, or of another one.
struct Contender {
  std::string json;
  std::optional<Candidate> here = {};           ///< nothing: of another space
  std::shared_ptr<const Built> elsewhere = {};  ///< what one of another space is built to

  bool operator==(const Contender& other) const { return json == other.json; }
};

struct TaskState {
  std::unique_ptr<space::Space> space;
  std::unique_ptr<Builder> builder;
  std::unique_ptr<Search> search;
  measure::TaskKey key;
  std::shared_ptr<measure::TaskData> data;
  Contender standard;                ///< the default, with which all is compared
  Contender leader;                  ///< adopted, or the default
  bool is_leader_recorded = false;   ///< whether records have it as adopted
  bool is_decided_in_model = false;  ///< what is adopted won within a model: times of kernels alone do not change it
  bool is_crowning = false;          ///< whether a comparison with the leader is asked for or under way
  double leader_seconds = std::numeric_limits<double>::infinity();  ///< when it was timed last
  std::vector<Trial> ok;                                            ///< all that ran, also in earlier runs
  std::vector<Trial> untold;  ///< what the cost model has not seen yet, failures included
  TaskProgress* progress = nullptr;

  ScoredTask scored() const { return {key.key, key.family}; }
  /// A candidate of the space that is searched.
  Contender contender(const Candidate& candidate) const;
  /// Null if it cannot be built.
  std::shared_ptr<const Built> build(const Contender& contender) const;
  /// Of all that ran, in seconds; infinity if nothing did.
  double fastest() const;

  /// Takes in what came of a candidate.
  void count(const Trial& trial);
  /// Lets a candidate lead that was adopted, or is now.
  void lead(const Contender& contender, double ns);
};

Outcome outcome_of(const std::vector<double>& samples_ns);

}  // namespace hone::search
