#include "hone/runtime/kernels/image_formats.h"

#ifdef HONE_HAS_TIFF
#include <algorithm>
#include <cstring>
#include <memory>
#include <tiffio.h>

namespace hone::runtime {
namespace {

tmsize_t read(thandle_t handle, void* target, tmsize_t bytes) {
  auto& memory = *static_cast<FileInMemory*>(handle);
  if (bytes < 0 || memory.at >= memory.file.size()) return 0;
  const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(bytes), memory.file.size() - memory.at);
  std::memcpy(target, memory.file.data() + memory.at, count);
  memory.at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t refuse_write(thandle_t, void*, tmsize_t) { return 0; }

toff_t seek(thandle_t handle, toff_t offset, int origin) {
  auto& memory = *static_cast<FileInMemory*>(handle);
  memory.at = offset + (origin == SEEK_CUR ? memory.at : origin == SEEK_END ? memory.file.size() : 0);
  return memory.at;
}

int close(thandle_t) { return 0; }
toff_t size(thandle_t handle) { return static_cast<FileInMemory*>(handle)->file.size(); }

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

}  // namespace

Result<Image> decode_tiff(EncodedImage file) {
  // Handlers of messages are global: the library is silent, for the whole process.
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  FileInMemory memory{file};
  const std::unique_ptr<TIFF, Close> tiff(
      TIFFClientOpen("memory", "rm", &memory, read, refuse_write, seek, close, size, nullptr, nullptr));
  if (!tiff) return broken_image("TIFF", "the header is damaged");
  std::uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  HONE_TRY(Image image, Image::make(width, height));
  std::vector<std::uint32_t> pixels(static_cast<std::size_t>(width) * height);
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, pixels.data(), ORIENTATION_TOPLEFT, 1))
    return broken_image("TIFF", "the data is damaged, or of an unknown kind");
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    image.pixels[i * 3] = static_cast<std::uint8_t>(TIFFGetR(pixels[i]));
    image.pixels[i * 3 + 1] = static_cast<std::uint8_t>(TIFFGetG(pixels[i]));
    image.pixels[i * 3 + 2] = static_cast<std::uint8_t>(TIFFGetB(pixels[i]));
  }
  return image;
}

}  // namespace hone::runtime
#else
hone::Result<hone::runtime::Image> hone::runtime::decode_tiff(EncodedImage) { return missing_format("TIFF"); }
#endif
