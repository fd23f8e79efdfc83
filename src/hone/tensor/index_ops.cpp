#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

Result<Tensor> gather(const Tensor& x, const Tensor& indices, int axis_from) {
  HONE_TRY(const std::size_t axis, normalize_axis("gather", axis_from, x.rank()));
  if (indices.type() != ir::kI32 && indices.type() != ir::kI64)
    return error(ErrorCode::InvalidArgument, "gather: indices of type {}, allowed are i32 and i64",
                 ir::to_string(indices.type()));
  const auto split = static_cast<std::ptrdiff_t>(axis), count = static_cast<std::ptrdiff_t>(indices.rank());
  Shape shape = x.shape();
  shape.erase(shape.begin() + split);
  shape.insert(shape.begin() + split, indices.shape().begin(), indices.shape().end());
  return compute("gather", axes_of(shape), [&](const Indices& i) {
    const Expr index = ir::cast(ir::kIndex, indices(Indices(i.begin() + split, i.begin() + split + count)));
    Indices from(i.begin(), i.begin() + split);
    from.push_back(ir::select(index < 0, index + x.extent(axis), index));
    from.insert(from.end(), i.begin() + split + count, i.end());
    return x(from);
  });
}

namespace {

Result<void> check_padding(const Tensor& x, const std::vector<std::int64_t>& before,
                           const std::vector<std::int64_t>& after, PadMode mode) {
  if (before.size() != x.rank() || after.size() != x.rank())
    return error(ErrorCode::InvalidArgument, "pad: {} extents before and {} after for {} axes, they must be as many",
                 before.size(), after.size(), x.rank());
  for (std::size_t axis = 0; axis < x.rank(); ++axis)
    for (const std::int64_t amount : {before[axis], after[axis]}) {
      if (amount < 0)
        return error(ErrorCode::InvalidArgument, "pad: {} elements at axis {}, allowed is 0 and more", amount, axis);
      if (mode == PadMode::Edge && amount > 0 && x.extent(axis) == 0)
        return error(ErrorCode::InvalidArgument, "pad: axis {} has no edge to repeat, allowed is extent 1 and more",
                     axis);
      if (mode == PadMode::Reflect && amount > 0 && amount >= x.extent(axis))
        return error(ErrorCode::InvalidArgument,
                     "pad: {} elements reflected at axis {} of extent {}, allowed are 0..{}", amount, axis,
                     x.extent(axis), x.extent(axis) - 1);
    }
  return {};
}

/// An index that may lie outside the axis, brought back by repeating the edge or by mirroring.
Expr bring_inside(const Expr& index, std::int64_t extent, PadMode mode) {
  if (mode == PadMode::Edge) return ir::min(ir::max(index, ir::imm(0)), ir::imm(extent - 1));
  const Expr past_end = ir::select(index < extent, index, ir::imm(2 * (extent - 1)) - index);
  return ir::select(index < 0, -index, past_end);
}

}  // namespace

Result<Tensor> pad(const Tensor& x, const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
                   PadMode mode, double value) {
  HONE_TRY(check_padding(x, before, after, mode));
  Shape shape = x.shape();
  for (std::size_t axis = 0; axis < x.rank(); ++axis) shape[axis] += before[axis] + after[axis];
  return compute("pad", axes_of(shape), [&](const Indices& i) {
    Indices from = i;
    Expr is_inside;
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      if (before[axis] == 0 && after[axis] == 0) continue;
      from[axis] = i[axis] - before[axis];
      if (mode != PadMode::Constant) {
        from[axis] = bring_inside(from[axis], x.extent(axis), mode);
        continue;
      }
      const Expr here = ir::logical_and(from[axis] >= 0, from[axis] < x.extent(axis));
      is_inside = is_inside ? ir::logical_and(is_inside, here) : here;
    }
    if (!is_inside) return x(from);
    return ir::select(is_inside, x(from), ir::cast(x.type(), ir::constant(ir::kF64, value)));
  });
}

Result<Tensor> concat(const std::vector<Tensor>& parts, int axis_from) {
  if (parts.empty()) return error(ErrorCode::InvalidArgument, "concat: 0 tensors, allowed is 1 and more");
  HONE_TRY(const std::size_t axis, normalize_axis("concat", axis_from, parts[0].rank()));
  Shape shape = parts[0].shape();
  for (std::size_t part = 1; part < parts.size(); ++part) {
    HONE_TRY(expect_equal_types("concat", parts[0], parts[part]));
    Shape other = parts[part].shape();
    if (other.size() == shape.size()) other[axis] = shape[axis];
    if (other != shape)
      return error(ErrorCode::InvalidArgument, "concat: shapes {} and {} differ, they may differ in axis {} alone",
                   show_shape(parts[0].shape()), show_shape(parts[part].shape()), axis);
  }
  for (std::size_t part = 1; part < parts.size(); ++part) shape[axis] += parts[part].extent(axis);

  return compute("concat", axes_of(shape), [&](const Indices& i) {
    std::int64_t start = shape[axis];
    Expr value;
    for (std::size_t part = parts.size(); part-- > 0;) {  // the last part is what remains if no other is chosen
      start -= parts[part].extent(axis);
      Indices from = i;
      if (start != 0) from[axis] = i[axis] - start;
      const Expr here = parts[part](from);
      value = value ? ir::select(i[axis] < start + parts[part].extent(axis), here, value) : here;
    }
    return value;
  });
}

}  // namespace hone::tensor
