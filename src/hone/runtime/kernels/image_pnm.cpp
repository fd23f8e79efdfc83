#include <optional>

#include "hone/runtime/kernels/image_formats.h"

namespace hone::runtime {
namespace {

/// Reads the numbers of a PNM file, between which white space and comments may stand.
class PnmReader {
 public:
  explicit PnmReader(EncodedImage file) : file_(file) {}

  bool at_end() const { return at_ >= file_.size(); }
  std::uint8_t byte() { return file_[at_++]; }
  std::size_t left() const { return file_.size() - at_; }
  void skip_one() {
    if (!at_end()) ++at_;
  }

  std::optional<std::int64_t> number() {
    skip_space();
    std::optional<std::int64_t> value;
    for (; !at_end() && file_[at_] >= '0' && file_[at_] <= '9'; ++at_) {
      value = value.value_or(0) * 10 + (file_[at_] - '0');
      if (*value > INT32_MAX) return std::nullopt;
    }
    return value;
  }

  /// A pixel of P1, whose digits need no space between them.
  std::optional<std::int64_t> bit() {
    skip_space();
    if (at_end() || (file_[at_] != '0' && file_[at_] != '1')) return std::nullopt;
    return file_[at_++] - '0';
  }

 private:
  void skip_space() {
    while (!at_end()) {
      const char c = static_cast<char>(file_[at_]);
      if (c == '#') {
        while (!at_end() && file_[at_] != '\n') ++at_;
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        ++at_;
      } else {
        return;
      }
    }
  }

  EncodedImage file_;
  std::size_t at_ = 2;  // behind "P6"
};

}  // namespace

Result<Image> decode_pnm(EncodedImage file) {
  const int kind = file[1] - '0';
  const bool is_text = kind <= 3, is_bitmap = kind == 1 || kind == 4, has_colors = kind == 3 || kind == 6;
  PnmReader reader(file);
  const auto width = reader.number(), height = reader.number();
  const auto white = is_bitmap ? std::optional<std::int64_t>(1) : reader.number();
  if (!width || !height || !white || *white < 1 || *white > 65535)
    return broken_image("PNM", "width, height or the largest value is missing");
  HONE_TRY(Image image, Image::make(*width, *height));
  reader.skip_one();  // the white space behind the header

  const auto next = [&]() -> std::optional<std::int64_t> {
    if (is_text) return is_bitmap ? reader.bit() : reader.number();
    if (reader.left() < (*white > 255 ? 2u : 1u)) return std::nullopt;
    const std::int64_t high = reader.byte();
    return *white > 255 ? high * 256 + reader.byte() : high;
  };
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::int64_t bits = 0;
    for (std::int64_t x = 0; x < image.width; ++x) {
      std::uint8_t* pixel = image.row(y) + x * 3;
      for (int channel = 0; channel < (has_colors ? 3 : 1); ++channel) {
        std::optional<std::int64_t> value;
        if (kind == 4) {
          if (x % 8 == 0) {
            if (reader.at_end()) return broken_image("PNM", "it ends too early");
            bits = reader.byte();
          }
          value = (bits >> (7 - x % 8)) & 1;
        } else {
          value = next();
        }
        if (!value || *value > *white) return broken_image("PNM", "it ends too early, or a value is too large");
        if (is_bitmap) value = 1 - *value;  // 1 is black
        pixel[channel] = static_cast<std::uint8_t>((*value * 255 + *white / 2) / *white);
      }
      if (!has_colors) pixel[1] = pixel[2] = pixel[0];
    }
  }
  return image;
}

}  // namespace hone::runtime
