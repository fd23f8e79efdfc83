#include "hone/cost/compress.h"

#include <memory>
#include <zstd.h>

namespace hone::cost {

bool is_compressed(std::string_view bytes) { return bytes.starts_with("\x28\xb5\x2f\xfd"); }

Result<std::string> compress(std::string_view bytes) {
  constexpr int kLevel = 19;
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
  std::string made(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress2(context.get(), made.data(), made.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) return error(ErrorCode::OutOfMemory, "cannot compress: {}", ZSTD_getErrorName(size));
  made.resize(size);
  return made;
}

Result<std::string> decompress(std::string_view bytes) {
  constexpr unsigned long long kMostBytes = 4ULL << 30;
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostBytes)
    return error(ErrorCode::ParseError, "this is not what hone compressed, or a part of it");
  std::string made(size, '\0');
  const std::size_t found = ZSTD_decompress(made.data(), made.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(found) != 0 || found != size)
    return error(ErrorCode::ParseError, "compressed bytes are damaged or cut off: {}", ZSTD_getErrorName(found));
  return made;
}

}  // namespace hone::cost
