#include "hone/runtime/kernels/rearrange.h"

#include <algorithm>
#include <fmt/format.h>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/indexing.h"
#include "hone/runtime/kernels/pad_index.h"

namespace hone::graph {
namespace {

using ir::Expr;
using runtime::Padding;
using runtime::PadMode;
using tensor::Indices;
using tensor::Tensor;

Result<Tensors> define_expand(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Integers wanted, op.ints(1));
  HONE_TRY(const Shape shape, checked(op, runtime::broadcast_rule(x.shape(), wanted)));
  const std::size_t added = shape.size() - x.rank();
  return std::vector{tensor::compute("expand", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from(i.begin() + static_cast<std::ptrdiff_t>(added), i.end());
    for (std::size_t axis = 0; axis < x.rank(); ++axis)
      if (x.extent(axis) == 1) from[axis] = ir::imm(0);
    return x(from);
  })};
}

Result<Tensors> define_tile(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Integers repeats, op.ints(1));
  HONE_TRY(const Shape shape, checked(op, runtime::tile_rule(x.shape(), repeats)));
  return std::vector{tensor::compute("tile", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from = i;
    for (std::size_t axis = 0; axis < x.rank(); ++axis)
      if (repeats[axis] > 1 && x.extent(axis) > 0) from[axis] = ir::floor_mod(i[axis], x.extent(axis));
    return x(from);
  })};
}

Result<Tensors> define_transpose(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Integers order, checked(op, runtime::permutation_rule(op.integers("perm"), x.rank())));
  Shape shape;
  for (const std::int64_t axis : order) shape.push_back(x.extent(static_cast<std::size_t>(axis)));
  return std::vector{tensor::compute("transpose", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from(i.size());
    for (std::size_t axis = 0; axis < order.size(); ++axis) from[static_cast<std::size_t>(order[axis])] = i[axis];
    return x(from);
  })};
}

Result<Tensors> define_slice(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Integers starts, op.ints(1));
  HONE_TRY(const Integers ends, op.ints(2));
  HONE_TRY(const std::optional<Integers> axes, optional_ints(op, 3));
  HONE_TRY(const std::optional<Integers> steps, optional_ints(op, 4));
  HONE_TRY(const std::vector<runtime::AxisRange> ranges,
           checked(op, runtime::slice_rule(x.shape(), starts, ends, axes, steps)));
  Shape shape;
  for (const runtime::AxisRange& range : ranges) shape.push_back(range.count);
  return std::vector{tensor::compute("slice", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from = i;
    for (std::size_t axis = 0; axis < i.size(); ++axis) {
      if (ranges[axis].step != 1) from[axis] = from[axis] * ranges[axis].step;
      if (ranges[axis].start != 0) from[axis] = from[axis] + ranges[axis].start;
    }
    return x(from);
  })};
}

Result<Tensors> define_split(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", 0), op.rank(0)));
  HONE_TRY(const std::optional<Integers> wanted, optional_ints(op, 1));
  const auto at = static_cast<std::size_t>(axis);
  if (const std::int64_t parts = op.integer("num_outputs", static_cast<std::int64_t>(op.output_count()));
      parts != static_cast<std::int64_t>(op.output_count()))
    return op.fail("num_outputs is {}, the node has {} outputs", parts, op.output_count());
  HONE_TRY(const Integers sizes, checked(op, runtime::split_rule(x.extent(at), op.output_count(), wanted)));
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    Shape shape = x.shape();
    shape[at] = size;
    parts.push_back(tensor::compute("split", tensor::axes_of(shape), [&](const Indices& i) {
      Indices from = i;
      if (start != 0) from[at] = i[at] + start;
      return x(from);
    }));
    start += size;
  }
  return parts;
}

/// The element at `i` of parts [first, end) put one after the other; starts[k] is where part k begins. The conditions
/// form a balanced tree: few are asked however many parts there are.
Expr choose_part(const std::vector<Tensor>& parts, const Integers& starts, std::size_t first, std::size_t end,
                 std::size_t axis, const Indices& i) {
  if (end - first == 1) {
    Indices from = i;
    if (starts[first] != 0) from[axis] = i[axis] - starts[first];
    return parts[first](from);
  }
  const std::size_t middle = first + (end - first) / 2;
  return ir::select(i[axis] < starts[middle], choose_part(parts, starts, first, middle, axis, i),
                    choose_part(parts, starts, middle, end, axis, i));
}

Result<Tensors> define_concat(const Application& op) {
  // An empty vector may stand beside tensors of any rank: exporters start lists with it.
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < op.input_count(); ++i)
    if (op.has(i) && !(op.rank(i) == 1 && op.shape(i)[0] == 0)) parts.push_back(op.tensor(i));
  if (parts.empty()) parts.push_back(op.tensor(0));
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", 0), static_cast<std::int64_t>(parts[0].rank())));
  const auto at = static_cast<std::size_t>(axis);
  Shape shape = parts[0].shape();
  shape[at] = 0;
  Integers starts;
  std::vector<Tensor> filled;
  for (const Tensor& part : parts) {
    Shape other = part.shape();
    if (other.size() == shape.size()) other[at] = shape[at];
    if (other != shape)
      return op.fail("shapes [{}] and [{}] differ in more than axis {}", fmt::join(parts[0].shape(), ", "),
                     fmt::join(part.shape(), ", "), axis);
    if (part.type() != parts[0].type())
      return op.fail("types {} and {} differ", ir::to_string(parts[0].type()), ir::to_string(part.type()));
    if (part.extent(at) == 0) continue;
    starts.push_back(shape[at]);
    filled.push_back(part);
    shape[at] += part.extent(at);
  }
  if (filled.empty()) {
    filled.push_back(parts[0]);
    starts.push_back(0);
  }
  return std::vector{tensor::compute("concat", tensor::axes_of(shape), [&](const Indices& i) {
    return choose_part(filled, starts, 0, filled.size(), at, i);
  })};
}

/// The expression of runtime::pad_index for an axis that is continued.
Expr continued(const Expr& at, std::int64_t extent, const std::pair<std::int64_t, std::int64_t>& reach, PadMode mode) {
  const auto [before, after] = reach;
  if (extent == 1) return ir::imm(0);
  if (mode == PadMode::Edge) return ir::min(ir::max(at, ir::imm(0)), ir::imm(extent - 1));
  if (mode == PadMode::Wrap) return ir::floor_mod(at, extent);
  const std::int64_t last = extent - 1;
  if (before <= last && after <= last) {
    const Expr past_end = after > 0 ? ir::select(at < extent, at, ir::imm(2 * last) - at) : at;
    return before > 0 ? ir::select(at < 0, -at, past_end) : past_end;
  }
  const Expr folded = ir::floor_mod(at, 2 * last);
  return ir::min(folded, ir::imm(2 * last) - folded);
}

/// `x` with its axes lengthened or cut; `other` stands outside in constant mode.
Tensor padded(const Tensor& x, const Padding& padding, PadMode mode, FunctionRef<Expr()> other) {
  const Shape shape = runtime::padded_shape(x.shape(), padding);
  return tensor::compute("pad", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from = i;
    Expr is_inside;
    const auto require = [&](const Expr& condition) {
      is_inside = is_inside ? ir::logical_and(is_inside, condition) : condition;
    };
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      const std::int64_t before = padding.before[axis], after = padding.after[axis];
      if (before != 0) from[axis] = i[axis] - before;
      if (before <= 0 && after <= 0) continue;
      if (mode != PadMode::Constant) {
        from[axis] = continued(from[axis], x.extent(axis), {before, after}, mode);
        continue;
      }
      if (before > 0) require(from[axis] >= 0);
      if (after > 0) require(from[axis] < x.extent(axis));
    }
    return is_inside ? ir::select(is_inside, x(from), other()) : x(from);
  });
}

Result<Tensors> define_pad(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Integers pads, op.ints(1));
  HONE_TRY(const std::optional<Integers> axes, optional_ints(op, 3));
  HONE_TRY(const PadMode mode, checked(op, runtime::pad_mode_named(op.text("mode", "constant"))));
  HONE_TRY(const Padding padding, checked(op, runtime::pad_rule(x.shape(), pads, axes)));
  if (const auto possible = runtime::check_pad(x.shape(), padding, mode); !possible)
    return op.fail("{}", possible.error().message);
  if (op.has(2) && runtime::element_count(op.shape(2)).value_or(0) != 1)
    return op.fail("constant_value has the shape [{}], allowed is one element", fmt::join(op.shape(2), ", "));
  return std::vector{padded(x, padding, mode, [&] { return op.has(2) ? only_element(op.tensor(2)) : zero(x.type()); })};
}

Result<Tensors> define_center_crop_pad(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Integers wanted, op.ints(1));
  HONE_TRY(const Padding padding,
           checked(op, runtime::center_crop_rule(x.shape(), wanted, optional_integers(op, "axes"))));
  return std::vector{padded(x, padding, PadMode::Constant, [&] { return zero(x.type()); })};
}

/// The block size and whether the block's place is above the channel, for DepthToSpace and SpaceToDepth.
struct Blocks {
  std::int64_t size;
  bool is_depth_first;
};

Result<Blocks> blocks_of(const Application& op) {
  const std::int64_t size = op.integer("blocksize", 0);
  const std::string mode = op.text("mode", "DCR");
  constexpr std::int64_t kMost = 1 << 20;
  if (op.rank(0) != 4) return op.fail("an input of {} axes, allowed is 4", op.rank(0));
  if (size < 1 || size > kMost) return op.fail("blocksize {}, allowed are 1..{}", size, kMost);
  if (mode != "DCR" && mode != "CRD") return op.fail("mode '{}', allowed are DCR and CRD", mode);
  return Blocks{size, mode == "DCR"};
}

Result<Tensors> define_depth_to_space(const Application& op) {
  HONE_TRY(const Blocks blocks, blocks_of(op));
  const Tensor& x = op.tensor(0);
  const std::int64_t size = blocks.size, area = size * size, channels = x.extent(1) / area;
  if (x.extent(1) % area != 0) return op.fail("{} channels are no multiple of {}", x.extent(1), area);
  const Shape shape{x.extent(0), channels, x.extent(2) * size, x.extent(3) * size};
  return std::vector{tensor::compute("depth_to_space", tensor::axes_of(shape), [&](const Indices& i) {
    const Expr place = ir::floor_mod(i[2], size) * size + ir::floor_mod(i[3], size);
    const Expr channel = blocks.is_depth_first ? place * channels + i[1] : i[1] * area + place;
    return x(i[0], channel, ir::floor_div(i[2], size), ir::floor_div(i[3], size));
  })};
}

Result<Tensors> define_space_to_depth(const Application& op) {
  HONE_TRY(const Blocks blocks, blocks_of(op));
  const Tensor& x = op.tensor(0);
  const std::int64_t size = blocks.size, area = size * size, channels = x.extent(1);
  if (x.extent(2) % size != 0 || x.extent(3) % size != 0)
    return op.fail("an image of {} by {} is no multiple of {}", x.extent(2), x.extent(3), size);
  const Shape shape{x.extent(0), channels * area, x.extent(2) / size, x.extent(3) / size};
  return std::vector{tensor::compute("space_to_depth", tensor::axes_of(shape), [&](const Indices& i) {
    const std::int64_t inner = std::max<std::int64_t>(blocks.is_depth_first ? channels : area, 1);
    const Expr outer = ir::floor_div(i[1], inner), rest = ir::floor_mod(i[1], inner);
    const Expr& place = blocks.is_depth_first ? outer : rest;
    const Expr& channel = blocks.is_depth_first ? rest : outer;
    return x(i[0], channel, i[2] * size + ir::floor_div(place, size), i[3] * size + ir::floor_mod(place, size));
  })};
}

Result<Tensors> define_reverse_sequence(const Application& op) {
  const Tensor &x = op.tensor(0), &lengths = op.tensor(1);
  HONE_TRY(const std::int64_t batch, op.axis(op.integer("batch_axis", 1), op.rank(0)));
  HONE_TRY(const std::int64_t time, op.axis(op.integer("time_axis", 0), op.rank(0)));
  const auto b = static_cast<std::size_t>(batch), t = static_cast<std::size_t>(time);
  if (batch == time) return op.fail("batch_axis and time_axis are both {}", batch);
  if (lengths.shape() != Shape{x.extent(b)})
    return op.fail("sequence lengths of shape [{}], allowed is [{}]", fmt::join(lengths.shape(), ", "), x.extent(b));
  return std::vector{tensor::compute("reverse_sequence", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr length = ir::min(ir::cast(ir::kIndex, lengths(i[b])), ir::imm(x.extent(t)));
    Indices from = i;
    from[t] = ir::select(i[t] < length, length - 1 - i[t], i[t]);
    return x(from);
  })};
}

Result<Tensors> define_trilu(const Application& op) {
  const Tensor& x = op.tensor(0);
  if (x.rank() < 2) return op.fail("an input of {} axes, allowed is 2 and more", x.rank());
  const bool is_upper = op.integer("upper", 1) != 0;
  return std::vector{tensor::compute("trilu", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr row = i[i.size() - 2], column = i[i.size() - 1];
    Expr diagonal = row;
    if (op.has(1)) {
      const Expr limit = ir::imm(std::int64_t{1} << 48);  // so that the sum below cannot overflow
      diagonal = row + ir::max(ir::min(ir::cast(ir::kIndex, only_element(op.tensor(1))), limit), -limit);
    }
    return ir::select(is_upper ? diagonal <= column : column <= diagonal, x(i), zero(x.type()));
  })};
}

}  // namespace

std::span<const Operator> rearrange_operators() {
  using namespace runtime;  // the kernels
  static const Operator operators[] = {
      {.name = "Expand",
       .schema = "input: T, shape: int64 -> output: T",
       .define = define_expand,
       .host = expand_kernel},
      {.name = "Tile", .schema = "input: T, repeats: int64 -> output: T", .define = define_tile, .host = tile_kernel},
      {.name = "Transpose",
       .schema = "data: T -> transposed: T; perm",
       .define = define_transpose,
       .host = transpose_kernel},
      {.name = "Slice",
       .schema = "data: T, starts: I, ends: I, axes?: I, steps?: I -> output: T; ; I: index",
       .define = define_slice,
       .host = slice_kernel},
      {.name = "Split",
       .schema = "input: T, split?: int64 -> outputs...: T; axis, num_outputs",
       .define = define_split,
       .host = split_kernel},
      {.name = "Concat",
       .schema = "inputs...: T -> concat_result: T; axis",
       .define = define_concat,
       .host = concat_kernel},
      {.name = "Pad",
       .schema = "data: T, pads: int64, constant_value?: T, axes?: index -> output: T; mode",
       .define = define_pad,
       .host = pad_kernel},
      {.name = "CenterCropPad",
       .schema = "input_data: T, shape: index -> output_data: T; axes",
       .define = define_center_crop_pad,
       .host = center_crop_pad_kernel},
      {.name = "DepthToSpace",
       .schema = "input: T -> output: T; blocksize, mode",
       .define = define_depth_to_space,
       .host = depth_to_space_kernel},
      {.name = "SpaceToDepth",
       .schema = "input: T -> output: T; blocksize, mode",
       .define = define_space_to_depth,
       .host = space_to_depth_kernel},
      {.name = "ReverseSequence",
       .schema = "input: T, sequence_lens: int64 -> Y: T; batch_axis, time_axis",
       .define = define_reverse_sequence,
       .host = reverse_sequence_kernel},
      {.name = "Trilu", .schema = "input: T, k?: int64 -> output: T; upper", .define = define_trilu},
  };
  return operators;
}

}  // namespace hone::graph
