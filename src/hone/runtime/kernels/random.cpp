#include "hone/runtime/kernels/random.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>

#include "hone/runtime/kernels/elements.h"
#include "hone/support/rng.h"

namespace hone::runtime {
namespace {

/// The generator of one call.
Rng generator_of(const HostCall& call) {
  if (call.attributes.has("seed"))
    return Rng(std::bit_cast<std::uint32_t>(call.attributes.real("seed", 0))).fork(call.outputs.size());
  static const std::uint64_t process_seed = (std::uint64_t{std::random_device()()} << 32) | std::random_device()();
  static std::atomic<std::uint64_t> calls = 0;
  return Rng(process_seed).fork(calls.fetch_add(1));
}

/// The type that the attribute `dtype` asks for.
Result<ElementType> wanted_type(const HostCall& call, ElementType fallback) {
  const std::int64_t number = call.attributes.integer("dtype", static_cast<std::int64_t>(fallback));
  const std::optional<ElementType> type = element_type_numbered(number);
  if (!type) return error(ErrorCode::InvalidArgument, "dtype is {}, which is no type", number);
  return *type;
}

/// Fills output 0 with what `draw(i)` gives for each element.
template <typename Draw>
Result<void> fill(HostCall& call, ElementType type, const Shape& shape, Draw&& draw) {
  HONE_TRY(Tensor output, call.output(0, type, shape));
  return with_number_type(type, [&](auto zero) -> Result<void> {
    using T = decltype(zero);
    std::size_t i = 0;
    for (T& element : output.as<T>()) element = static_cast<T>(draw(i++));
    return {};
  });
}

Result<void> fill_normal(HostCall& call, ElementType type, const Shape& shape) {
  Rng rng = generator_of(call);
  const double mean = call.attributes.real("mean", 0), scale = call.attributes.real("scale", 1);
  return fill(call, type, shape, [&](std::size_t) {
    // the method of Box and Muller; 1 - unit() lies in (0, 1]
    const double radius = std::sqrt(-2 * std::log(1 - rng.unit()));
    return mean + scale * radius * std::cos(2 * std::numbers::pi * rng.unit());
  });
}

Result<void> fill_uniform(HostCall& call, ElementType type, const Shape& shape) {
  Rng rng = generator_of(call);
  const double low = call.attributes.real("low", 0), high = call.attributes.real("high", 1);
  return fill(call, type, shape, [&](std::size_t) { return low + (high - low) * rng.unit(); });
}

using Fill = Result<void> (*)(HostCall& call, ElementType type, const Shape& shape);

Result<void> fill_like(HostCall& call, Fill fill_with) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const ElementType type, wanted_type(call, input.type()));
  return fill_with(call, type, input.shape());
}

}  // namespace

Result<void> random_normal(HostCall& call) {
  HONE_TRY(const ElementType type, wanted_type(call, ElementType::F32));
  return fill_normal(call, type, call.attributes.integers("shape"));
}

Result<void> random_uniform(HostCall& call) {
  HONE_TRY(const ElementType type, wanted_type(call, ElementType::F32));
  return fill_uniform(call, type, call.attributes.integers("shape"));
}

Result<void> random_normal_like(HostCall& call) { return fill_like(call, fill_normal); }
Result<void> random_uniform_like(HostCall& call) { return fill_like(call, fill_uniform); }

Result<void> bernoulli(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const std::vector<double> chances, input.to_doubles());
  HONE_TRY(const ElementType type, wanted_type(call, input.type()));
  Rng rng = generator_of(call);
  return fill(call, type, input.shape(), [&](std::size_t i) { return rng.unit() < chances[i] ? 1.0 : 0.0; });
}

Result<void> multinomial(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  if (input.rank() != 2 || input.extent(1) < 1)
    return error(ErrorCode::InvalidArgument, "the input must be [batch, classes] with at least one class, found {}",
                 describe(input.type(), input.shape()));
  const std::int64_t samples = call.attributes.integer("sample_size", 1);
  if (samples < 1) return error(ErrorCode::InvalidArgument, "sample_size is {}, at least 1 is allowed", samples);
  HONE_TRY(const ElementType type, wanted_type(call, ElementType::I32));
  if (type != ElementType::I32 && type != ElementType::I64)
    return error(ErrorCode::Unsupported, "dtype is {}, allowed are int32 and int64", name_of(type));

  HONE_TRY(const std::vector<double> logarithms, input.to_doubles());
  Rng rng = generator_of(call);
  const auto classes = static_cast<std::size_t>(input.extent(1));
  std::vector<double> sums(classes);
  return fill(call, type, {input.extent(0), samples}, [&](std::size_t i) {
    if (i % static_cast<std::size_t>(samples) == 0) {
      const auto row = std::span(logarithms).subspan(i / static_cast<std::size_t>(samples) * classes, classes);
      const double largest = *std::max_element(row.begin(), row.end());
      double sum = 0;
      for (std::size_t c = 0; c < classes; ++c) sums[c] = sum += std::exp(row[c] - largest);
    }
    const double drawn = rng.unit() * sums.back();
    const auto found = std::upper_bound(sums.begin(), sums.end(), drawn);
    return static_cast<double>(
        std::min<std::ptrdiff_t>(found - sums.begin(), static_cast<std::ptrdiff_t>(classes) - 1));
  });
}

}  // namespace hone::runtime
