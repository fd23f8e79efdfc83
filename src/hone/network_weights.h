/// Trained networks with their weights, for training to go on with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "hone/cost/first_weights.h"
#include "hone/cost/network_spec.h"

namespace hone {

/// A network from an ONNX model that write_network made, or from a file of weights that training left. The error says
/// what is wrong with the file.
Result<std::pair<cost::NetworkSpec, cost::Weights>> read_network(const std::filesystem::path& file);

/// What a target computes with; nothing if this hone does not know it.
std::optional<cost::ComputeUnit> unit_of(const std::string& target);

}  // namespace hone
