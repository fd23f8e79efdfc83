/// The schedule primitives: checked rewrites from program to program.
///
/// Each returns the new program, or an error that says why the step is illegal. The program given is never changed.
/// After a legal step the program still verifies, and computes the same values (floating sums may be reordered where a
/// step reorders a reduction).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/schedule/program.h"

namespace hone::schedule {

/// In split: the factor that is as large as needed to cover the loop.
inline constexpr std::int64_t kRest = 0;

// Loops (loops.cpp) ---------------------------------------------------------------------------------------------------

/// Splits loop `i` into `i.0`, `i.1`, …, outermost first. At most one factor is kRest. If the product exceeds the
/// extent, the iterations beyond it are guarded.
Result<Program> split(const Program& program, std::string_view loop, std::span<const std::int64_t> factors);
/// Fuses loops nested directly in each other, outermost first, into one: `i`, `j` give `i@j`.
Result<Program> fuse(const Program& program, std::span<const std::string> loops);
/// Puts the loops, which stand in one chain of directly nested loops, into this order; others keep their places.
Result<Program> reorder(const Program& program, std::span<const std::string> loops);
/// Marks a loop whose iterations are independent to run on several workers, in SIMD lanes, or on a GPU index.
Result<Program> parallel(const Program& program, std::string_view loop);
Result<Program> vectorize(const Program& program, std::string_view loop);
Result<Program> bind(const Program& program, std::string_view loop, ir::ForKind index);
/// Marks a loop to be written out as copies of its body.
Result<Program> unroll(const Program& program, std::string_view loop);
/// Attaches a hint to the loop or block of this name (loops are looked up first).
Result<Program> annotate(const Program& program, std::string_view target, std::string_view key, std::string_view value);

// Where a block is computed (compute_at.cpp, reverse_compute_at.cpp, inline.cpp) --------------------------------------

/// Moves a producer under a loop around all its consumers, computing there only what one iteration needs.
Result<Program> compute_at(const Program& program, std::string_view block, std::string_view loop);
/// Moves a consumer under a loop around its producers, computing there all that one iteration produced.
Result<Program> reverse_compute_at(const Program& program, std::string_view block, std::string_view loop);
/// Computes an elementwise or otherwise injective block wherever its value is read, and drops its buffer.
Result<Program> compute_inline(const Program& program, std::string_view block);
/// Applies a consumer to each element as its only producer makes it, and drops the buffer between.
Result<Program> reverse_compute_inline(const Program& program, std::string_view block);

// Copies (cache.cpp) --------------------------------------------------------------------------------------------------

/// Lets `block` read `buffer` through a copy in `scope`: a new block and buffer `buffer.scope`, right before the nest.
Result<Program> cache_read(const Program& program, std::string_view block, std::string_view buffer, ir::Scope scope);
/// Lets `block` write its only output through a copy in `scope`, which a new block then writes to `buffer`.
Result<Program> cache_write(const Program& program, std::string_view block, ir::Scope scope);

// Reductions (rfactor.cpp, reduction.cpp) -----------------------------------------------------------------------------

/// Splits a reduction over `loop` off into partial results: block `B.rf` reduces, for each value of the loop, over the
/// other reduction loops into `buffer.rf`, whose first axis is the loop; then the block reduces over that axis.
Result<Program> rfactor(const Program& program, std::string_view block, std::string_view loop);
/// Moves the initialisation of a reduction into a block of its own, `B.init`, right before `loop`.
Result<Program> decompose_reduction(const Program& program, std::string_view block, std::string_view loop);

// Storage (storage.cpp, layout.cpp, pad.cpp, split_variable.cpp) ------------------------------------------------------

/// Moves an allocated buffer to another kind of memory.
Result<Program> set_scope(const Program& program, std::string_view buffer, ir::Scope scope);
/// Pads rows of an allocated buffer so that the stride of `axis` (from 0) leaves `offset` when divided by `factor`. A
/// second call for an axis replaces the first.
Result<Program> storage_align(const Program& program, std::string_view buffer, std::int64_t axis, std::int64_t factor,
                              std::int64_t offset);
/// Stores the elements of a buffer in another order, given as text: "(k, n) -> (n // 16, k, n % 16)". An input of the
/// function is copied once, to `buffer.packed`, by a block annotated `prepack`, which prepack.h can split off to run
/// ahead of time. The map must send the elements to different places; places that no element goes to are never read.
Result<Program> transform_layout(const Program& program, std::string_view buffer, std::string_view map);
/// Rounds the extents of a block's iteration variables up to multiples, by computing on copies of its inputs with zeros
/// around them (blocks `input.pad`) and cutting the output (block `output.unpad`). One multiple per iteration variable;
/// 1 leaves it alone. The loops must be the naive ones, the indices plain variables; a reduction variable may grow if
/// the block sums products whose elements all depend on it.
Result<Program> pad(const Program& program, std::string_view block, std::span<const std::int64_t> multiples);
/// Replaces iteration variable `v` of a block by two, `v.0` and `v.1`, the second running over `factor` values, and its
/// loop likewise; `v.1` comes last of its kind. The loops must be the naive ones, and the factor divide the extent. So
/// a block that reads a tensor of blocked layout runs along its axes.
Result<Program> split_variable(const Program& program, std::string_view block, std::string_view variable,
                               std::int64_t factor);
/// Gives an allocated buffer two copies, used in turn by the iterations of a loop around all its uses.
Result<Program> double_buffer(const Program& program, std::string_view buffer, std::string_view loop);

// Latency (pipeline.cpp, prefetch.cpp) --------------------------------------------------------------------------------

/// Overlaps the iterations of a serial loop: the first statement of the body runs one iteration ahead of the others, on
/// two copies of the buffers that pass between them, each as large as one iteration needs. The first iteration's copy
/// of the statement stands before the loop; its loops and blocks have `.prologue` after their names.
Result<Program> software_pipeline(const Program& program, std::string_view loop);
/// Fetches the elements of `buffer` that the body of `loop` will touch `distance` iterations later, one cache line of a
/// row at a time, at the start of each iteration.
Result<Program> prefetch(const Program& program, std::string_view buffer, std::string_view loop, std::int64_t distance);
/// Fetches the elements of `buffer` that the body of `loop` will touch `distance` iterations later, in equal shares at
/// the start of each iteration of `inner`, a loop inside of it: a block that is too large to be fetched at once arrives
/// while the block before it is in use. Blocks that would push the present one out of the L1 cache arrive in the L2
/// only.
Result<Program> spread_prefetch(const Program& program, std::string_view buffer, std::string_view loop,
                                std::string_view inner, std::int64_t distance);

// Intrinsics (tensorize.cpp) ------------------------------------------------------------------------------------------

/// Replaces the nest that starts at `loop` by the tensor intrinsic of this name (tensor_intrinsics.h), whose meaning
/// and strides it must match. The reduction must be decomposed, and no tail may be left within the nest.
Result<Program> tensorize(const Program& program, std::string_view loop, std::string_view intrinsic);

// Agreements with the caller (layout.cpp) -----------------------------------------------------------------------------

/// Expects a parameter in another layout, given as text as for transform_layout. No step of a trace: the caller must
/// pass the parameter so.
Result<Program> set_param_layout(const Program& program, std::size_t param, std::string_view map);

}  // namespace hone::schedule
