/// Conversions between all element types that hold numbers, as expressions.
#pragma once

#include <string>

#include "hone/graph/operator.h"
#include "hone/ir/expr.h"

namespace hone::graph {

/// What conversions to narrow floats do, as the attributes of Cast say it.
struct ConvertOptions {
  bool saturate = true;           ///< F8 kinds: numbers that are too large become the largest one, else infinity or NaN
  std::string round_mode = "up";  ///< F8E8M0: up, down or nearest
  bool clamps_integers = false;   ///< floats to integers below 8 bits: the nearest one, instead of the lowest bits
};

/// An element as expressions hold it (u8 or i8 for storage-only types), converted from one type to another. Integers
/// that do not fit lose their higher bits.
ir::Expr convert(const ir::Expr& value, ElementType from, ElementType to, const ConvertOptions& options = {});

/// The number that an element stands for: f32 for narrow floats below 16 bits, otherwise the value itself.
ir::Expr to_number(const ir::Expr& value, ElementType type);

/// Integers of the type's range from any integer: the nearest one, or the one with the same lowest bits.
ir::Expr clamp_to(const ir::Expr& value, ElementType type);
ir::Expr wrap_to(const ir::Expr& value, ElementType type);

/// The smallest and the largest number of an integer type of at most 32 bits.
std::int64_t least_of(ElementType type);
std::int64_t greatest_of(ElementType type);

/// The bits an element has: 4 for U4, 1 for bool.
int width_of(ElementType type);

}  // namespace hone::graph
