#include "hone/runtime/kernels/image.h"

#include <algorithm>
#include <string_view>

#include "hone/runtime/kernels/image_formats.h"

namespace hone::runtime {
namespace {

struct Format {
  std::string_view begin;  ///< of every file of the format
  Result<Image> (*decode)(EncodedImage file);
};

constexpr std::string_view operator""_bytes(const char* text, std::size_t length) { return {text, length}; }

const Format kFormats[] = {
    {"BM", decode_bmp},
    {"\xFF\xD8\xFF", decode_jpeg},
    {"\0\0\0\x0CjP  \r\n\x87\n"_bytes, decode_jpeg2000},
    {"\xFF\x4F\xFF\x51", decode_jpeg2000},
    {"\x89PNG\r\n\x1A\n", decode_png},
    {"II*\0"_bytes, decode_tiff},
    {"MM\0*"_bytes, decode_tiff},
    {"RIFF", decode_webp},
    {"P1", decode_pnm},
    {"P2", decode_pnm},
    {"P3", decode_pnm},
    {"P4", decode_pnm},
    {"P5", decode_pnm},
    {"P6", decode_pnm},
};

Result<Image> decode(EncodedImage file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (const Format& format : kFormats)
    if (text.starts_with(format.begin)) return format.decode(file);
  return error(ErrorCode::InvalidArgument,
               "the {} bytes begin like no BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP file", file.size());
}

/// The luminance that ITU-R 601-2 gives, in fixed point.
std::uint8_t gray(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

}  // namespace

Result<Image> Image::make(std::int64_t width, std::int64_t height) {
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 27;
  if (width < 1 || height < 1 || width > kMaxPixels || height > kMaxPixels || width * height > kMaxPixels)
    return error(ErrorCode::InvalidArgument, "an image of {} x {} pixels, allowed are 1 to {}", width, height,
                 kMaxPixels);
  return Image{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height) * 3)};
}

Error broken_image(std::string_view format, std::string_view why) {
  return error(ErrorCode::InvalidArgument, "not a proper {} file: {}", format, why);
}

Error missing_format(std::string_view format) {
  return error(ErrorCode::Unsupported, "this build cannot read {} files", format);
}

Result<void> image_decoder(HostCall& call) {
  HONE_TRY(const Tensor file, call.tensor(0));
  if (file.type() != ElementType::U8 || file.rank() != 1)
    return error(ErrorCode::InvalidArgument, "the input must be uint8[bytes], found {}",
                 describe(file.type(), file.shape()));
  const std::string format = call.attributes.text("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    return error(ErrorCode::InvalidArgument, "pixel_format is '{}', allowed are RGB, BGR and Grayscale", format);
  HONE_TRY(const Image image, decode(file.as<std::uint8_t>()));
  const std::int64_t channels = format == "Grayscale" ? 1 : 3;
  HONE_TRY(Tensor output, call.output(0, ElementType::U8, {image.height, image.width, channels}));
  const auto pixels = output.as<std::uint8_t>();
  for (std::size_t i = 0; i < image.pixels.size() / 3; ++i) {
    const std::uint8_t* rgb = image.pixels.data() + i * 3;
    if (channels == 1)
      pixels[i] = gray(rgb);
    else if (format == "BGR")
      std::reverse_copy(rgb, rgb + 3, pixels.begin() + static_cast<std::ptrdiff_t>(i * 3));
    else
      std::copy(rgb, rgb + 3, pixels.begin() + static_cast<std::ptrdiff_t>(i * 3));
  }
  return {};
}

}  // namespace hone::runtime
