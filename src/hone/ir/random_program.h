/// Random programs for tests: well-typed functions that use every kind of node.
#pragma once

#include "hone/ir/stmt.h"
#include "hone/support/rng.h"

namespace hone::ir {

/// A function that verify() accepts. It is made to be printed, parsed, compared and rewritten, not to be run: indices
/// point anywhere, and divisors may be zero.
Function random_function(Rng& rng);

}  // namespace hone::ir
