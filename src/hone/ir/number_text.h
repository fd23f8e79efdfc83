/// Floating numbers as text: the shortest digits that give the number back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/ir/dtype.h"

namespace hone::ir {

/// The shortest decimal digits that float_from_text turns into `value` again; finite values only, no suffix.
std::string float_to_text(DType type, double value);

/// The value of the type nearest to the decimal digits, or nothing if they are none or too large for the type.
std::optional<double> float_from_text(DType type, std::string_view digits);

}  // namespace hone::ir
