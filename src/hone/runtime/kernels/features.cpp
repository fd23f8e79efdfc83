#include "hone/runtime/kernels/features.h"

#include <algorithm>
#include <cmath>

#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/move.h"
#include "hone/runtime/kernels/scores.h"

namespace hone::runtime {
namespace {

/// Copies the input, with each element that equals `replaced` taken from `values`.
template <typename T, typename V>
Result<void> impute(HostCall& call, const Tensor& input, const std::vector<V>& values, V replaced) {
  const std::size_t width = input.rank() == 0 ? 1 : static_cast<std::size_t>(input.shape().back());
  if (values.size() != 1 && values.size() != width)
    return error(ErrorCode::InvalidArgument, "{} imputed values for {} features", values.size(), width);
  HONE_TRY(Tensor output, call.output(0, input.type(), input.shape()));
  const auto from = input.as<T>();
  const auto to = output.as<T>();
  bool replaces_nan = false;
  if constexpr (std::is_floating_point_v<V>) replaces_nan = std::isnan(replaced);
  for (std::size_t i = 0; i < from.size(); ++i) {
    bool is_missing = from[i] == static_cast<T>(replaced);
    if constexpr (std::is_floating_point_v<T>) is_missing = replaces_nan ? std::isnan(from[i]) : is_missing;
    to[i] = is_missing ? static_cast<T>(values[values.size() == 1 ? 0 : i % width]) : from[i];
  }
  return {};
}

}  // namespace

Result<void> imputer(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  const std::vector<float> floats = call.attributes.reals("imputed_value_floats");
  const std::vector<std::int64_t> ints = call.attributes.integers("imputed_value_int64s");
  const float replaced_float = call.attributes.real("replaced_value_float", 0);
  const std::int64_t replaced_int = call.attributes.integer("replaced_value_int64", 0);
  switch (input.type()) {
    case ElementType::F32:
      return impute<float, float>(call, input, floats, replaced_float);
    case ElementType::F64:
      return impute<double, float>(call, input, floats, replaced_float);
    case ElementType::I32:
      return impute<std::int32_t, std::int64_t>(call, input, ints, replaced_int);
    case ElementType::I64:
      return impute<std::int64_t, std::int64_t>(call, input, ints, replaced_int);
    default:
      return error(ErrorCode::Unsupported, "elements of type {} are not supported here", name_of(input.type()));
  }
}

Result<void> feature_vectorizer(HostCall& call) {
  const std::vector<std::int64_t> widths = call.attributes.integers("inputdimensions");
  if (widths.size() != call.inputs.size())
    return error(ErrorCode::InvalidArgument, "inputdimensions has {} entries for {} inputs", widths.size(),
                 call.inputs.size());
  std::vector<Rows> parts;
  std::int64_t width = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    HONE_TRY(const Tensor input, call.tensor(i));
    HONE_TRY(parts.emplace_back(), rows_of(input));
    if (parts[i].count != parts[0].count)
      return error(ErrorCode::InvalidArgument, "input {} has {} rows, input 0 has {}", i, parts[i].count,
                   parts[0].count);
    if (widths[i] < 0 || __builtin_add_overflow(width, widths[i], &width))
      return error(ErrorCode::InvalidArgument, "inputdimensions holds {}", widths[i]);
  }
  HONE_TRY(Tensor output, call.output(0, ElementType::F32, {parts.empty() ? 0 : parts[0].count, width}));
  fill_zero(output);
  std::int64_t column = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::int64_t row = 0; row < parts[i].count; ++row)
      std::copy_n(parts[i].row(row).begin(), std::min(parts[i].width, widths[i]),
                  output.as<float>().begin() + row * width + column);
    column += widths[i];
  }
  return {};
}

Result<void> array_feature_extractor(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const Tensor indices, call.tensor(1));
  HONE_TRY(const std::vector<std::int64_t> places, indices.to_ints());
  if (input.rank() == 0) return error(ErrorCode::InvalidArgument, "the input is a scalar");
  const std::int64_t width = input.shape().back(), count = std::ssize(places);
  Shape shape = input.shape();
  shape.back() = count;
  if (input.rank() == 1) shape.insert(shape.begin(), 1);
  HONE_TRY(Tensor output, call.output(0, input.type(), shape));
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t place = places[static_cast<std::size_t>(k)];
    if (place < 0 || place >= width)
      return error(ErrorCode::InvalidArgument, "index {} is outside 0..{}", place, width - 1);
    for (std::int64_t row = 0; row < input.size() / width; ++row)
      copy_run(input, row * width + place, output, row * count + k, 1);
  }
  return {};
}

}  // namespace hone::runtime
