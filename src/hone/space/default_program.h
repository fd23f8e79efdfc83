/// The default program of a task: a schedule that needs no search, good enough to run a model at once.
#pragma once

#include <cstddef>
#include <span>

#include "hone/codegen/target.h"
#include "hone/ir/stmt.h"
#include "hone/schedule/prepack.h"

namespace hone::space {

using DefaultProgram = schedule::KernelProgram;

/// The sizes of a convolution of a window of 3 by 3 positions.
struct Convolution3x3 {
  std::int64_t images, in_channels, out_channels, height, width;  ///< of the result
};

/// The tile of Winograd's algorithm that is likely the fastest for a convolution, 0 if the direct sum is: counts
/// multiplications, transforms, and the weights that must come from beyond the L2 cache.
std::int64_t default_winograd_tile(const Convolution3x3& conv, const codegen::Target& target);

/// Schedules the naive program of a task. Parameters at the places `constants` never change between runs. What cannot
/// be improved stays as it is: there is always a program.
DefaultProgram default_program(const ir::Function& naive, std::span<const std::size_t> constants,
                               const codegen::Target& target);

}  // namespace hone::space
