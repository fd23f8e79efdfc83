#include <cmath>
#include <fmt/format.h>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/indexing.h"
#include "hone/runtime/kernels/roi.h"

namespace hone::graph {
namespace {

using ir::Expr;
using ir::Intrinsic;
using tensor::Indices;
using tensor::Tensor;

enum class Outside { Zeros, Border, Reflection };

/// What GridSample does, in one place.
struct Sampling {
  std::int64_t taps = 2;  ///< neighbours along each axis: 1 (nearest), 2 (linear), 4 (cubic)
  Outside outside = Outside::Zeros;
  bool is_aligned = false;
  ir::DType wide = ir::kF32;  ///< the type of coordinates and weights

  Expr number(double value) const { return ir::constant(wide, value); }
};

Result<Sampling> sampling_of(const Application& op) {
  Sampling sampling;
  const std::string mode = op.text("mode", "linear"), padding = op.text("padding_mode", "zeros");
  if (mode == "nearest")
    sampling.taps = 1;
  else if (mode == "cubic" || mode == "bicubic")
    sampling.taps = 4;
  else if (mode != "linear" && mode != "bilinear")
    return op.fail("mode '{}', allowed are linear, nearest and cubic", mode);
  if (padding == "border")
    sampling.outside = Outside::Border;
  else if (padding == "reflection")
    sampling.outside = Outside::Reflection;
  else if (padding != "zeros")
    return op.fail("padding_mode '{}', allowed are zeros, border and reflection", padding);
  sampling.is_aligned = op.integer("align_corners", 0) != 0;
  if (op.tensor(0).type() == ir::kF64 || op.tensor(1).type() == ir::kF64) sampling.wide = ir::kF64;
  return sampling;
}

/// Mirrors a place at the borders of an axis until it is inside.
Expr reflected(const Sampling& s, const Expr& place, std::int64_t extent) {
  const double low = s.is_aligned ? 0 : -0.5, high = static_cast<double>(extent) - (s.is_aligned ? 1 : 0.5);
  const double range = high - low;
  if (range <= 0) return s.number(low);
  const auto fold = [&](const Expr& beyond, double from, double sign) {
    const Expr times = ir::call(Intrinsic::Floor, {beyond / s.number(range)});
    const Expr rest = beyond - times * s.number(range);
    const Expr half = ir::call(Intrinsic::Floor, {times * s.number(0.5)});
    const Expr is_even = ir::eq(times, half + half);
    const double other = from == low ? high : low;
    return ir::select(is_even, s.number(from) + rest * s.number(sign), s.number(other) - rest * s.number(sign));
  };
  return ir::select(place < s.number(low), fold(s.number(low) - place, low, 1),
                    ir::select(s.number(high) < place, fold(place - s.number(high), high, -1), place));
}

/// The place in the axis that a coordinate from -1 to 1 stands for.
Expr place_of(const Sampling& s, const Expr& coordinate, std::int64_t extent) {
  const auto count = static_cast<double>(extent);
  const Expr shifted = coordinate + s.number(1);
  Expr place = s.is_aligned ? shifted * s.number(0.5) * s.number(count - 1)
                            : (shifted * s.number(count) - s.number(1)) * s.number(0.5);
  const double far = std::ldexp(1, 30);  // so that neighbours are numbers that can be counted
  place = ir::max(ir::min(place, s.number(far)), s.number(-far));
  if (s.taps == 1) place = ir::call(Intrinsic::Round, {place});
  const double low = s.is_aligned ? 0 : -0.5, high = count - (s.is_aligned ? 1 : 0.5);
  if (s.outside == Outside::Border)
    return ir::select(place < s.number(low), s.number(0),
                      ir::select(s.number(high) < place, s.number(count - 1), place));
  return s.outside == Outside::Reflection ? reflected(s, place, extent) : place;
}

/// The element of an axis that stands at a whole-numbered place; -1 if there is none.
Expr neighbour(const Sampling& s, const Expr& place, std::int64_t extent) {
  if (s.outside == Outside::Zeros) return ir::select(ir::logical_and(place >= 0, place < extent), place, ir::imm(-1));
  const Expr inside =
      s.outside == Outside::Border ? place : ir::cast(ir::kIndex, reflected(s, ir::cast(s.wide, place), extent));
  return ir::max(ir::min(inside, ir::imm(extent - 1)), ir::imm(0));
}

/// The weight of neighbour `tap` of a place that is `rest` beyond a whole number.
Expr weight_of(const Sampling& s, const Expr& rest, const Expr& tap) {
  if (s.taps == 2) return ir::select(ir::eq(tap, 0), s.number(1) - rest, rest);
  constexpr double kA = -0.75;
  const auto near = [&](const Expr& d) { return (s.number(kA + 2) * d - s.number(kA + 3)) * d * d + s.number(1); };
  const auto far = [&](const Expr& d) {
    return ((s.number(kA) * d - s.number(5 * kA)) * d + s.number(8 * kA)) * d - s.number(4 * kA);
  };
  const Expr other = s.number(1) - rest;
  return ir::select(tap < 2, ir::select(ir::eq(tap, 0), far(rest + s.number(1)), near(rest)),
                    ir::select(ir::eq(tap, 2), near(other), far(other + s.number(1))));
}

Result<std::vector<Tensor>> define_grid_sample(const Application& op) {
  const Tensor &x = op.tensor(0), &grid = op.tensor(1);
  HONE_TRY(const Sampling s, sampling_of(op));
  const std::size_t axes = x.rank() < 2 ? 0 : x.rank() - 2;
  if (axes == 0 || grid.rank() != x.rank() || grid.extent(0) != x.extent(0) ||
      grid.shape().back() != static_cast<std::int64_t>(axes))
    return op.fail("a grid of shape [{}] for an input of shape [{}]", fmt::join(grid.shape(), ", "),
                   fmt::join(x.shape(), ", "));
  Shape shape{x.extent(0), x.extent(1)};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  HONE_TRY(const std::int64_t count, runtime::element_count(shape));
  for (std::size_t a = 0; a < axes; ++a)
    if (count > 0 && x.extent(a + 2) == 0) return op.fail("axis {} has no elements", a + 2);

  // One small tensor per axis of places, of neighbours and of weights, which all channels share.
  Shape points{x.extent(0)};
  points.insert(points.end(), shape.begin() + 2, shape.end());
  Shape windows = points;
  windows.push_back(s.taps);
  std::vector<Tensor> neighbours, weights;
  for (std::size_t a = 0; a < axes; ++a) {
    const std::int64_t extent = x.extent(a + 2);
    const Tensor place = tensor::compute("place", tensor::axes_of(points), [&](const Indices& i) {
      Indices from = i;
      from.push_back(ir::imm(static_cast<std::int64_t>(axes - 1 - a)));  // the last axis stands first
      return place_of(s, ir::cast(s.wide, grid(from)), extent);
    });
    const auto floor_at = [&](const Indices& i) {
      return ir::call(Intrinsic::Floor, {place(Indices(i.begin(), i.end() - 1))});
    };
    neighbours.push_back(tensor::compute("neighbour", tensor::axes_of(windows), [&](const Indices& i) {
      const Expr below = ir::cast(ir::kIndex, floor_at(i));
      return neighbour(s, s.taps == 4 ? below + i.back() - 1 : below + i.back(), extent);
    }));
    if (s.taps == 1) continue;
    weights.push_back(tensor::compute("weight", tensor::axes_of(windows), [&](const Indices& i) {
      return weight_of(s, place(Indices(i.begin(), i.end() - 1)) - floor_at(i), i.back());
    }));
  }

  /// The weighted element for one choice of neighbours.
  const auto term = [&](const Indices& i, const Indices& taps) {
    Indices at{i[0]}, from{i[0], i[1]};
    at.insert(at.end(), i.begin() + 2, i.end());
    at.emplace_back();
    Expr weight, is_inside;
    for (std::size_t a = 0; a < axes; ++a) {
      at.back() = taps[a];
      from.push_back(neighbours[a](at));
      if (s.outside == Outside::Zeros)
        is_inside = is_inside ? ir::logical_and(is_inside, from.back() >= 0) : from.back() >= 0;
      if (s.taps > 1) weight = weight ? weight * weights[a](at) : weights[a](at);
    }
    const Expr value = weight ? weight * ir::cast(s.wide, x(from)) : x(from);
    return is_inside ? ir::select(is_inside, value, zero(value.type())) : value;
  };
  const std::vector<tensor::Axis> loops(axes, tensor::Axis(s.taps));
  const Tensor sampled = tensor::compute("grid_sample", tensor::axes_of(shape), [&](const Indices& i) -> tensor::Body {
    if (s.taps == 1) return term(i, Indices(axes, ir::imm(0)));
    return tensor::reduce_sum(loops, [&](const Indices& taps) { return term(i, taps); });
  });
  if (sampled.type() == x.type()) return std::vector{sampled};
  return std::vector{tensor::compute("grid_sample_cast", tensor::axes_of(shape),
                                     [&](const Indices& i) { return ir::cast(x.type(), sampled(i)); })};
}

Result<std::vector<OutputSpec>> infer_roi_align(const Application& op) {
  if (op.rank(0) != 4 || op.rank(1) != 2)
    return op.fail("an input of {} axes and rois of {}, allowed are 4 and 2", op.rank(0), op.rank(1));
  return std::vector{OutputSpec{
      op.type(0), {op.shape(1)[0], op.shape(0)[1], op.integer("output_height", 1), op.integer("output_width", 1)}}};
}

Result<std::vector<OutputSpec>> infer_max_roi_pool(const Application& op) {
  const Integers pooled = op.integers("pooled_shape");
  if (op.rank(0) != 4 || op.rank(1) != 2 || pooled.size() != 2)
    return op.fail("an input of {} axes, rois of {} and a pooled_shape of {}, allowed are 4, 2 and 2", op.rank(0),
                   op.rank(1), pooled.size());
  return std::vector{OutputSpec{op.type(0), {op.shape(1)[0], op.shape(0)[1], pooled[0], pooled[1]}}};
}

}  // namespace

std::span<const Operator> sample_operators() {
  static const Operator operators[] = {
      {.name = "GridSample",
       .schema = "X: T, grid: G -> Y: T; align_corners, mode, padding_mode; T: number, G: float",
       .define = define_grid_sample},
      {.name = "RoiAlign",
       .schema = "X: T, rois: T, batch_indices: int64 -> Y: T; coordinate_transformation_mode, mode, output_height, "
                 "output_width, sampling_ratio, spatial_scale; T: float",
       .host = runtime::roi_align_kernel,
       .infer = infer_roi_align},
      {.name = "MaxRoiPool",
       .schema = "X: T, rois: T -> Y: T; pooled_shape, spatial_scale; T: float",
       .host = runtime::max_roi_pool_kernel,
       .infer = infer_max_roi_pool},
  };
  return operators;
}

}  // namespace hone::graph
