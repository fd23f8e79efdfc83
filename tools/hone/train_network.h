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
};

/// Declares all of them but --seed.
void add_train_options(CLI::App& parser, TrainNetworkOptions& options);

/// Leaves weights in a file, and beside them, as FILE.scores, what libtorch makes of the first samples.
Result<void> train_network(const TrainNetworkOptions& options, const std::string& data_file,
                           const std::string& weights);

}  // namespace hone::command
