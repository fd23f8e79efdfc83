/// Splits loops where a guard inside is decided.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// A loop nest may be copied as long as its statements, with unrolled loops written out, number at most this.
inline constexpr std::int64_t kMaxPartitionedStatements = 256;

/// Splits the range of each loop into parts in which a guard inside always holds, never holds, or has to be asked: the
/// guard of a tail, or the Select of a padded border, then costs nothing in the main part. A serial loop becomes one
/// loop per part; the body of a parallel loop becomes one branch per part. Before: no blocks, guards simplified. After:
/// the same, with fewer guards inside loops.
ir::Function partition_loops(const ir::Function& function);

}  // namespace hone::codegen
