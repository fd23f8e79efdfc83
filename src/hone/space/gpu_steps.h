/// What schedules for GPUs do to the loops around a block.
///
/// A program for a GPU is a list of kernels, one for each nest at its root. Loops bound to block indices stand outside,
/// then virtual threads, then threads; what the threads of a block share is filled by all of them together.
#pragma once

#include <string>
#include <vector>

#include "hone/space/blocks.h"

namespace hone::space {

/// Fuses loops around `block` that are nested in each other, outermost first; gives the name of what comes of it.
Result<std::string> fuse_loops(Schedule& draft, const std::string& block, const std::vector<std::string>& loops);
/// The same, and binds it.
Result<std::string> bind_fused(Schedule& draft, const std::string& block, const std::vector<std::string>& loops,
                               ir::ForKind index);

/// Binds the spatial loops of a block at the root that are the naive ones: blocks of so many threads, each of which has
/// one element; a single block if there are not more. Reductions stay within a thread. A block whose loops cannot run
/// so is left as it is: one thread does it.
void run_on_threads(Schedule& draft, const std::string& block, std::int64_t threads);

/// The loops of a naive block whose variables its formula depends on by cases, as those of Winograd's transforms do on
/// the points.
std::vector<std::string> formula_loops(const Program& program, const std::string& block);
/// Writes these loops out in each thread, and binds the others of a block at the root: blocks of so many threads. Gives
/// the loop of the threads, "" if there are no others.
Result<std::string> write_out_cases(Schedule& draft, const std::string& block, std::int64_t threads);

/// Moves a block that fills shared memory below `loop`, to compute there what all threads of the GPU block need. They
/// do it together, each `lanes` elements at a time.
Result<void> fill_together(Schedule& draft, const std::string& block, const std::string& loop, std::int64_t lanes);

/// Makes a shared copy of a buffer for `block` to read, and gives the block that fills it.
Result<std::string> share_operand(Schedule& draft, const std::string& block, const std::string& buffer);

/// Computes blocks that reduce nothing where they are read, as far as that is possible, but for those that fill shared
/// memory.
void inline_for_gpu(Schedule& draft);

/// Numbers of threads worth trying for a block of them: from a warp up to what the target allows.
std::vector<std::int64_t> thread_counts(const codegen::Target& target);

/// Schedules the naive program of a task without any decision: each block that cannot be computed where it is read is a
/// kernel of its own. There is always a program, and it is within the limits of every GPU.
Schedule gpu_default_schedule(const ir::Function& naive, const codegen::Target& target);

}  // namespace hone::space
