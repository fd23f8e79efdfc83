/// What the default schedules ask of a block of a naive program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/schedule/trace.h"

namespace hone::space {

using schedule::Program;
using schedule::Schedule;

/// An iteration variable of a block whose loops are still the naive ones.
struct NaiveLoop {
  std::string name;
  ir::Expr var;  ///< as the block's body knows it
  std::int64_t extent = 0;
  bool is_reduction = false;
};

/// The extent of a loop, 0 if there is none of that name or it is not a constant.
std::int64_t extent_of(const Program& program, const std::string& loop);

/// The loops of a block, outermost first; none if they are no longer the naive ones.
std::vector<NaiveLoop> naive_loops(const Program& program, std::string_view block);

/// How a block reads one element of a buffer.
struct Read {
  ir::Expr buffer;
  std::vector<ir::Expr> indices;

  bool uses(const NaiveLoop& loop) const;
  /// Whether the loop's variable occurs in the last index alone, times 1.
  bool is_contiguous_in(const NaiveLoop& loop) const;
  /// Whether the loop's variable occurs at most in the last index, times a constant.
  bool is_strided_in(const NaiveLoop& loop) const;
  /// Whether the iterations of `loop` read within as many neighbouring elements as there are iterations, whatever the
  /// other loops are at: as channels of a grouped convolution do, several of which read one input channel.
  bool is_within_reach_in(const NaiveLoop& loop, std::span<const NaiveLoop> loops) const;
  /// Whether the buffer is one of these parameters of the program, whose values are constant.
  bool is_constant(const Program& program, std::span<const std::size_t> constants) const;
  std::int64_t elements() const;
};

/// All loads of the block but those of what it writes.
std::vector<Read> reads_of(const ir::Block& block);

/// Applies a step if it is legal; says whether it was.
bool attempt(Schedule& draft, const schedule::Step& step);

/// Vectorizes the innermost loop around a block that does not reduce, in whole vectors with a masked tail.
void vectorize_last(Schedule& draft, const std::string& block, const codegen::Target& target);

/// Whether threads that share equal iterations have about equally much to do.
bool is_even(std::int64_t iterations, int threads);

/// Whether a block has so much to do that waking other threads pays.
bool is_worth_threads(const Program& program, const std::string& block);

/// Marks the outer loops of a block parallel: as many of them, fused, as give each thread as much to do as the others.
/// Only the first `depth` loops are touched.
void parallelize(Schedule& draft, const std::string& block, std::size_t depth, const codegen::Target& target);

}  // namespace hone::space
