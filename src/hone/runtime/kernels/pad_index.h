/// Padding modes: which element of an axis stands at a place outside it.
#pragma once

#include <string_view>

#include "hone/runtime/kernels/shape_rules.h"

namespace hone::runtime {

/// What stands outside an axis: one value, the nearest element, the mirror image without the edge itself, or the axis
/// again from its other end.
enum class PadMode { Constant, Edge, Reflect, Wrap };

Result<PadMode> pad_mode_named(std::string_view name);

/// Only an axis with elements can be continued, but for constants.
Result<void> check_pad(const Shape& shape, const Padding& padding, PadMode mode);

/// The element that stands at place `at`, which may be negative or beyond the end; -1 if it is the constant.
std::int64_t pad_index(std::int64_t at, std::int64_t extent, PadMode mode);

}  // namespace hone::runtime
