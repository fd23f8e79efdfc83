#include "hone/runtime/kernels/image_formats.h"

#ifdef HONE_HAS_PNG
#include <png.h>

namespace hone::runtime {

Result<Image> decode_png(EncodedImage file) {
  png_image state = {};
  state.version = PNG_IMAGE_VERSION;
  struct Free {
    png_image& state;
    ~Free() { png_image_free(&state); }
  } const free{state};
  if (!png_image_begin_read_from_memory(&state, file.data(), file.size())) return broken_image("PNG", state.message);
  state.format = PNG_FORMAT_RGB;
  HONE_TRY(Image image, Image::make(state.width, state.height));
  const png_color black = {};  // what shows through
  if (!png_image_finish_read(&state, &black, image.pixels.data(), 0, nullptr))
    return broken_image("PNG", state.message);
  return image;
}

}  // namespace hone::runtime
#else
hone::Result<hone::runtime::Image> hone::runtime::decode_png(EncodedImage) { return missing_format("PNG"); }
#endif
