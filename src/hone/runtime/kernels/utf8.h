/// UTF-8: reading and writing single characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::runtime {

/// The first character of a text. A byte that is not part of valid UTF-8 stands for itself, with `is_valid` false.
struct Utf8Character {
  char32_t code = 0;
  std::uint8_t bytes = 1;
  bool is_valid = false;
};

/// Reads the first character of a text that is not empty.
Utf8Character next_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code);

}  // namespace hone::runtime
