#include "hone/runtime/kernels/image_formats.h"

#ifdef HONE_HAS_JPEG
#include <csetjmp>
#include <cstdio>
#include <jpeglib.h>

namespace hone::runtime {
namespace {

/// libjpeg reports errors by a function that must not return; ours jumps back.
struct ErrorHandler {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

void on_error(j_common_ptr state) {
  auto* handler = reinterpret_cast<ErrorHandler*>(state->err);
  handler->base.format_message(state, handler->message);
  std::longjmp(handler->back, 1);
}

/// Reads the rows into an image that was made beforehand; false after an error. Holds nothing that has a destructor, as
/// errors jump over it.
bool read_rows(jpeg_decompress_struct& state, ErrorHandler& handler, Image& image) {
  if (setjmp(handler.back) != 0) return false;
  jpeg_start_decompress(&state);
  while (state.output_scanline < state.output_height) {
    JSAMPROW row = image.row(state.output_scanline);
    jpeg_read_scanlines(&state, &row, 1);
  }
  jpeg_finish_decompress(&state);
  return true;
}

bool read_header(jpeg_decompress_struct& state, ErrorHandler& handler, EncodedImage file) {
  if (setjmp(handler.back) != 0) return false;
  jpeg_create_decompress(&state);
  jpeg_mem_src(&state, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&state, TRUE);
  state.out_color_space = JCS_RGB;
  return true;
}

}  // namespace

Result<Image> decode_jpeg(EncodedImage file) {
  jpeg_decompress_struct state = {};
  ErrorHandler handler = {};
  state.err = jpeg_std_error(&handler.base);
  handler.base.error_exit = on_error;
  handler.base.output_message = [](j_common_ptr) {};  // the library is silent
  struct Destroy {
    jpeg_decompress_struct& state;
    ~Destroy() { jpeg_destroy_decompress(&state); }
  } const destroy{state};
  if (!read_header(state, handler, file)) return broken_image("JPEG", handler.message);
  HONE_TRY(Image image, Image::make(state.image_width, state.image_height));
  if (!read_rows(state, handler, image)) return broken_image("JPEG", handler.message);
  return image;
}

}  // namespace hone::runtime
#else
hone::Result<hone::runtime::Image> hone::runtime::decode_jpeg(EncodedImage) { return missing_format("JPEG"); }
#endif
