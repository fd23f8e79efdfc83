/// Partition: cuts a stage into groups of nodes, each of which becomes one kernel.
#pragma once

#include <string>
#include <vector>

#include "hone/graph/specialize.h"
#include "hone/ir/stmt.h"

namespace hone::graph {

/// Nodes that run as one step, in order: expressions that are fused, or a single host or view node.
struct Group {
  enum class Kind { Kernel, Host, View };

  Kind kind = Kind::Kernel;
  std::vector<std::size_t> nodes;
  /// What the kernel reads and writes; constants that are built into the code are not among the inputs.
  std::vector<ValueId> inputs, outputs;
};

/// Cuts the stage into groups, in an order in which they can run. An expression joins the group of a producer if it
/// reads that one's result element by element, and nobody else does.
Result<std::vector<Group>> partition(const Stage& stage);

/// The naive program of a Kernel group: its parameters are the inputs, then the outputs.
Result<ir::Function> lower(const Stage& stage, const Group& group);

/// The operators of a group: "Conv+Add+Relu".
std::string describe(const Stage& stage, const Group& group);

}  // namespace hone::graph
