#include "hone/runtime/kernels/image.h"

#include "hone/graph/operators/families.h"

namespace hone::graph {

std::span<const Operator> image_operators() {
  static const Operator entries[] = {
      {.name = "ImageDecoder",
       .schema = "encoded_stream: uint8 -> image; pixel_format",
       .host = runtime::image_decoder},
  };
  return entries;
}

}  // namespace hone::graph
