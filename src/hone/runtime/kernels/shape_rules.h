/// Shape rules: what the arguments of shape operators (axes, pads, starts, …) mean for a given shape. Definitions and
/// host kernels share them.
#pragma once

#include <optional>
#include <vector>

#include "hone/runtime/value.h"

namespace hone::runtime {

using Integers = std::vector<std::int64_t>;

/// `axis` counted from 0, or an error if it is outside [-rank, rank).
Result<std::int64_t> normalize_axis(std::int64_t axis, std::size_t rank);
/// The same for several axes, none of which may stand twice.
Result<Integers> normalize_axes(const Integers& axes, std::size_t rank);

/// `index` counted from 0, or an error if it is outside [-extent, extent).
Result<std::int64_t> normalize_index(std::int64_t index, std::int64_t extent);

/// The shape that Reshape makes: -1 stands for what remains, 0 for the extent of the input (unless zeros are allowed).
Result<Shape> reshape_rule(const Shape& from, const Integers& wanted, bool are_zeros_allowed);
/// [product of the extents before the axis, product of the others]; the axis may be the rank.
Result<Shape> flatten_rule(const Shape& from, std::int64_t axis);
/// Without these axes, which must have extent 1; no axes: without all that have extent 1.
Result<Shape> squeeze_rule(const Shape& from, const Integers& axes);
/// With axes of extent 1 at these places of the result.
Result<Shape> unsqueeze_rule(const Shape& from, const Integers& axes);
/// The shape that both broadcast to as in numpy.
Result<Shape> broadcast_rule(const Shape& a, const Shape& b);
/// Each extent as often as wanted.
Result<Shape> tile_rule(const Shape& shape, const Integers& repeats);
/// The inverse of the order of axes if none is given, otherwise the given one, which must name each axis once.
Result<Integers> permutation_rule(const Integers& wanted, std::size_t rank);

/// The elements start, start + step, … of an axis.
struct AxisRange {
  std::int64_t start, step, count;
};

/// What Slice takes of each axis. `axes` none: the first ones; `steps` none: 1.
Result<std::vector<AxisRange>> slice_rule(const Shape& shape, const Integers& starts, const Integers& ends,
                                          const std::optional<Integers>& axes, const std::optional<Integers>& steps);

/// The extents of Split's parts along an axis: as given, or `parts` equal ones of which the last may be smaller.
Result<Integers> split_rule(std::int64_t extent, std::size_t parts, const std::optional<Integers>& sizes);

/// Elements added (or, if negative, removed) before and after each axis.
struct Padding {
  Integers before, after;
};

/// `pads` holds the amounts before, then those after, of each of `axes` (none: all). The result's extents are checked
/// to be possible.
Result<Padding> pad_rule(const Shape& shape, const Integers& pads, const std::optional<Integers>& axes);
/// The padding, partly negative, that brings the middle of each axis to the wanted extent.
Result<Padding> center_crop_rule(const Shape& shape, const Integers& wanted, const std::optional<Integers>& axes);
Shape padded_shape(const Shape& shape, const Padding& padding);

/// The shapes of Gather's and GatherND's results.
Result<Shape> gather_rule(const Shape& data, const Shape& indices, std::int64_t axis);
Result<Shape> gather_nd_rule(const Shape& data, const Shape& indices, std::int64_t batch_axes);

}  // namespace hone::runtime
