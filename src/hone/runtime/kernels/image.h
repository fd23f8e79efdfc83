/// Kernels on encoded pictures.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// ImageDecoder: the pixels of a BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP file, as RGB, BGR or gray.
Result<void> image_decoder(HostCall& call);

}  // namespace hone::runtime
