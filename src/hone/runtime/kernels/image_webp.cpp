#include "hone/runtime/kernels/image_formats.h"

#ifdef HONE_HAS_WEBP
#include <webp/decode.h>

namespace hone::runtime {

Result<Image> decode_webp(EncodedImage file) {
  int width = 0, height = 0;
  if (!WebPGetInfo(file.data(), file.size(), &width, &height)) return broken_image("WebP", "the header is damaged");
  HONE_TRY(Image image, Image::make(width, height));
  if (!WebPDecodeRGBInto(file.data(), file.size(), image.pixels.data(), image.pixels.size(), width * 3))
    return broken_image("WebP", "the data is damaged");
  return image;
}

}  // namespace hone::runtime
#else
hone::Result<hone::runtime::Image> hone::runtime::decode_webp(EncodedImage) { return missing_format("WebP"); }
#endif
