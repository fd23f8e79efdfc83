#include "hone/runtime/kernels/image_formats.h"

#ifdef HONE_HAS_JPEG2000
#include <algorithm>
#include <cstring>
#include <memory>
#include <openjpeg.h>

namespace hone::runtime {
namespace {

OPJ_SIZE_T read(void* target, OPJ_SIZE_T bytes, void* user) {
  auto& memory = *static_cast<FileInMemory*>(user);
  const std::size_t count = std::min<std::size_t>(bytes, memory.file.size() - memory.at);
  if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(target, memory.file.data() + memory.at, count);
  memory.at += count;
  return count;
}

OPJ_OFF_T skip(OPJ_OFF_T bytes, void* user) {
  auto& memory = *static_cast<FileInMemory*>(user);
  const auto left = static_cast<OPJ_OFF_T>(memory.file.size() - memory.at);
  if (bytes < 0 || bytes > left) return -1;
  memory.at += static_cast<std::size_t>(bytes);
  return bytes;
}

OPJ_BOOL seek(OPJ_OFF_T offset, void* user) {
  auto& memory = *static_cast<FileInMemory*>(user);
  if (offset < 0 || static_cast<std::size_t>(offset) > memory.file.size()) return OPJ_FALSE;
  memory.at = static_cast<std::size_t>(offset);
  return OPJ_TRUE;
}

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

/// A component's value at a place of the whole image, as a byte.
std::uint8_t sample(const opj_image_comp_t& component, std::int64_t x, std::int64_t y) {
  const std::int64_t column = std::min<std::int64_t>(x / component.dx, component.w - 1);
  const std::int64_t row = std::min<std::int64_t>(y / component.dy, component.h - 1);
  std::int64_t value = component.data[row * component.w + column];
  if (component.sgnd) value += std::int64_t{1} << (component.prec - 1);
  value = component.prec > 8 ? value >> (component.prec - 8) : value << (8 - component.prec);
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255));
}

/// Luminance and two differences of color, as JPEG has them, to RGB.
void convert_ycc(std::uint8_t* pixel) {
  const double y = pixel[0], blue = pixel[1] - 128.0, red = pixel[2] - 128.0;
  const double rgb[] = {y + 1.402 * red, y - 0.344136 * blue - 0.714136 * red, y + 1.772 * blue};
  for (int i = 0; i < 3; ++i) pixel[i] = static_cast<std::uint8_t>(std::clamp(rgb[i] + 0.5, 0.0, 255.0));
}

}  // namespace

Result<Image> decode_jpeg2000(EncodedImage file) {
  FileInMemory memory{file};
  const bool is_stream = file[0] == 0xFF;
  const std::unique_ptr<opj_codec_t, Free<opj_destroy_codec>> codec(
      static_cast<opj_codec_t*>(opj_create_decompress(is_stream ? OPJ_CODEC_J2K : OPJ_CODEC_JP2)));
  const std::unique_ptr<opj_stream_t, Free<opj_stream_destroy>> stream(
      static_cast<opj_stream_t*>(opj_stream_create(std::max<std::size_t>(file.size(), 1), OPJ_TRUE)));
  if (!codec || !stream) return error(ErrorCode::OutOfMemory, "no memory to read a JPEG 2000 file");
  opj_stream_set_user_data(stream.get(), &memory, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), read);
  opj_stream_set_skip_function(stream.get(), skip);
  opj_stream_set_seek_function(stream.get(), seek);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* read_image = nullptr;
  if (!opj_setup_decoder(codec.get(), &parameters) || !opj_read_header(stream.get(), codec.get(), &read_image)) {
    if (read_image) opj_image_destroy(read_image);
    return broken_image("JPEG 2000", "the header is damaged");
  }
  const std::unique_ptr<opj_image_t, Free<opj_image_destroy>> picture(read_image);
  HONE_TRY(Image image, Image::make(std::int64_t{picture->x1} - picture->x0, std::int64_t{picture->y1} - picture->y0));
  if (!opj_decode(codec.get(), stream.get(), picture.get())) return broken_image("JPEG 2000", "the data is damaged");
  const std::uint32_t count = picture->numcomps;
  for (std::uint32_t i = 0; i < count; ++i) {
    const opj_image_comp_t& component = picture->comps[i];
    if (!component.data || component.w == 0 || component.h == 0 || component.prec == 0 || component.prec > 31 ||
        component.dx == 0 || component.dy == 0)
      return broken_image("JPEG 2000", "a component is empty");
  }
  if (count == 0) return broken_image("JPEG 2000", "it has no components");
  const bool is_ycc = count >= 3 && picture->color_space == OPJ_CLRSPC_SYCC;
  for (std::int64_t y = 0; y < image.height; ++y)
    for (std::int64_t x = 0; x < image.width; ++x) {
      std::uint8_t* pixel = image.row(y) + x * 3;
      for (std::uint32_t i = 0; i < 3; ++i) pixel[i] = sample(picture->comps[count >= 3 ? i : 0], x, y);
      if (is_ycc) convert_ycc(pixel);
    }
  return image;
}

}  // namespace hone::runtime
#else
hone::Result<hone::runtime::Image> hone::runtime::decode_jpeg2000(EncodedImage) { return missing_format("JPEG 2000"); }
#endif
