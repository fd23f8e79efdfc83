#include "hone/runtime/kernels/letter_case.h"

#include <cwctype>

#include "hone/runtime/kernels/utf8.h"

namespace hone::runtime {
namespace {

template <typename Change>
std::string changed(std::string_view text, const Change& change) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character character = next_utf8(text);
    text.remove_prefix(character.bytes);
    if (character.is_valid)
      append_utf8(result, change(character.code));
    else
      result += static_cast<char>(character.code);
  }
  return result;
}

}  // namespace

LetterCase::LetterCase(const std::string& locale) {
  for (const std::string& wanted : {locale + ".UTF-8", locale, std::string("C.UTF-8")}) {
    locale_ = newlocale(LC_CTYPE_MASK, wanted.c_str(), nullptr);
    if (locale_) return;
  }
}

LetterCase::~LetterCase() {
  if (locale_) freelocale(locale_);
}

char32_t LetterCase::lower(char32_t code) const {
  const auto letter = static_cast<wint_t>(code);
  return static_cast<char32_t>(locale_ ? towlower_l(letter, locale_) : towlower(letter));
}

char32_t LetterCase::upper(char32_t code) const {
  const auto letter = static_cast<wint_t>(code);
  return static_cast<char32_t>(locale_ ? towupper_l(letter, locale_) : towupper(letter));
}

std::string LetterCase::lower(std::string_view text) const {
  return changed(text, [&](char32_t code) { return lower(code); });
}

std::string LetterCase::upper(std::string_view text) const {
  return changed(text, [&](char32_t code) { return upper(code); });
}

}  // namespace hone::runtime
