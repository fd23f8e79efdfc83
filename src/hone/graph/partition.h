/// Partition: cuts a stage into groups of nodes, each of which becomes one kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/graph/operator.h"
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
Result<ir::Function> lower(const Stage& stage, const Group& group, const Algorithm& algorithm = {});

/// A convolution that Winograd's algorithm may compute: 3 by 3, of floats, by a constant weight.
struct WinogradShape {
  std::int64_t images = 0, in_channels = 0, out_channels = 0, height = 0, width = 0;  ///< of the result
};

/// The convolution of a group, if Winograd's algorithm may compute it.
std::optional<WinogradShape> winograd_shape(const Stage& stage, const Group& group);

/// The operators of a group: "Conv+Add+Relu".
std::string describe(const Stage& stage, const Group& group);

}  // namespace hone::graph
