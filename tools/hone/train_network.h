/// hone cost-model train: has hone_trainer train the members of a network.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "hone/cost/dataset.h"

namespace hone::command {

struct TrainNetworkOptions {
  std::string network = "tlp2", body = "attention", loss = "rank", from;
  std::vector<std::string> targets;
  std::int64_t epochs = 50, patience = 8, batch = 512, seed = 1, label_percent = 100, held_back = 10, members = 1;
  bool resumes = false;
};

/// Declares all of them but --seed.
void add_train_options(CLI::App& parser, TrainNetworkOptions& options);

/// MODEL.weights, in which training leaves the weights of a model.
std::string weights_file(const std::string& model);

/// Leaves weights in MODEL.weights, and beside them, as MODEL.weights.scores, what libtorch makes of the first samples.
/// From the states of its members training goes on if it is interrupted, until they are forgotten.
Result<void> train_network(const TrainNetworkOptions& options, const std::string& data_file, const std::string& model);
/// Removes the states, when nothing is left to be done.
void forget_states(const TrainNetworkOptions& options, const std::string& model);

}  // namespace hone::command
