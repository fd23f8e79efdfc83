/// The weights that a network is trained from, if it goes on with one that was trained before.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/cost/loop_nest.h"
#include "hone/cost/network_spec.h"

namespace hone::cost {

/// What a target computes with, by its text; nothing if that is not known.
using UnitOf = std::function<std::optional<ComputeUnit>(const std::string& target)>;

/// Which of a network's targets to take the head of for another one: itself, or else the first of those that are most
/// like it; as wide vectors count for more than being on the same side of one and several threads.
std::size_t nearest_target(const NetworkSpec& spec, const std::string& target, const UnitOf& unit_of);

/// Weights for a network, and what became of the heads of the one before.
struct FirstWeights {
  Weights weights;
  std::map<std::string, std::string> borrowed;  ///< targets without a head so far, and those whose heads they take
  std::vector<std::string> left;                ///< targets whose heads nothing goes on with
};

/// The weights of a network that was trained before, for training one like it: heads are known by their targets, and
/// new targets begin with the head of the nearest one. An error says in what the two networks differ.
Result<FirstWeights> weights_to_begin_with(const NetworkSpec& spec, const NetworkSpec& before, const Weights& weights,
                                           const UnitOf& unit_of);

}  // namespace hone::cost
