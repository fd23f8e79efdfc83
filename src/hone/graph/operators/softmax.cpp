#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/definitions.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// One axis; before opset 13 all axes from there on are one.
Result<ReducePlan> plan_of(const Application& op) {
  const bool is_flat = op.opset() < 13;
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", is_flat ? 1 : -1), op.rank(0)));
  return ReducePlan(op.shape(0), is_flat ? axes_from(axis, op.rank(0)) : std::vector{axis}, /*keep=*/true);
}

template <Tensor (*softmax)(const Tensor&, const ReducePlan&, ir::DType)>
Result<std::vector<Tensor>> define_softmax(const Application& op) {
  HONE_TRY(const ReducePlan plan, plan_of(op));
  const Tensor& x = op.tensor(0);
  return std::vector<Tensor>{converted(softmax(converted(x, accumulator_type(x.type())), plan, x.type()), x.type())};
}

/// 1 where the first largest element of the axis stands, 0 elsewhere.
Result<std::vector<Tensor>> define_hardmax(const Application& op) {
  HONE_TRY(const ReducePlan plan, plan_of(op));
  const Tensor& x = op.tensor(0);
  const std::vector<Tensor> found =
      tensor::compute_all({"largest", "place"}, tensor::axes_of(plan.kept()), [&](const Indices& i) {
        return tensor::reduce_argmax(plan.reduced(), [&](const Indices& r) { return x(plan.element(i, r)); });
      });
  return std::vector<Tensor>{tensor::compute("hardmax", tensor::axes_of(x.shape()), [&](const Indices& i) {
    Expr place = ir::imm(0);
    for (std::size_t axis = 0; axis < i.size(); ++axis)
      if (plan.is_reduced(axis)) place = place * x.extent(axis) + i[axis];
    return ir::cast(x.type(), ir::eq(place, found[1](plan.row(i))));
  })};
}

constexpr std::string_view kSchema = "input: T -> output: T; axis; T: float";

}  // namespace

std::span<const Operator> softmax_operators() {
  static const Operator entries[] = {
      {.name = "Softmax", .schema = kSchema, .define = define_softmax<softmax_over>},
      {.name = "LogSoftmax", .schema = kSchema, .define = define_softmax<log_softmax_over>},
      {.name = "Hardmax", .schema = kSchema, .define = define_hardmax},
  };
  return entries;
}

}  // namespace hone::graph
