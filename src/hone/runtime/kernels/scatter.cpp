#include "hone/runtime/kernels/scatter.h"

#include <algorithm>

#include "hone/runtime/kernels/bad.h"
#include "hone/runtime/kernels/move.h"
#include "hone/runtime/kernels/number.h"
#include "hone/runtime/kernels/shape_rules.h"

namespace hone::runtime {
namespace {

enum class Combine { None, Add, Multiply, Largest, Smallest };

Result<Combine> combine_named(const std::string& name) {
  if (name == "none") return Combine::None;
  if (name == "add") return Combine::Add;
  if (name == "mul") return Combine::Multiply;
  if (name == "max") return Combine::Largest;
  if (name == "min") return Combine::Smallest;
  return bad("reduction '{}', allowed are none, add, mul, max and min", name);
}

template <typename T>
T combined(Combine how, T a, T b) {
  switch (how) {
    case Combine::None:
      return b;
    case Combine::Add:
      return wrapping_add(a, b);
    case Combine::Multiply:
      return wrapping_multiply(a, b);
    case Combine::Largest:
      return a != a || a > b ? a : b;  // NaN wins
    case Combine::Smallest:
      return a != a || a < b ? a : b;
  }
  return b;
}

/// Combines `count` neighbouring elements of `from` into `to`.
Result<void> combine_run(Combine how, const Tensor& from, std::int64_t source, Tensor& to, std::int64_t target,
                         std::int64_t count) {
  if (how == Combine::None) {
    copy_run(from, source, to, target, count);
    return {};
  }
  return with_number(to.type(), [&]<typename Number>(Number) -> Result<void> {
    using Stored = typename Number::Stored;
    const Stored* read = from.as<Stored>().data() + source;
    Stored* write = to.as<Stored>().data() + target;
    for (std::int64_t i = 0; i < count; ++i)
      write[i] = Number::store(combined(how, Number::load(write[i]), Number::load(read[i])));
    if (to.type() == ElementType::Bool)
      for (std::int64_t i = 0; i < count; ++i) write[i] = static_cast<Stored>(write[i] != Stored());
    return {};
  });
}

}  // namespace

Result<void> scatter_elements_kernel(HostCall& call) {
  HONE_TRY(const Tensor data, call.tensor(0));
  HONE_TRY(const Tensor index_tensor, call.tensor(1));
  HONE_TRY(const Tensor updates, call.tensor(2));
  HONE_TRY(const Combine how, combine_named(call.attributes.text("reduction", "none")));
  HONE_TRY(const Integers indices, index_tensor.to_ints());
  HONE_TRY(const std::int64_t axis, normalize_axis(call.attributes.integer("axis", 0), data.rank()));
  const auto at = static_cast<std::size_t>(axis);
  const Shape& shape = updates.shape();
  if (index_tensor.shape() != shape || shape.size() != data.rank() || updates.type() != data.type())
    return bad("indices {} and updates {} for data {}", describe(index_tensor.type(), index_tensor.shape()),
               describe(updates.type(), shape), describe(data.type(), data.shape()));
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i != at && shape[i] > data.extent(i))
      return bad("updates of extent {} for {} at axis {}", shape[i], data.extent(i), i);
  HONE_TRY(Tensor result, call.output(0, data.type(), data.shape()));
  copy_run(data, 0, result, 0, data.size());
  const Integers strides = strides_of(data.shape());
  Integers place_of(shape.size(), 0);
  std::int64_t base = 0;  // of the current update, without the scattered axis
  for (std::int64_t i = 0; i < updates.size(); ++i) {
    HONE_TRY(const std::int64_t index, normalize_index(indices[static_cast<std::size_t>(i)], data.extent(at)));
    HONE_TRY(combine_run(how, updates, i, result, base + index * strides[at], 1));
    for (std::size_t k = shape.size(); k-- > 0;) {
      const std::int64_t stride = k == at ? 0 : strides[k];
      base += stride;
      if (++place_of[k] < shape[k]) break;
      base -= stride * shape[k];
      place_of[k] = 0;
    }
  }
  return {};
}

Result<void> scatter_nd_kernel(HostCall& call) {
  HONE_TRY(const Tensor data, call.tensor(0));
  HONE_TRY(const Tensor index_tensor, call.tensor(1));
  HONE_TRY(const Tensor updates, call.tensor(2));
  HONE_TRY(const Combine how, combine_named(call.attributes.text("reduction", "none")));
  HONE_TRY(const Integers indices, index_tensor.to_ints());
  HONE_TRY(Tensor result, call.output(0, data.type(), data.shape()));
  copy_run(data, 0, result, 0, data.size());
  if (index_tensor.size() == 0 && updates.size() == 0) return {};
  HONE_TRY(const Shape shape, gather_nd_rule(data.shape(), index_tensor.shape(), 0));
  if (updates.shape() != shape || updates.type() != data.type())
    return bad("updates {}, allowed is {}", describe(updates.type(), updates.shape()), describe(data.type(), shape));
  const Integers strides = strides_of(data.shape());
  const std::int64_t depth = index_tensor.shape().back(), tuples = index_tensor.size() / depth;
  const std::int64_t run = tuples == 0 ? 0 : updates.size() / tuples;
  for (std::int64_t i = 0; i < tuples; ++i) {
    std::int64_t position = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      const auto axis = static_cast<std::size_t>(k);
      HONE_TRY(const std::int64_t index,
               normalize_index(indices[static_cast<std::size_t>(i * depth + k)], data.extent(axis)));
      position += index * strides[axis];
    }
    HONE_TRY(combine_run(how, updates, i * run, result, position, run));
  }
  return {};
}

namespace {

/// How far apart neighbours along the axis are, and how many lines there are.
Result<void> accumulate(HostCall& call, Combine how) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Tensor axis_tensor, call.tensor(1));
  HONE_TRY(const Integers axes, axis_tensor.to_ints());
  if (axes.size() != 1) return bad("{} axes, allowed is 1", axes.size());
  HONE_TRY(const std::int64_t axis, normalize_axis(axes[0], x.rank()));
  const bool is_exclusive = call.attributes.integer("exclusive", 0) != 0;
  const bool is_reverse = call.attributes.integer("reverse", 0) != 0;
  HONE_TRY(Tensor y, call.output(0, x.type(), x.shape()));
  if (x.size() == 0) return {};
  const std::int64_t inner = strides_of(x.shape())[static_cast<std::size_t>(axis)];
  const std::int64_t extent = x.extent(static_cast<std::size_t>(axis)), lines = x.size() / extent;
  return with_number(x.type(), [&]<typename Number>(Number) -> Result<void> {
    using Stored = typename Number::Stored;
    using Wide = typename Number::Wide;
    const Stored* read = x.as<Stored>().data();
    Stored* write = y.as<Stored>().data();
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t start = line / inner * inner * extent + line % inner;
      Wide sum = how == Combine::Add ? Wide(0) : Wide(1);
      for (std::int64_t k = 0; k < extent; ++k) {
        const std::int64_t position = start + (is_reverse ? extent - 1 - k : k) * inner;
        const Wide next = combined(how, sum, Number::load(read[position]));
        write[position] = Number::store(is_exclusive ? sum : next);
        sum = next;
      }
    }
    return {};
  });
}

}  // namespace

Result<void> cumulative_sum_kernel(HostCall& call) { return accumulate(call, Combine::Add); }

Result<void> cumulative_product_kernel(HostCall& call) { return accumulate(call, Combine::Multiply); }

}  // namespace hone::runtime
