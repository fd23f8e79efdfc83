/// Host kernels of conversions that involve strings or complex numbers.
#pragma once

#include <string>
#include <string_view>

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// Cast to attribute `to`, or CastLike to the type of the second input, from or to strings.
Result<void> cast_kernel(HostCall& call);

/// The same bytes as elements of the type that attribute `to` names.
Result<void> bit_cast_kernel(HostCall& call);

/// The number as text: the fewest digits that tell it from its neighbours, with an exponent if it is below 1e-4 or from
/// 1e16 on; "1.0", "1e-05", "inf", "nan".
std::string float_text(float value);
std::string double_text(double value);

/// The number that a text stands for: plain or with an exponent, "inf", "+INF", "NaN", with spaces around it.
Result<double> parse_number(std::string_view text);

}  // namespace hone::runtime
