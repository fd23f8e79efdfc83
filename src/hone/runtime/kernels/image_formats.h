/// Formats of pictures: each function reads a whole file into RGB pixels.
///
/// BMP and PNM are read by code of our own, the others by libraries that a build may lack; they are unsupported then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/support/result.h"

namespace hone::runtime {

/// Rows from top to bottom, three bytes per pixel: red, green, blue.
struct Image {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels;

  /// An image of this size, all black. Empty images, and those with more pixels than make sense, are refused.
  static Result<Image> make(std::int64_t width, std::int64_t height);
  std::uint8_t* row(std::int64_t y) { return pixels.data() + static_cast<std::size_t>(y * width) * 3; }
};

using EncodedImage = std::span<const std::uint8_t>;

/// A file of which a library has read `at` bytes.
struct FileInMemory {
  EncodedImage file;
  std::size_t at = 0;
};

Result<Image> decode_bmp(EncodedImage file);
Result<Image> decode_pnm(EncodedImage file);
Result<Image> decode_jpeg(EncodedImage file);
Result<Image> decode_jpeg2000(EncodedImage file);
Result<Image> decode_png(EncodedImage file);
Result<Image> decode_tiff(EncodedImage file);
Result<Image> decode_webp(EncodedImage file);

/// The error of a file that breaks the rules of its format.
Error broken_image(std::string_view format, std::string_view why);
/// The error of a build without the format's library.
Error missing_format(std::string_view format);

}  // namespace hone::runtime
