/// Simulated annealing on a function that scores candidates, and a choice among its results that differ.
#pragma once

#include <map>
#include <vector>

#include "hone/search/options.h"
#include "hone/search/ranking.h"
#include "hone/search/search.h"
#include "hone/support/function_ref.h"

namespace hone::search {

/// How likely a step that changes the score by so much (in units of the spread of scores) is taken.
double acceptance(double change, double temperature);

/// Chains that climb to high scores. They go on from where they ended the last time.
class Annealer {
 public:
  using Score = FunctionRef<std::vector<double>(std::span<const Candidate>)>;

  Annealer(const Space& space, const AnnealingOptions& options) : space_(space), options_(options) {}

  /// The best `count` candidates the chains met that are not excluded, best first; none if the scorer knows nothing.
  std::vector<Scored> find_best(std::size_t count, Score score, FunctionRef<bool(const Candidate&)> is_excluded,
                                Rng& rng);

  /// The largest less the smallest score met in the last call; 1 if there is no difference.
  double spread() const { return highest_ > lowest_ ? highest_ - lowest_ : 1; }

 private:
  /// Scores what was not scored in this call before. False if the scorer knows nothing.
  bool score_all(const std::vector<Candidate>& candidates, Score score);

  const Space& space_;
  const AnnealingOptions options_;
  std::vector<Candidate> points_;
  std::map<Candidate, double> scores_;
  double lowest_ = 0, highest_ = 0;
};

/// Chooses `count` of the candidates, one after the other: each the one with the highest sum of its score and of
/// `weight` for each decision that none chosen before has made. This is the objective of arXiv 1805.08166, section 4.
std::vector<Candidate> choose_diverse(const std::vector<Scored>& candidates, std::size_t count, double weight);

}  // namespace hone::search
