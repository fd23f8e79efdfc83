#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/definitions.h"

namespace hone::graph {

using ir::Expr;
using ir::Intrinsic;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// The axes to reduce: an input, before opset 13 and 18 an attribute; none given means all, or none at all.
Result<std::vector<std::int64_t>> reduced_axes(const Application& op) {
  std::vector<std::int64_t> axes = op.integers("axes");
  if (op.has(1)) { HONE_TRY(axes, op.ints(1)); }
  if (axes.empty()) return op.integer("noop_with_empty_axes", 0) != 0 ? axes : axes_from(0, op.rank(0));
  for (std::int64_t& axis : axes) { HONE_TRY(axis, op.axis(axis, op.rank(0))); }
  return axes;
}

using Unary = Expr (*)(const Expr&);

Expr identity(const Expr& e) { return e; }
Expr square(const Expr& e) { return e * e; }
Expr absolute(const Expr& e) { return e.type().is_unsigned() ? e : ir::call(Intrinsic::Abs, {e}); }
Expr square_root(const Expr& e) { return ir::call(Intrinsic::Sqrt, {e}); }
Expr logarithm(const Expr& e) { return ir::call(Intrinsic::Log, {e}); }

/// Gives back the type of the input; the result is the last stage.
std::vector<Tensor> finish(const Application& op, const Tensor& result) {
  return {converted(result, op.tensor(0).type())};
}

/// A sum of `before(element)`, with `after` applied to it. Functions that need floats get integers as f64.
template <Unary before, Unary after>
Result<std::vector<Tensor>> define_sum(const Application& op) {
  HONE_TRY(const std::vector<std::int64_t> axes, reduced_axes(op));
  const Tensor& x = op.tensor(0);
  const bool needs_float = after == square_root || after == logarithm;
  const ir::DType type = needs_float && !x.type().is_float() ? ir::kF64 : accumulator_type(x.type());
  const ReducePlan plan(x.shape(), axes, op.integer("keepdims", 1) != 0);
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) { return before(ir::cast(type, x(i))); });
  return finish(op, after == identity ? sum : tensor::map("reduced", sum, after));
}

Result<std::vector<Tensor>> define_mean(const Application& op) {
  HONE_TRY(const std::vector<std::int64_t> axes, reduced_axes(op));
  const Tensor& x = op.tensor(0);
  const ir::DType type = accumulator_type(x.type());
  const ReducePlan plan(x.shape(), axes, op.integer("keepdims", 1) != 0);
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) { return ir::cast(type, x(i)); });
  const std::int64_t count = type.is_float() ? plan.count() : std::max<std::int64_t>(plan.count(), 1);
  return finish(op, tensor::map("mean", sum, [&](const Expr& e) { return e / ir::constant(type, count); }));
}

using Reducer = tensor::Reduction (*)(std::vector<tensor::Axis>, tensor::Source);

/// The largest or smallest element, or the product; bools are reduced by `logic`.
template <Reducer reducer, Reducer logic>
Result<std::vector<Tensor>> define_extreme(const Application& op) {
  HONE_TRY(const std::vector<std::int64_t> axes, reduced_axes(op));
  const Tensor& x = op.tensor(0);
  const bool is_product = reducer == tensor::reduce_prod;
  const ir::DType type = is_product ? accumulator_type(x.type()) : x.type();
  const ReducePlan plan(x.shape(), axes, op.integer("keepdims", 1) != 0);
  const Tensor reduced = tensor::compute("reduced", tensor::axes_of(plan.kept()), [&](const Indices& i) {
    return (type.is_bool() ? logic : reducer)(plan.reduced(),
                                              [&](const Indices& r) { return ir::cast(type, x(plan.element(i, r))); });
  });
  return finish(op, reduced);
}

/// log(sum(exp(x))), computed relative to the largest finite element so that nothing overflows.
Result<std::vector<Tensor>> define_log_sum_exp(const Application& op) {
  HONE_TRY(const std::vector<std::int64_t> axes, reduced_axes(op));
  const Tensor& x = op.tensor(0);
  const ir::DType type = x.type().is_float() ? accumulator_type(x.type()) : ir::kF64;
  const ReducePlan plan(x.shape(), axes, op.integer("keepdims", 1) != 0);
  const Tensor largest = tensor::compute("max", tensor::axes_of(plan.kept()), [&](const Indices& i) {
    return tensor::reduce_max(plan.reduced(), [&](const Indices& r) { return ir::cast(type, x(plan.element(i, r))); });
  });
  const Tensor base = tensor::map("base", largest, [&](const Expr& e) {
    return ir::select(ir::call(Intrinsic::IsInf, {e}), real_constant(type, 0), e);
  });
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) {
    return ir::call(Intrinsic::Exp, {ir::cast(type, x(i)) - base(plan.row(i))});
  });
  return finish(op, tensor::compute("log_sum_exp", tensor::axes_of(plan.kept()),
                                    [&](const Indices& i) { return logarithm(sum(i)) + base(i); }));
}

/// The place of the largest (smallest) element along one axis; the last of equal ones is the first from the end.
template <auto reducer>
Result<std::vector<Tensor>> define_place(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", 0), op.rank(0)));
  const ReducePlan plan(x.shape(), {axis}, op.integer("keepdims", 1) != 0);
  if (plan.count() == 0) return op.fail("axis {} has no elements, allowed is 1 and more", axis);
  const bool from_end = op.integer("select_last_index", 0) != 0;
  const Expr last = ir::imm(plan.count() - 1);
  std::vector<Tensor> found =
      tensor::compute_all({"extreme", "place"}, tensor::axes_of(plan.kept()), [&](const Indices& i) {
        return reducer(
            plan.reduced(), [&](const Indices& r) { return x(plan.element(i, from_end ? Indices{last - r[0]} : r)); },
            ir::kI64);
      });
  // elements that are all NaN leave no place
  return std::vector<Tensor>{tensor::map("index", found[1], [&](const Expr& place) {
    const Expr inside = ir::min(place, last);
    return from_end ? last - inside : inside;
  })};
}

constexpr Operator reduce_entry(std::string_view name, std::string_view schema, Define define) {
  return {.name = name, .schema = schema, .define = define};
}

constexpr std::string_view kNumbers =
    "data: T, axes?: int64 -> reduced: T; axes, keepdims, noop_with_empty_axes; T: number";
constexpr std::string_view kNumbersOrBools =
    "data: T, axes?: int64 -> reduced: T; axes, keepdims, noop_with_empty_axes; T: number|bool";
constexpr std::string_view kPlace = "data: T -> reduced: int64; axis, keepdims, select_last_index; T: number";

}  // namespace

std::span<const Operator> reduction_operators() {
  static const Operator entries[] = {
      reduce_entry("ReduceSum", kNumbers, define_sum<identity, identity>),
      reduce_entry("ReduceMean", kNumbers, define_mean),
      reduce_entry("ReduceL1", kNumbers, define_sum<absolute, identity>),
      reduce_entry("ReduceL2", kNumbers, define_sum<square, square_root>),
      reduce_entry("ReduceSumSquare", kNumbers, define_sum<square, identity>),
      reduce_entry("ReduceLogSum", kNumbers, define_sum<identity, logarithm>),
      reduce_entry("ReduceLogSumExp", kNumbers, define_log_sum_exp),
      reduce_entry("ReduceMax", kNumbersOrBools, define_extreme<tensor::reduce_max, tensor::reduce_any>),
      reduce_entry("ReduceMin", kNumbersOrBools, define_extreme<tensor::reduce_min, tensor::reduce_all>),
      reduce_entry("ReduceProd", kNumbers, define_extreme<tensor::reduce_prod, tensor::reduce_all>),
      reduce_entry("ArgMax", kPlace, define_place<tensor::reduce_argmax>),
      reduce_entry("ArgMin", kPlace, define_place<tensor::reduce_argmin>),
  };
  return entries;
}

}  // namespace hone::graph
