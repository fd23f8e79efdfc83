#include <algorithm>
#include <bit>

#include "hone/runtime/kernels/image_formats.h"

namespace hone::runtime {
namespace {

/// What the headers of a BMP file say.
struct Header {
  std::uint32_t pixels_at = 0, header_bytes = 0, bits = 0, compression = 0, colors = 0;
  std::int64_t width = 0, height = 0;
  bool is_top_down = false;
  std::uint32_t masks[3] = {};  ///< of red, green and blue, for 16 and 32 bits
};

class BmpReader {
 public:
  explicit BmpReader(EncodedImage file) : file_(file) {}

  bool has(std::size_t at, std::size_t count) const { return at <= file_.size() && count <= file_.size() - at; }
  std::uint32_t u8(std::size_t at) const { return file_[at]; }
  std::uint32_t u16(std::size_t at) const { return u8(at) | (u8(at + 1) << 8); }
  std::uint32_t u32(std::size_t at) const { return u16(at) | (u16(at + 2) << 16); }

 private:
  EncodedImage file_;
};

constexpr std::size_t kFileHeaderBytes = 14;
constexpr std::uint32_t kBitFields = 3;

Result<Header> read_header(const BmpReader& file) {
  if (!file.has(0, kFileHeaderBytes + 4)) return broken_image("BMP", "the header is cut off");
  Header header;
  header.pixels_at = file.u32(10);
  header.header_bytes = file.u32(kFileHeaderBytes);
  if (!file.has(kFileHeaderBytes, header.header_bytes)) return broken_image("BMP", "the header is cut off");
  if (header.header_bytes == 12) {
    header.width = file.u16(18);
    header.height = file.u16(20);
    header.bits = file.u16(24);
    return header;
  }
  if (header.header_bytes < 40) return broken_image("BMP", "the header is of an unknown kind");
  header.width = static_cast<std::int32_t>(file.u32(18));
  header.height = static_cast<std::int32_t>(file.u32(22));
  header.is_top_down = header.height < 0;
  if (header.is_top_down) header.height = -header.height;
  header.bits = file.u16(28);
  header.compression = file.u32(30);
  header.colors = file.u32(46);
  if (header.compression != 0 && header.compression != kBitFields)
    return error(ErrorCode::Unsupported, "compressed BMP files are not supported");
  if (header.compression == kBitFields) {
    // behind the smallest header, or part of the larger ones
    if (!file.has(kFileHeaderBytes + 40, 12)) return broken_image("BMP", "the masks are cut off");
    for (std::size_t i = 0; i < 3; ++i) header.masks[i] = file.u32(kFileHeaderBytes + 40 + i * 4);
  } else if (header.bits == 16) {
    header.masks[0] = 0x7C00, header.masks[1] = 0x03E0, header.masks[2] = 0x001F;
  } else {
    header.masks[0] = 0xFF0000, header.masks[1] = 0x00FF00, header.masks[2] = 0x0000FF;
  }
  return header;
}

/// The bits under a mask, stretched to 0..255.
std::uint8_t masked(std::uint32_t value, std::uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const std::uint64_t largest = mask >> shift;
  return static_cast<std::uint8_t>((static_cast<std::uint64_t>((value & mask) >> shift) * 255 + largest / 2) / largest);
}

}  // namespace

Result<Image> decode_bmp(EncodedImage bytes) {
  const BmpReader file(bytes);
  HONE_TRY(const Header header, read_header(file));
  const std::uint32_t bits = header.bits;
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32)
    return broken_image("BMP", "bits per pixel other than 1, 4, 8, 16, 24 or 32");
  HONE_TRY(Image image, Image::make(header.width, header.height));
  const std::size_t entry_bytes = header.header_bytes == 12 ? 3 : 4;
  const std::size_t palette =
      kFileHeaderBytes + header.header_bytes + (header.header_bytes == 40 && header.compression == kBitFields ? 12 : 0);
  const std::size_t colors = header.colors == 0 ? std::size_t{1} << std::min(bits, 8u) : header.colors;
  if (bits <= 8 && (colors > 256 || !file.has(palette, colors * entry_bytes)))
    return broken_image("BMP", "the palette is cut off");
  const auto row_bytes = static_cast<std::size_t>((image.width * bits + 31) / 32 * 4);
  if (!file.has(header.pixels_at, row_bytes * static_cast<std::size_t>(image.height)))
    return broken_image("BMP", "the pixels are cut off");

  for (std::int64_t y = 0; y < image.height; ++y) {
    const std::size_t row =
        header.pixels_at + row_bytes * static_cast<std::size_t>(header.is_top_down ? y : image.height - 1 - y);
    for (std::int64_t column = 0; column < image.width; ++column) {
      const auto x = static_cast<std::size_t>(column);
      std::uint8_t* pixel = image.row(y) + column * 3;
      if (bits <= 8) {
        const std::size_t per_byte = 8 / bits;
        const std::uint32_t shift = static_cast<std::uint32_t>(8 - bits - (x % per_byte) * bits);
        const std::uint32_t color = (file.u8(row + x / per_byte) >> shift) & ((1u << bits) - 1);
        if (color >= colors) return broken_image("BMP", "a pixel has a color that the palette lacks");
        for (std::size_t i = 0; i < 3; ++i)
          pixel[i] = static_cast<std::uint8_t>(file.u8(palette + color * entry_bytes + 2 - i));
      } else if (bits == 24) {
        for (std::size_t i = 0; i < 3; ++i) pixel[i] = static_cast<std::uint8_t>(file.u8(row + x * 3 + 2 - i));
      } else {
        const std::uint32_t value = bits == 16 ? file.u16(row + x * 2) : file.u32(row + x * 4);
        for (std::size_t i = 0; i < 3; ++i) pixel[i] = masked(value, header.masks[i]);
      }
    }
  }
  return image;
}

}  // namespace hone::runtime
