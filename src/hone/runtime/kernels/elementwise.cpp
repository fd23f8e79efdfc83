#include "hone/runtime/kernels/elementwise.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>

#include "hone/runtime/kernels/shape_rules.h"
#include "hone/runtime/small_float.h"

namespace hone::runtime {
namespace {

/// Where each element of a broadcast result stands in one of its inputs.
std::vector<std::size_t> places(const Shape& from, const Shape& to, std::int64_t count) {
  std::vector<std::int64_t> strides(to.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t from_end = 1; from_end <= from.size(); ++from_end) {
    const std::int64_t extent = from[from.size() - from_end];
    if (extent != 1) strides[to.size() - from_end] = stride;
    stride *= extent;
  }
  std::vector<std::size_t> result;
  result.reserve(static_cast<std::size_t>(count));
  Shape index(to.size(), 0);
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(static_cast<std::size_t>(place));
    for (std::size_t axis = to.size(); axis-- > 0;) {
      place += strides[axis];
      if (++index[axis] < to[axis]) break;
      place -= strides[axis] * to[axis];
      index[axis] = 0;
    }
  }
  return result;
}

double element_as_double(const Tensor& tensor, std::size_t i) {
  switch (tensor.type()) {
    case ElementType::F32:
      return tensor.as<float>()[i];
    case ElementType::F64:
      return tensor.as<double>()[i];
    case ElementType::F16:
    case ElementType::BF16:
      return small_float_to_float(tensor.type(), tensor.as<std::uint16_t>()[i]);
    default:
      return small_float_to_float(tensor.type(), tensor.as<std::uint8_t>()[i]);
  }
}

void set_element(Tensor& tensor, std::size_t i, double value) {
  const auto narrow = static_cast<float>(value);
  switch (tensor.type()) {
    case ElementType::F32:
      tensor.as<float>()[i] = narrow;
      break;
    case ElementType::F64:
      tensor.as<double>()[i] = value;
      break;
    case ElementType::F16:
    case ElementType::BF16:
      tensor.as<std::uint16_t>()[i] = float_to_small_float(tensor.type(), narrow);
      break;
    default:
      tensor.as<std::uint8_t>()[i] =
          static_cast<std::uint8_t>(float_to_small_float(tensor.type(), narrow, Overflow::Saturate));
  }
}

/// A number in [0, 1) of 53 random bits, drawn as numpy draws it.
double uniform(std::mt19937& generator) {
  const std::uint64_t high = generator() >> 5, low = generator() >> 6;
  return static_cast<double>((high << 26) + low) / 9007199254740992.0;
}

std::uint32_t seed_of(const HostCall& call) {
  if (call.attributes.has("seed")) return static_cast<std::uint32_t>(call.attributes.integer("seed", 0));
  static std::atomic<std::uint32_t> next{std::random_device{}()};
  return next++;
}

Result<void> check_float(const Tensor& tensor) {
  if (is_float(tensor.type()) || is_small_float(tensor.type())) return {};
  return error(ErrorCode::InvalidArgument, "the data have type {}, allowed are floats", name_of(tensor.type()));
}

}  // namespace

Result<void> identity_kernel(HostCall& call) {
  if (call.inputs.empty()) return error(ErrorCode::InvalidArgument, "input 0 is missing");
  call.outputs[0] = call.inputs[0];
  return {};
}

Result<void> equal_kernel(HostCall& call) {
  HONE_TRY(const Tensor a, call.tensor(0));
  HONE_TRY(const Tensor b, call.tensor(1));
  if (a.type() != ElementType::String || b.type() != ElementType::String)
    return error(ErrorCode::InvalidArgument, "{} compared with {}, both must be strings", name_of(a.type()),
                 name_of(b.type()));
  HONE_TRY(const Shape shape, broadcast_rule(a.shape(), b.shape()));
  HONE_TRY(Tensor result, call.output(0, ElementType::Bool, shape));
  const auto at_a = places(a.shape(), shape, result.size()), at_b = places(b.shape(), shape, result.size());
  const std::span<std::uint8_t> out = result.as<std::uint8_t>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = a.strings()[at_a[i]] == b.strings()[at_b[i]] ? 1 : 0;
  return {};
}

Result<void> where_kernel(HostCall& call) {
  HONE_TRY(const Tensor condition, call.tensor(0));
  HONE_TRY(const Tensor x, call.tensor(1));
  HONE_TRY(const Tensor y, call.tensor(2));
  if (condition.type() != ElementType::Bool || x.type() != y.type())
    return error(ErrorCode::InvalidArgument, "types {}, {} and {}, allowed are bool and one type twice",
                 name_of(condition.type()), name_of(x.type()), name_of(y.type()));
  HONE_TRY(Shape shape, broadcast_rule(x.shape(), y.shape()));
  HONE_TRY(shape, broadcast_rule(condition.shape(), shape));
  HONE_TRY(Tensor result, call.output(0, x.type(), shape));
  const auto at_condition = places(condition.shape(), shape, result.size());
  const auto at_x = places(x.shape(), shape, result.size()), at_y = places(y.shape(), shape, result.size());
  const std::size_t bytes = bytes_of(x.type());
  for (std::size_t i = 0; i < at_x.size(); ++i) {
    const bool takes_x = condition.as<std::uint8_t>()[at_condition[i]] != 0;
    const Tensor& source = takes_x ? x : y;
    const std::size_t place = takes_x ? at_x[i] : at_y[i];
    if (x.type() == ElementType::String)
      result.strings()[i] = source.strings()[place];
    else
      std::memcpy(result.data() + i * bytes, source.data() + place * bytes, bytes);
  }
  return {};
}

Result<void> dropout_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(check_float(x));
  double ratio = 0.5;
  if (call.has(1)) {
    HONE_TRY(const Tensor given, call.tensor(1));
    HONE_TRY(check_float(given));
    if (given.size() != 1)
      return error(ErrorCode::InvalidArgument, "the ratio has {} elements, allowed is 1", given.size());
    ratio = element_as_double(given, 0);
  }
  if (!(ratio >= 0 && ratio < 1))
    return error(ErrorCode::InvalidArgument, "the ratio is {}, allowed are [0, 1)", ratio);
  HONE_TRY(Tensor y, call.output(0, x.type(), x.shape()));
  HONE_TRY(Tensor mask, call.wants(1) ? call.output(1, ElementType::Bool, x.shape())
                                      : Tensor::allocate(ElementType::Bool, x.shape()));
  std::mt19937 generator(seed_of(call));
  const std::span<std::uint8_t> kept = mask.as<std::uint8_t>();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = ratio == 0 || uniform(generator) >= ratio ? 1 : 0;
    set_element(y, i, kept[i] != 0 ? element_as_double(x, i) / (1 - ratio) : 0);
  }
  return {};
}

}  // namespace hone::runtime
