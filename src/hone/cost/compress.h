/// Bytes compressed by zstd, and back.
#pragma once

#include <string>
#include <string_view>

#include "hone/support/result.h"

namespace hone::cost {

/// Whether bytes are what compress makes.
bool is_compressed(std::string_view bytes);

/// As small as zstd makes them, which takes its time.
Result<std::string> compress(std::string_view bytes);

/// An error says what is wrong: not compressed, cut off, or damaged.
Result<std::string> decompress(std::string_view bytes);

}  // namespace hone::cost
