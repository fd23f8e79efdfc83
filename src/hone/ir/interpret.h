/// The reference interpreter: slow and obviously right; every differential test compares with it.
#pragma once

#include <span>
#include <vector>

#include "hone/ir/array.h"
#include "hone/ir/stmt.h"

namespace hone::ir {

/// Runs the function on one array per parameter. All loops run in order, one iteration after the other. Integers are
/// exact, floats are computed in double and rounded to their type after each operation. An access out of bounds, a read
/// of an element of an allocated buffer that was never written, or a division of integers by zero is an error that
/// names the buffer and the index found, and the index allowed. Arrays whose type or shape is not the parameter's are
/// an error.
Result<void> interpret(const Function& function, std::span<Array* const> args);
Result<void> interpret(const Function& function, std::vector<Array>& args);

/// One array of random_whole() per parameter; their shapes must be constant.
std::vector<Array> random_arguments(const Function& function, Rng& rng);

}  // namespace hone::ir
