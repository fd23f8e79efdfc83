/// The passes that golden files can name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hone/support/result.h"

namespace hone::golden {

/// A function from text to text.
struct Pass {
  std::string_view name;
  Result<std::string> (*run)(std::string_view input);
};

/// All passes; to add one, add a line to the table in passes.cpp.
std::span<const Pass> passes();

}  // namespace hone::golden
