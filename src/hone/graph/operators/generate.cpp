#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/indexing.h"
#include "hone/runtime/kernels/rearrange.h"

namespace hone::graph {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

/// The element of a known tensor as a constant.
Expr constant_of(const runtime::Tensor& tensor, std::size_t i, ir::DType type) {
  if (type.is_float()) return ir::constant(type, (*tensor.to_doubles())[i]);
  if (runtime::is_storage_only(tensor.type()))  // as they are stored, one byte each
    return ir::constant(type, static_cast<std::int64_t>(tensor.as<std::uint8_t>()[i]));
  return ir::constant(type, (*tensor.to_ints())[i]);
}

std::vector<ElementType> constant_of_shape_types(const Application& op) {
  const runtime::Tensor* value = op.attributes().tensor("value");
  return {value ? value->type() : ElementType::F32};
}

Result<Tensors> define_constant_of_shape(const Application& op) {
  HONE_TRY(const Integers shape, op.ints(0));
  HONE_TRY(runtime::element_count(shape));
  const runtime::Tensor* value = op.attributes().tensor("value");
  if (!value) {
    return std::vector{tensor::compute("constant_of_shape", tensor::axes_of(shape),
                                       [](const Indices&) { return ir::constant(ir::kF32, 0.0); })};
  }
  const std::optional<ir::DType> type = ir_type(value->type());
  if (!type || value->size() != 1)
    return op.fail("value is {}, allowed is one number", runtime::describe(value->type(), value->shape()));
  return std::vector{tensor::compute("constant_of_shape", tensor::axes_of(shape),
                                     [&](const Indices&) { return constant_of(*value, 0, *type); })};
}

/// How many elements a range has, or -1 if that cannot be said.
std::int64_t count_steps(const runtime::Tensor& start, const runtime::Tensor& limit, const runtime::Tensor& delta) {
  if (runtime::is_float(start.type())) {
    const double from = (*start.to_doubles())[0], to = (*limit.to_doubles())[0], step = (*delta.to_doubles())[0];
    const double count = std::ceil((to - from) / step);
    if (!(std::abs(count) < 1e15)) return -1;
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
  }
  const std::int64_t from = (*start.to_ints())[0], to = (*limit.to_ints())[0], step = (*delta.to_ints())[0];
  if (step == 0) return -1;
  if (step > 0 ? to <= from : from <= to) return 0;
  // unsigned, as the distance may have 64 bits
  const auto low = static_cast<std::uint64_t>(std::min(from, to)),
             high = static_cast<std::uint64_t>(std::max(from, to));
  const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  const std::uint64_t count = (high - low - 1) / stride + 1;
  return count > (std::uint64_t{1} << 62) ? -1 : static_cast<std::int64_t>(count);
}

Result<Tensors> define_range(const Application& op) {
  HONE_TRY(const runtime::Tensor start, op.value(0));
  HONE_TRY(const runtime::Tensor limit, op.value(1));
  HONE_TRY(const runtime::Tensor delta, op.value(2));
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1)
    return op.fail("{}, {} and {} elements, allowed is one each", start.size(), limit.size(), delta.size());
  const std::int64_t count = count_steps(start, limit, delta);
  if (count < 0) return op.fail("the step does not lead from start to limit");
  const ir::DType type = *ir_type(start.type());
  // narrow floats are computed in f32
  const ir::DType wide = type == ir::kF16 || type == ir::kBF16 ? ir::kF32 : type;
  return std::vector{tensor::compute("range", {count}, [&](const Indices& i) {
    return ir::cast(type, constant_of(start, 0, wide) + ir::cast(wide, i[0]) * constant_of(delta, 0, wide));
  })};
}

Result<Tensors> define_eye_like(const Application& op) {
  if (op.rank(0) != 2) return op.fail("an input of {} axes, allowed is 2", op.rank(0));
  const auto wanted = static_cast<ElementType>(op.integer("dtype", static_cast<std::int64_t>(op.type(0))));
  const std::optional<ir::DType> type = ir_type(wanted);
  if (!type || runtime::is_storage_only(wanted)) return op.fail("dtype {}", runtime::name_of(wanted));
  const std::int64_t limit = std::int64_t{1} << 48, k = std::clamp(op.integer("k", 0), -limit, limit);
  return std::vector{tensor::compute("eye", tensor::axes_of(op.shape(0)), [&](const Indices& i) {
    const Expr one = type->is_float() ? ir::constant(*type, 1.0) : ir::constant(*type, std::int64_t{1});
    return ir::select(ir::eq(i[0] + k, i[1]), one, zero(*type));
  })};
}

Result<Tensors> define_one_hot(const Application& op) {
  const Tensor &indices = op.tensor(0), &values = op.tensor(2);
  HONE_TRY(const std::vector<double> depths, op.reals(1));
  if (depths.size() != 1 || !(depths[0] >= 0 && depths[0] < 1e12))
    return op.fail("a depth of {} elements, {}, allowed is one number from 0 on", depths.size(),
                   depths.empty() ? 0 : depths[0]);
  if (values.shape() != Shape{2})
    return op.fail("values of shape [{}], allowed is [2]", fmt::join(values.shape(), ", "));
  const auto depth = static_cast<std::int64_t>(depths[0]);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", -1), op.rank(0) + 1));
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  HONE_TRY(runtime::element_count(shape));
  return std::vector{tensor::compute("one_hot", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from = i;
    from.erase(from.begin() + axis);
    const Expr index = ir::cast(ir::kIndex, indices(from));
    const Expr& place = i[static_cast<std::size_t>(axis)];
    const Expr is_here = ir::logical_or(ir::eq(index, place), ir::eq(index, place - depth));
    return ir::select(is_here, values(ir::imm(1)), values(ir::imm(0)));
  })};
}

/// The coordinate of element `i` of an axis, from -1 to 1.
Expr centered(const Expr& i, std::int64_t extent, bool is_aligned, ir::DType type) {
  const Expr place = ir::cast(type, i);
  const double count = static_cast<double>(extent);
  if (!is_aligned)
    return (place * ir::constant(type, 2.0) + ir::constant(type, 1.0)) / ir::constant(type, count) -
           ir::constant(type, 1.0);
  if (extent == 1) return ir::constant(type, -1.0);
  return place * ir::constant(type, 2.0) / ir::constant(type, count - 1) - ir::constant(type, 1.0);
}

Result<Tensors> define_affine_grid(const Application& op) {
  const Tensor& theta = op.tensor(0);
  HONE_TRY(const Integers size, op.ints(1));
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  if (axes != 2 && axes != 3) return op.fail("a size of {} numbers, allowed are 4 and 5", size.size());
  if (theta.shape() != Shape{size[0], axes, axes + 1})
    return op.fail("theta of shape [{}], allowed is [{}, {}, {}]", fmt::join(theta.shape(), ", "), size[0], axes,
                   axes + 1);
  const bool is_aligned = op.integer("align_corners", 0) != 0;
  const ir::DType type = theta.type(), wide = type == ir::kF64 ? type : ir::kF32;
  Shape shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(axes);
  HONE_TRY(runtime::element_count(shape));
  return std::vector{tensor::compute("affine_grid", tensor::axes_of(shape), [&](const Indices& i) {
    const auto element = [&](std::int64_t k) { return ir::cast(wide, theta(i[0], i.back(), ir::imm(k))); };
    Expr sum = element(axes);
    for (std::int64_t k = 0; k < axes; ++k) {  // coordinates stand in the order x, y, z: the last axis first
      const auto axis = static_cast<std::size_t>(axes - k);
      sum = sum + element(k) * centered(i[axis], shape[axis], is_aligned, wide);
    }
    return ir::cast(type, sum);
  })};
}

}  // namespace

std::span<const Operator> generate_operators() {
  static const Operator operators[] = {
      {.name = "ConstantOfShape",
       .schema = "input: int64 -> output; value",
       .define = define_constant_of_shape,
       .output_types = constant_of_shape_types},
      {.name = "Range",
       .schema = "start: T, limit: T, delta: T -> output: T; stash_type; T: number",
       .define = define_range},
      {.name = "EyeLike", .schema = "input: T -> output; dtype, k; T: number|bool", .define = define_eye_like},
      {.name = "OneHot",
       .schema = "indices: T, depth: D, values: V -> output: V; axis; T: number, D: number",
       .define = define_one_hot,
       .host = runtime::one_hot_kernel},
      {.name = "AffineGrid",
       .schema = "theta: T, size: int64 -> grid: T; align_corners; T: float",
       .define = define_affine_grid},
  };
  return operators;
}

}  // namespace hone::graph
