/// Compares what a model computed with what a test case expects.
#pragma once

#include <optional>
#include <string>

#include "hone/runtime/value.h"

namespace hone::conformance {

/// How far floats may be apart: |found - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// The first difference in words, or none. Kind, type and shape must be the same; NaN equals NaN; integers, booleans
/// and strings must be equal.
std::optional<std::string> difference(const runtime::Value& found, const runtime::Value& expected,
                                      const Tolerance& tolerance);

}  // namespace hone::conformance
