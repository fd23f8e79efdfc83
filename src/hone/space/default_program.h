/// The default program of a task: a schedule that needs no search, good enough to run a model at once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "hone/codegen/target.h"
#include "hone/ir/stmt.h"
#include "hone/schedule/prepack.h"
#include "hone/schedule/trace.h"
#include "hone/space/tile_choice.h"

namespace hone::space {

/// The sizes of a convolution of a window of 3 by 3 positions.
struct Convolution3x3 {
  std::int64_t images, in_channels, out_channels, height, width;  ///< of the result
};

/// The tile of Winograd's algorithm that is likely the fastest for a convolution, 0 if the direct sum is: counts
/// multiplications, transforms, and the weights that must come from beyond the L2 cache.
std::int64_t default_winograd_tile(const Convolution3x3& conv, const codegen::Target& target);

/// Schedules the naive program of a task block by block; `choice` is about the reduction with the most work. Parameters
/// at the places `constants` never change between runs. What cannot be improved stays as it is.
schedule::Schedule schedule_blocks(const ir::Function& naive, std::span<const std::size_t> constants,
                                   const codegen::Target& target, const TileChoice& choice = {});

/// The first steps of schedule_blocks: injective blocks are computed where they are read, and all blocks run along the
/// layouts of their tensors. Sums with weights at the places `constants` may be stored in blocks.
void inline_blocks(schedule::Schedule& draft, std::span<const std::size_t> constants, const codegen::Target& target);
/// Its last steps: schedules all blocks but `done`.
void schedule_other_blocks(schedule::Schedule& draft, const std::string& done, std::span<const std::size_t> constants,
                           const codegen::Target& target);

/// The reduction of a naive program with the most work, which TileChoice is about; empty if there is none.
std::string main_reduction(const ir::Function& naive);

/// Schedules programs that are known as a whole: attention, softmax and norms over rows. Nothing for others.
std::optional<schedule::Schedule> schedule_pattern(const ir::Function& naive, const codegen::Target& target);

/// Schedules the naive program of a task, whatever its algorithm. There is always a program.
schedule::Schedule default_schedule(const ir::Function& naive, std::span<const std::size_t> constants,
                                    const codegen::Target& target);
/// The same as a kernel.
schedule::KernelProgram default_program(const ir::Function& naive, std::span<const std::size_t> constants,
                                        const codegen::Target& target);

}  // namespace hone::space
