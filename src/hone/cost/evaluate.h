/// How good a trained model is: what networks would run at if its favourites were taken.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/cost/training_set.h"

namespace hone::cost {

/// The share of the best possible speed that is reached with the program that a model likes best, and with the best of
/// the five that it likes best (TLP, arXiv 2211.03578, section 6.1).
struct TopScores {
  std::string network;  ///< empty: all of them
  double top_1 = 1, top_5 = 1;
  std::size_t tasks = 0;
};

/// The scores of samples, one each, by a target: for each network with tasks among them, then for all together (sums
/// over all tasks and calls, not a mean). Only networks that pass `is_wanted` count.
std::vector<TopScores> evaluate_networks(const Dataset& data, const TrainingSet& samples, std::size_t target,
                                         std::span<const double> scores, bool (*is_wanted)(std::string_view network));

/// The same with each task once, whatever networks it occurs in: for validating on tasks that no test network has.
TopScores evaluate_tasks(const Dataset& data, const TrainingSet& samples, std::size_t target,
                         std::span<const double> scores);

/// What a model's favourites of one task take.
struct TaskScore {
  std::size_t task = 0;                   ///< in the data set
  double best = 0, top_1 = 0, top_5 = 0;  ///< seconds: of the fastest program, of the favourite, of the best of five
};

/// The same task by task.
std::vector<TaskScore> evaluate_each_task(const Dataset& data, const TrainingSet& samples, std::size_t target,
                                          std::span<const double> scores);

}  // namespace hone::cost
