/// Splitting off the packing of inputs, so that weights are packed once and not with every call.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/schedule/program.h"

namespace hone::schedule {

/// The annotation of blocks that only bring an input into another layout.
inline constexpr std::string_view kPrepack = "prepack";

/// Splits a program with packing blocks (see transform_layout) in two. The first function, `NAME.prepare`, takes the
/// inputs that are packed, then the packed buffers, and fills these. The second has the name and parameters of the
/// program, with each packed input replaced by its packed buffer. An error if there is nothing to split off, if a
/// packed input is read elsewhere or packed twice, or if packing was moved into another computation or its buffer out
/// of global memory. What is computed in the nest of a packing block, and for it alone, goes with it.
Result<std::pair<Program, Program>> split_prepack(const Program& program);

/// A scheduled program in the form in which kernels are called (see "Kernels and the runtime" in ARCHITECTURE.md), with
/// what brings its constant inputs into the layout it wants.
struct KernelProgram {
  Program main;  ///< as many parameters as the naive program, in the same order
  /// Packs constants ahead of time: takes the inputs at the places `packed`, then the buffers that main takes instead.
  std::optional<Program> prepare;
  std::vector<std::size_t> packed;  ///< places among the parameters of main, in the order in which prepare takes them
};

/// A scheduled program as a KernelProgram: what packs inputs is split off where split_prepack can do that.
KernelProgram split_packing(const Program& program);

}  // namespace hone::schedule
