/// Reductions: what a compute may combine over axes that its result does not have.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hone/ir/expr.h"
#include "hone/support/function_ref.h"

namespace hone::tensor {

/// One index expression per axis.
using Indices = std::vector<ir::Expr>;

/// An axis to loop over: its extent and, optionally, the name of its loop. Unnamed axes are called i, j, k, … in the
/// order of the nest.
struct Axis {
  Axis(std::int64_t axis_extent) : extent(axis_extent) {}
  Axis(std::string loop_name, std::int64_t axis_extent) : name(std::move(loop_name)), extent(axis_extent) {}

  std::string name;
  std::int64_t extent;
};

/// Axes of a shape; `names` may be shorter than the shape.
std::vector<Axis> axes_of(const std::vector<std::int64_t>& shape, const std::vector<std::string>& names = {});

/// How two partial results become one: associative, commutative, with an identity; one entry per output.
struct Combiner {
  std::vector<ir::Expr> identity;
  std::function<std::vector<ir::Expr>(const std::vector<ir::Expr>& so_far, const std::vector<ir::Expr>& next)> combine;
};

/// The sources, over all values of the variables, put together by the combiner.
struct Reduction {
  std::vector<Axis> axes;
  std::vector<ir::Expr> vars;
  std::vector<ir::Expr> sources;
  Combiner combiner;
};

using Source = FunctionRef<ir::Expr(const Indices&)>;

/// Over no axes each of these is the source itself; over an empty axis it is the identity, which is named below.
/// The sum (0), with integers wrapping.
Reduction reduce_sum(std::vector<Axis> axes, Source source);
/// The product (1).
Reduction reduce_prod(std::vector<Axis> axes, Source source);
/// The largest and the smallest value (the lowest and the highest value of the type, infinities for floats). NaN wins.
Reduction reduce_max(std::vector<Axis> axes, Source source);
Reduction reduce_min(std::vector<Axis> axes, Source source);
/// Whether any (false) or all (true) sources, which are bools, hold.
Reduction reduce_any(std::vector<Axis> axes, Source source);
Reduction reduce_all(std::vector<Axis> axes, Source source);

/// Two outputs: the largest (smallest) value and its place, which is the row-major position among the axes. Of equal
/// values the one with the smallest place wins, in whatever order they are visited. NaN counts as the lowest (highest)
/// value: it wins only if nothing better is there. Over an empty axis the place is the highest value of its type.
Reduction reduce_argmax(std::vector<Axis> axes, Source source, ir::DType place_type = ir::kI64);
Reduction reduce_argmin(std::vector<Axis> axes, Source source, ir::DType place_type = ir::kI64);

/// Any other reduction, of one or several outputs.
Reduction reduce(std::vector<Axis> axes, const Combiner& combiner,
                 FunctionRef<std::vector<ir::Expr>(const Indices&)> sources);

/// The lowest and highest value of a type as constants: infinities for floats.
ir::Expr lowest(ir::DType type);
ir::Expr highest(ir::DType type);

}  // namespace hone::tensor
