/// What layouts cost: about how many cycles a kernel takes, given how the values that it reads and writes are stored.
///
/// Each result of a kernel is computed in vectors, whose lanes run along one axis: the last one of the result, or, as
/// soon as a value is stored in blocks, the one that is. A value that is stored along the same axis is loaded and
/// stored in whole vectors; any other is gathered or scattered element by element. So the lanes are what a kernel's
/// values have to agree on, and its cost is a sum of terms about the lanes and one value each. That is written as one
/// cost table where values are few. Where they are many, as where tensors are joined, there is one more variable for
/// the lanes, whose tables are about it and one value each; it may then take lanes along blocks that no value has.
///
/// The estimate knows the sums (convolutions, pooling) and their schedules in `space/` by a few constants, which
/// `bench_layer --layouts` shows beside measured times. Memory that all layouts read alike is not counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/graph/cost_tables.h"
#include "hone/ir/stmt.h"
#include "hone/runtime/element_type.h"

namespace hone::graph {

/// The processor, as far as layouts matter.
struct LayoutMachine {
  std::int64_t lanes = 1;          ///< floats of a vector
  std::int64_t multiply_adds = 1;  ///< of vectors, that begin in a cycle
};

/// A parameter of a kernel: the blocks of channels (0 is plain) in which it may be stored.
struct LayoutParam {
  std::vector<std::int64_t> shape;  ///< as if it were plain
  std::vector<std::int64_t> blocks = {0};
  bool is_constant = false;  ///< kernels pack constants as they like
};

/// The costs of a kernel. Variable i is the layout of parameter i; those behind them are lanes of results.
struct KernelCosts {
  std::vector<std::size_t> counts;
  std::vector<CostTable> tables;
};

/// The costs of the kernel of a naive program; `is_winograd` if its convolution is computed by Winograd's algorithm.
KernelCosts kernel_costs(const ir::Function& program, std::span<const LayoutParam> params, bool is_winograd,
                         const LayoutMachine& machine);

}  // namespace hone::graph
