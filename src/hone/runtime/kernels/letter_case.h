/// Upper and lower case of letters, by the rules of a locale of the C library.
#pragma once

#include <locale.h>
#include <string>
#include <string_view>

namespace hone::runtime {

/// The rules of one locale, such as "en_US"; of one that the system does not have, the general ones of Unicode.
class LetterCase {
 public:
  explicit LetterCase(const std::string& locale = "en_US");
  ~LetterCase();
  LetterCase(const LetterCase&) = delete;
  LetterCase& operator=(const LetterCase&) = delete;

  char32_t lower(char32_t code) const;
  char32_t upper(char32_t code) const;
  /// The same for each character of a text in UTF-8.
  std::string lower(std::string_view text) const;
  std::string upper(std::string_view text) const;

 private:
  locale_t locale_ = nullptr;
};

}  // namespace hone::runtime
