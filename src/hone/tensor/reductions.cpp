#include <algorithm>

#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

namespace {

/// Which axes of the input are reduced, and what is left.
struct Plan {
  std::vector<bool> is_reduced;
  std::vector<Axis> reduced, kept;
};

Result<Plan> make_plan(std::string_view what, const Tensor& x, const std::vector<int>& axes, KeepAxes keep) {
  Plan plan{.is_reduced = std::vector<bool>(x.rank(), false)};
  for (const int entry : axes) {
    HONE_TRY(const std::size_t axis, normalize_axis(what, entry, x.rank()));
    if (plan.is_reduced[axis])
      return error(ErrorCode::InvalidArgument, "{}: axis {} occurs twice, allowed is once", what, axis);
    plan.is_reduced[axis] = true;
  }
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (plan.is_reduced[axis]) plan.reduced.emplace_back(x.extent(axis));
    if (!plan.is_reduced[axis]) plan.kept.emplace_back(x.extent(axis));
    if (plan.is_reduced[axis] && keep == KeepAxes::Yes) plan.kept.emplace_back(1);
  }
  return plan;
}

/// The element of the input that the result's indices and the reduction's make together.
Expr element(const Tensor& x, const Plan& plan, KeepAxes keep, const Indices& i, const Indices& r) {
  Indices indices;
  std::size_t next_kept = 0, next_reduced = 0;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    indices.push_back(plan.is_reduced[axis] ? r[next_reduced++] : i[next_kept++]);
    if (plan.is_reduced[axis] && keep == KeepAxes::Yes) ++next_kept;
  }
  return x(indices);
}

Reduction reduce_by(ReduceKind kind, const std::vector<Axis>& axes, Source source) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Mean:
      return reduce_sum(axes, source);
    case ReduceKind::Max:
      return reduce_max(axes, source);
    case ReduceKind::Min:
      return reduce_min(axes, source);
    case ReduceKind::Prod:
      return reduce_prod(axes, source);
  }
  HONE_CHECK(false, "unknown reduction");
  return reduce_sum(axes, source);
}

std::string name_of_kind(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Mean:
      return "sum";
    case ReduceKind::Max:
      return "max";
    case ReduceKind::Min:
      return "min";
    case ReduceKind::Prod:
      return "prod";
  }
  return "reduce";
}

using PlaceReduction = Reduction (*)(std::vector<Axis>, Source, ir::DType);

Result<std::vector<Tensor>> find_places(const std::string& what, const Tensor& x, int axis, KeepAxes keep,
                                        PlaceReduction reduction) {
  HONE_TRY(const Plan plan, make_plan(what, x, {axis}, keep));
  if (plan.reduced[0].extent == 0)
    return error(ErrorCode::InvalidArgument, "{}: axis {} has no elements, allowed is 1 and more", what, axis);
  return compute_all({what + "_value", what}, plan.kept, [&](const Indices& i) {
    return reduction(plan.reduced, [&](const Indices& r) { return element(x, plan, keep, i, r); }, ir::kI64);
  });
}

}  // namespace

Result<Tensor> reduce_axes(const Tensor& x, ReduceKind kind, const std::vector<int>& axes, KeepAxes keep) {
  if (kind == ReduceKind::Mean) HONE_TRY(expect_float("mean", x));
  HONE_TRY(const Plan plan, make_plan("reduction", x, axes, keep));
  const Tensor reduced = compute(name_of_kind(kind), plan.kept, [&](const Indices& i) {
    return reduce_by(kind, plan.reduced, [&](const Indices& r) { return element(x, plan, keep, i, r); });
  });
  if (kind != ReduceKind::Mean) return reduced;
  std::int64_t count = 1;
  for (const Axis& axis : plan.reduced) count *= axis.extent;
  return map("mean", reduced, [&](const Expr& sum) { return sum / ir::constant(x.type(), count); });
}

Result<std::vector<Tensor>> argmax(const Tensor& x, int axis, KeepAxes keep) {
  return find_places("argmax", x, axis, keep, reduce_argmax);
}

Result<std::vector<Tensor>> argmin(const Tensor& x, int axis, KeepAxes keep) {
  return find_places("argmin", x, axis, keep, reduce_argmin);
}

}  // namespace hone::tensor
