/// Compares what a program computed with what is expected.
#pragma once

#include <string>
#include <string_view>

#include "hone/measure/buffers.h"
#include "hone/measure/trial.h"

namespace hone::measure {

/// An output as it must be.
struct Expected {
  Buffer values;
  double scale = 0;  ///< the root mean square of its numbers
};

/// Computes the scale.
Expected expect(Buffer values);

/// What comparing found: Ok, WrongAnswer or NotANumber, with a message that names the first element that is wrong.
struct Comparison {
  TrialStatus status = TrialStatus::Ok;
  double largest_error = 0;
  std::string message;
};

/// The tolerance of TaskData for elements of this type, where none is given.
double default_tolerance(ir::DType type);

Comparison compare_values(std::string_view name, const Buffer& actual, const Expected& expected, double tolerance,
                          std::int64_t integer_tolerance);

/// Looks for NaN alone.
Comparison look_for_nan(std::string_view name, const Buffer& actual);

}  // namespace hone::measure
