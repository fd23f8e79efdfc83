/// Kernels of model files in all layouts of their values.
#pragma once

#include <string>

namespace hone::bench {

/// Times each distinct kernel of a model on one thread, in every combination of layouts of what it reads and writes.
/// Prints a line for each, columns apart by tabs: model, operators, shapes (of constants in brackets), the block of
/// each value that is no constant (0 is plain), the fastest time in nanoseconds, and the cycles that
/// graph/layout_cost.h expects.
void time_layouts(const std::string& file, const std::string& only, int rounds);

}  // namespace hone::bench
