#include "hone/measure/buffers.h"

#include <cstring>
#include <limits>

#include "hone/ir/rewrite.h"
#include "hone/ir/value.h"
#include "hone/support/rng.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace hone::measure {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

template <typename T>
void fill_floats(std::byte* data, std::int64_t count, const Fill& fill, Rng& rng) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(fill.low + (fill.high - fill.low) * rng.unit());
    std::memcpy(data + i * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
  }
}

void fill_others(Buffer& buffer, const Fill& fill, Rng& rng) {
  const std::int64_t size = buffer.type.bytes();
  for (std::int64_t i = 0; i < buffer.count; ++i) {
    const ir::Number value =
        buffer.type.is_float()
            ? ir::convert(ir::of_float(fill.low + (fill.high - fill.low) * rng.unit()), ir::kF64, buffer.type)
            : ir::convert(
                  ir::of_int(rng.uniform(static_cast<std::int64_t>(fill.low), static_cast<std::int64_t>(fill.high))),
                  ir::kI64, buffer.type);
    ir::write_number(buffer.type.scalar, buffer.data() + i * size, value);
  }
}

}  // namespace

Result<Buffer> allocate_buffer(const ir::Expr& param) {
  const ir::Buffer& node = param.get<ir::Buffer>();
  Buffer buffer{param.type(), {}, 1, {}};
  for (const ir::Expr& extent : node.shape) {
    const std::optional<std::int64_t> value = ir::as_int(extent);
    if (!value || *value < 0)
      return error(ErrorCode::InvalidArgument, "parameter '{}' has a symbolic size, only constant ones can be run",
                   node.name);
    if (*value > 0 && buffer.count > kMaxElements / *value)
      return error(ErrorCode::OutOfMemory, "parameter '{}' has more than 2^40 elements", node.name);
    buffer.shape.push_back(*value);
    buffer.count *= *value;
  }
  const auto bytes = static_cast<std::size_t>(buffer.count * buffer.type.bytes());
  HONE_TRY(buffer.memory, runtime::AlignedBytes::allocate(bytes, runtime::tensor_alignment(bytes)));
  return buffer;
}

Result<void> fill_buffer(Buffer& buffer, const Fill& fill) {
  if (!fill.bytes.empty()) {
    if (fill.bytes.size() != buffer.bytes())
      return error(ErrorCode::InvalidArgument, "an argument of {} bytes is given {} bytes", buffer.bytes(),
                   fill.bytes.size());
    std::memcpy(buffer.data(), fill.bytes.data(), fill.bytes.size());
    return {};
  }
  if (!(fill.low <= fill.high))
    return error(ErrorCode::InvalidArgument, "an argument is filled from {} to {}, allowed is low to high", fill.low,
                 fill.high);
  Rng rng(fill.seed);
  if (buffer.type.scalar == ir::Scalar::F32) {
    fill_floats<float>(buffer.data(), buffer.count, fill, rng);
  } else if (buffer.type.scalar == ir::Scalar::F64) {
    fill_floats<double>(buffer.data(), buffer.count, fill, rng);
  } else {
    fill_others(buffer, fill, rng);
  }
  return {};
}

void poison_buffer(Buffer& buffer) { std::memset(buffer.data(), 0xff, buffer.bytes()); }

Fill default_fill(ir::DType type, std::size_t place) {
  Fill fill;
  fill.seed = 0x5eed + place;
  if (type.is_float()) return fill;
  fill.low = 0;
  fill.high = type.is_bool() ? 1 : 0;
  if (type.is_integer() && type.bits() <= 16) {
    fill.low = static_cast<double>(ir::min_value(type));
    fill.high = static_cast<double>(ir::max_value(type));
  }
  return fill;
}

double element(const Buffer& buffer, std::int64_t index) {
  return ir::convert(ir::read_number(buffer.type.scalar, buffer.data() + index * buffer.type.bytes()), buffer.type,
                     ir::kF64)
      .f;
}

std::vector<bool> written_params(const ir::Function& function) {
  std::vector<bool> written(function.params.size());
  ir::walk(function.body, [&](const ir::Stmt& s) {
    const ir::Store* store = s.as<ir::Store>();
    for (std::size_t i = 0; store && i < written.size(); ++i)
      if (store->buffer.is(function.params[i])) written[i] = true;
  });
  return written;
}

void flush_cache(const Buffer& buffer) {
#ifdef __x86_64__
  for (std::size_t at = 0; at < buffer.bytes(); at += 64) _mm_clflush(buffer.data() + at);
  _mm_mfence();
#else
  // No instruction for it that every machine has: push everything out by touching more than the caches hold.
  (void)buffer;
  static std::vector<char> other(std::size_t{64} << 20);
  for (std::size_t at = 0; at < other.size(); at += 64) reinterpret_cast<volatile char&>(other[at]) = 1;
#endif
}

}  // namespace hone::measure
