/// What the results of a kernel are computed from: its reads, seen through all tensors in between.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hone/ir/stmt.h"

namespace hone::graph {

/// A variable of a nest of loops.
struct LoopVariable {
  ir::Expr var;
  std::int64_t extent = 1;
};

/// A read of a parameter.
struct KernelRead {
  std::size_t param = 0;
  std::vector<ir::Expr> indices;  ///< in the variables of the result
  double count = 0;               ///< how often it happens, or what is made of it is read by a sum
  double copies = 0;              ///< how often it happens if a sum reads a copy, as where it is padded; 0 if not
  bool is_summed = false;         ///< whether it is part of a sum
};

/// One result of a kernel as if one nest computed it: for each point of `spatial` sums over all of `reduced`.
struct KernelResult {
  std::size_t param = 0;
  std::vector<LoopVariable> spatial;  ///< one for each axis, in order; extents of 1 may have none but their place
  std::vector<LoopVariable> reduced;
  std::vector<KernelRead> reads;
  double points = 1;        ///< of the result
  double steps = 0;         ///< of all sums together; 0 if nothing is summed
  bool sums_apart = false;  ///< whether sums are stored in a tensor of their own, and the result follows from that
};

/// Views a naive program like this: a result for each parameter that is written. Nothing if it is not of the usual form
/// (each tensor written once, at its loops' variables) or if hundreds of reads come together.
std::optional<std::vector<KernelResult>> kernel_results(const ir::Function& program);

}  // namespace hone::graph
