#include "hone/graph/operators/convert.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/pointwise.h"
#include "hone/runtime/kernels/elementwise.h"

namespace hone::graph {
namespace {

using ir::Expr;
using ir::Intrinsic;

Expr equal(const Expr& a, const Expr& b) { return ir::eq(a, b); }
Expr less(const Expr& a, const Expr& b) { return a < b; }
Expr less_or_equal(const Expr& a, const Expr& b) { return a <= b; }
Expr greater(const Expr& a, const Expr& b) { return a > b; }
Expr greater_or_equal(const Expr& a, const Expr& b) { return a >= b; }
Expr different(const Expr& a, const Expr& b) { return ir::ne(a, b); }
Expr both(const Expr& a, const Expr& b) { return ir::logical_and(a, b); }
Expr either(const Expr& a, const Expr& b) { return ir::logical_or(a, b); }

Result<Tensors> define_not(const Application& op) {
  return map_first(op, [](const Expr& x) { return ir::logical_not(x); });
}

Result<Tensors> define_is_nan(const Application& op) {
  return map_first(op, [&](const Expr& x) { return ir::call(Intrinsic::IsNan, {to_number(x, op.type(0))}); });
}

Result<Tensors> define_is_inf(const Application& op) {
  const bool positive = op.integer("detect_positive", 1) != 0, negative = op.integer("detect_negative", 1) != 0;
  return map_first(op, [&](const Expr& bits) {
    const Expr x = to_number(bits, op.type(0));
    if (!positive && !negative) return ir::logical_and(ir::boolean(false), ir::eq(x, x));
    const Expr is_infinite = ir::call(Intrinsic::IsInf, {x});
    if (positive && negative) return is_infinite;
    return ir::logical_and(is_infinite, positive ? x > zero(x) : x < zero(x));
  });
}

Result<Tensors> define_where(const Application& op) {
  HONE_TRY(tensor::Tensor result, pointwise(op, {op.tensor(0), op.tensor(1), op.tensor(2)},
                                            [](const std::vector<Expr>& v) { return ir::select(v[0], v[1], v[2]); }));
  return Tensors{std::move(result)};
}

constexpr std::string_view kOrder = "A: T, B: T -> C: bool; axis, broadcast; T: number";
constexpr std::string_view kLogic = "A: T, B: T -> C: T; axis, broadcast; T: bool";

}  // namespace

std::span<const Operator> compare_operators() {
  static const Operator operators[] = {
      {.name = "Equal",
       .schema = "A: T, B: T -> C: bool; axis, broadcast; T: number|bool|string",
       .define = binary<equal>,
       .host = runtime::equal_kernel},
      {.name = "Less", .schema = kOrder, .define = binary<less>},
      {.name = "LessOrEqual", .schema = kOrder, .define = binary<less_or_equal>},
      {.name = "Greater", .schema = kOrder, .define = binary<greater>},
      {.name = "GreaterOrEqual", .schema = kOrder, .define = binary<greater_or_equal>},
      {.name = "And", .schema = kLogic, .define = binary<both>},
      {.name = "Or", .schema = kLogic, .define = binary<either>},
      {.name = "Xor", .schema = kLogic, .define = binary<different>},
      {.name = "Not", .schema = "X: T -> Y: T; ; T: bool", .define = define_not},
      {.name = "IsNaN",
       .schema = "X: T -> Y: bool; ; T: float|float8e4m3fn|float8e4m3fnuz|float8e5m2|float8e5m2fnuz",
       .define = define_is_nan},
      {.name = "IsInf",
       .schema = "X: T -> Y: bool; detect_negative, detect_positive; T: "
                 "float|float8e4m3fn|float8e4m3fnuz|float8e5m2|float8e5m2fnuz",
       .define = define_is_inf},
      {.name = "Where",
       .schema = "condition: bool, X: T, Y: T -> output: T; ; T: any",
       .define = define_where,
       .host = runtime::where_kernel},
  };
  return operators;
}

}  // namespace hone::graph
