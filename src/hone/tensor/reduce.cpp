#include "hone/tensor/reduce.h"

#include <limits>

namespace hone::tensor {

using ir::DType;
using ir::Expr;

namespace {

std::vector<Expr> variables(const std::vector<Axis>& axes) {
  std::vector<Expr> vars;
  for (const Axis& axis : axes) vars.push_back(ir::var(axis.name));
  return vars;
}

/// A reduction to one output; `identity` is asked for once the type of the source is known.
template <typename Identity, typename Combine>
Reduction reduce_one(std::vector<Axis> axes, Source source, Identity identity, Combine combine) {
  std::vector<Expr> vars = variables(axes);
  const Expr value = source(vars);
  Combiner combiner{.identity = {identity(value.type())},
                    .combine = [combine](const std::vector<Expr>& a, const std::vector<Expr>& b) {
                      return std::vector<Expr>{combine(a[0], b[0])};
                    }};
  return Reduction{std::move(axes), std::move(vars), {value}, std::move(combiner)};
}

/// The row-major position of the indices among the axes.
Expr position(const std::vector<Axis>& axes, const Indices& indices) {
  Expr place = ir::imm(0);
  for (std::size_t i = 0; i < axes.size(); ++i) place = i == 0 ? indices[0] : place * axes[i].extent + indices[i];
  return place;
}

/// argmax and argmin: `is_better(a, b)` says whether value a beats value b.
template <typename IsBetter>
Reduction reduce_place(std::vector<Axis> axes, Source source, DType place_type, Expr (*worst)(DType),
                       IsBetter is_better) {
  std::vector<Expr> vars = variables(axes);
  Expr value = source(vars);
  const Expr identity = worst(value.type());
  if (value.type().is_float()) value = ir::select(ir::call(ir::Intrinsic::IsNan, {value}), identity, value);
  const Expr place = ir::cast(place_type, position(axes, vars));
  Combiner combiner{.identity = {identity, highest(place_type)},
                    .combine = [is_better](const std::vector<Expr>& best, const std::vector<Expr>& next) {
                      const Expr wins_tie = ir::logical_and(ir::eq(next[0], best[0]), next[1] < best[1]);
                      const Expr wins = ir::logical_or(is_better(next[0], best[0]), wins_tie);
                      return std::vector<Expr>{ir::select(wins, next[0], best[0]), ir::select(wins, next[1], best[1])};
                    }};
  return Reduction{std::move(axes), std::move(vars), {value, place}, std::move(combiner)};
}

}  // namespace

std::vector<Axis> axes_of(const std::vector<std::int64_t>& shape, const std::vector<std::string>& names) {
  HONE_CHECK(names.size() <= shape.size(), "{} names for {} axes", names.size(), shape.size());
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) axes.emplace_back(i < names.size() ? names[i] : "", shape[i]);
  return axes;
}

Expr lowest(DType type) {
  if (type.is_float()) return ir::constant(type, -std::numeric_limits<double>::infinity());
  return ir::constant(type, ir::min_value(type));
}

Expr highest(DType type) {
  if (type.is_float()) return ir::constant(type, std::numeric_limits<double>::infinity());
  return ir::constant(type, ir::max_value(type));
}

Reduction reduce_sum(std::vector<Axis> axes, Source source) {
  return reduce_one(
      std::move(axes), source, [](DType type) { return ir::constant(type, std::int64_t{0}); },
      [](const Expr& a, const Expr& b) { return a + b; });
}

Reduction reduce_prod(std::vector<Axis> axes, Source source) {
  return reduce_one(
      std::move(axes), source, [](DType type) { return ir::constant(type, std::int64_t{1}); },
      [](const Expr& a, const Expr& b) { return a * b; });
}

Reduction reduce_max(std::vector<Axis> axes, Source source) {
  return reduce_one(std::move(axes), source, lowest, [](const Expr& a, const Expr& b) { return ir::max(a, b); });
}

Reduction reduce_min(std::vector<Axis> axes, Source source) {
  return reduce_one(std::move(axes), source, highest, [](const Expr& a, const Expr& b) { return ir::min(a, b); });
}

Reduction reduce_any(std::vector<Axis> axes, Source source) {
  return reduce_one(
      std::move(axes), source, [](DType) { return ir::boolean(false); },
      [](const Expr& a, const Expr& b) { return ir::logical_or(a, b); });
}

Reduction reduce_all(std::vector<Axis> axes, Source source) {
  return reduce_one(
      std::move(axes), source, [](DType) { return ir::boolean(true); },
      [](const Expr& a, const Expr& b) { return ir::logical_and(a, b); });
}

Reduction reduce_argmax(std::vector<Axis> axes, Source source, DType place_type) {
  return reduce_place(std::move(axes), source, place_type, lowest, [](const Expr& a, const Expr& b) { return a > b; });
}

Reduction reduce_argmin(std::vector<Axis> axes, Source source, DType place_type) {
  return reduce_place(std::move(axes), source, place_type, highest, [](const Expr& a, const Expr& b) { return a < b; });
}

Reduction reduce(std::vector<Axis> axes, const Combiner& combiner,
                 FunctionRef<std::vector<Expr>(const Indices&)> sources) {
  std::vector<Expr> vars = variables(axes);
  std::vector<Expr> values = sources(vars);
  HONE_CHECK(values.size() == combiner.identity.size(), "{} sources for {} identities", values.size(),
             combiner.identity.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    HONE_CHECK(values[i].type() == combiner.identity[i].type(), "source {} is {}, its identity {}", i,
               ir::to_string(values[i].type()), ir::to_string(combiner.identity[i].type()));
  return Reduction{std::move(axes), std::move(vars), std::move(values), combiner};
}

}  // namespace hone::tensor
