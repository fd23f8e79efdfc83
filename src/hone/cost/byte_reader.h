/// Numbers and texts as bytes, and reading them back without trusting them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "hone/support/result.h"

namespace hone::cost {

template <typename Number>
void append(std::string& bytes, Number number) {
  static_assert(std::is_arithmetic_v<Number>);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

inline void append_text(std::string& bytes, std::string_view text) {
  append<std::uint64_t>(bytes, text.size());
  bytes += text;
}

/// Takes numbers and texts from the front of bytes; each error says where they end too early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename Number>
  Result<Number> number() {
    HONE_TRY(const std::string_view part, take(sizeof(Number)));
    Number value;
    std::memcpy(&value, part.data(), part.size());
    return value;
  }
  Result<std::string_view> text() {
    HONE_TRY(const std::uint64_t size, number<std::uint64_t>());
    return take(size);
  }
  Result<std::string_view> take(std::uint64_t size) {
    if (size > bytes_.size() - position_)
      return error(ErrorCode::ParseError, "bytes end at {}, after {} where {} more are announced", bytes_.size(),
                   position_, size);
    position_ += size;
    return bytes_.substr(position_ - size, size);
  }
  /// All that is left.
  std::string_view rest() {
    const std::string_view part = bytes_.substr(position_);
    position_ = bytes_.size();
    return part;
  }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

}  // namespace hone::cost
