/// Lowering: from scheduled programs to the form that code generators write out.
#pragma once

#include "hone/codegen/pass_trace.h"
#include "hone/codegen/target.h"
#include "hone/ir/stmt.h"

namespace hone::codegen {

/// The *lowered form* of a scheduled function: no blocks; buffers of rank 1, allocated no larger and no further out
/// than their accesses need; serial and parallel loops only; explicit vectors and masks; accumulators in buffers of
/// scope Register with constant indices; no operand of any expression touches memory out of bounds. Loops bound to GPU
/// indices become serial loops.
Result<ir::Function> lower(const ir::Function& scheduled, const Target& target, const PassOptions& options = {});

}  // namespace hone::codegen
