/// Turns loops that combine the lanes of a vector into one element into code on explicit vectors.
#pragma once

#include <string_view>

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// The annotation of a loop whose iterations may be combined in any order.
inline constexpr std::string_view kReduceLanes = "reduce_lanes";

/// Replaces each loop annotated `reduce_lanes` that does nothing but add (multiply, or take the least or largest of)
/// several vectors' elements into one by a few operations on vectors. Other loops stay as they are: the annotation is a
/// hint.
/// Before: no blocks, buffers are flat, loads inside Selects are masked.
ir::Function reduce_lanes(const ir::Function& function, int vector_bits);

}  // namespace hone::codegen
