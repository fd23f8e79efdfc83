#include <algorithm>
#include <fmt/format.h>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/indexing.h"
#include "hone/runtime/kernels/rearrange.h"

namespace hone::graph {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

/// The only index if there is one and it is known and inside the axis: a constant then serves instead of a load.
std::optional<std::int64_t> constant_index(const Application& op, std::size_t input, std::int64_t extent) {
  if (!op.is_known(input)) return std::nullopt;
  const Result<Integers> indices = op.ints(input);
  if (!indices || indices->size() != 1 || (*indices)[0] < -extent || (*indices)[0] >= extent) return std::nullopt;
  return (*indices)[0] < 0 ? (*indices)[0] + extent : (*indices)[0];
}

Result<Tensors> define_gather(const Application& op) {
  const Tensor &x = op.tensor(0), &indices = op.tensor(1);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", 0), op.rank(0)));
  HONE_TRY(const Shape shape, checked(op, runtime::gather_rule(x.shape(), indices.shape(), axis)));
  const std::int64_t extent = x.extent(static_cast<std::size_t>(axis));
  const std::optional<std::int64_t> known = constant_index(op, 1, extent);
  const auto end = axis + static_cast<std::int64_t>(indices.rank());
  return std::vector{tensor::compute("gather", tensor::axes_of(shape), [&](const Indices& i) {
    const Expr index =
        known ? ir::imm(*known) : safe_index(indices(Indices(i.begin() + axis, i.begin() + end)), extent);
    Indices from(i.begin(), i.begin() + axis);
    from.push_back(index);
    from.insert(from.end(), i.begin() + end, i.end());
    return x(from);
  })};
}

Result<Tensors> define_gather_elements(const Application& op) {
  const Tensor &x = op.tensor(0), &indices = op.tensor(1);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", 0), op.rank(0)));
  const auto at = static_cast<std::size_t>(axis);
  if (indices.rank() != x.rank()) return op.fail("indices of {} axes for {} axes of data", indices.rank(), x.rank());
  HONE_TRY(const std::int64_t count, runtime::element_count(indices.shape()));
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (i == at ? x.extent(i) == 0 && count > 0 : indices.extent(i) > x.extent(i))
      return op.fail("indices of extent {} for {} at axis {}", indices.extent(i), x.extent(i), i);
  return std::vector{tensor::compute("gather_elements", tensor::axes_of(indices.shape()), [&](const Indices& i) {
    Indices from = i;
    from[at] = safe_index(indices(i), x.extent(at));
    return x(from);
  })};
}

Result<Tensors> define_gather_nd(const Application& op) {
  const Tensor &x = op.tensor(0), &indices = op.tensor(1);
  const std::int64_t batch_axes = op.integer("batch_dims", 0);
  HONE_TRY(const Shape shape, checked(op, runtime::gather_nd_rule(x.shape(), indices.shape(), batch_axes)));
  const std::int64_t depth = indices.shape().back();
  const auto tuple_rank = static_cast<std::ptrdiff_t>(indices.rank()) - 1;
  return std::vector{tensor::compute("gather_nd", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from(i.begin(), i.begin() + batch_axes);
    for (std::int64_t k = 0; k < depth; ++k) {
      Indices at(i.begin(), i.begin() + tuple_rank);
      at.push_back(ir::imm(k));
      from.push_back(safe_index(indices(at), x.extent(static_cast<std::size_t>(batch_axes + k))));
    }
    from.insert(from.end(), i.begin() + tuple_rank, i.end());
    return x(from);
  })};
}

Result<Tensors> define_tensor_scatter(const Application& op) {
  const Tensor &cache = op.tensor(0), &update = op.tensor(1);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", -2), op.rank(0)));
  const auto at = static_cast<std::size_t>(axis);
  const std::string mode = op.text("mode", "linear");
  if (mode != "linear" && mode != "circular") return op.fail("mode '{}', allowed are linear and circular", mode);
  if (axis == 0) return op.fail("axis 0 is the batch, allowed is any other");
  Shape expected = cache.shape();
  if (update.rank() == cache.rank()) expected[at] = update.extent(at);
  if (update.shape() != expected || update.extent(at) > cache.extent(at))
    return op.fail("an update of shape [{}] for a cache of shape [{}]", fmt::join(update.shape(), ", "),
                   fmt::join(cache.shape(), ", "));
  if (op.has(2) && op.shape(2) != Shape{cache.extent(0)})
    return op.fail("write_indices of shape [{}], allowed is [{}]", fmt::join(op.shape(2), ", "), cache.extent(0));
  const std::int64_t length = update.extent(at), extent = cache.extent(at);
  if (length == 0) {
    return std::vector{
        tensor::compute("tensor_scatter", tensor::axes_of(cache.shape()), [&](const Indices& i) { return cache(i); })};
  }
  return std::vector{tensor::compute("tensor_scatter", tensor::axes_of(cache.shape()), [&](const Indices& i) {
    Expr place = i[at];
    if (op.has(2)) {
      const Expr start = op.tensor(2)(i[0]);
      // bounded, so that the difference cannot overflow
      const Expr bounded = mode == "circular" ? ir::floor_mod(start, extent)
                                              : ir::max(ir::min(start, ir::imm(extent)), ir::imm(-extent));
      place = i[at] - bounded;
      if (mode == "circular") place = ir::floor_mod(place, extent);
    }
    Indices from = i;
    from[at] = ir::max(ir::min(place, ir::imm(length - 1)), ir::imm(0));
    const Expr is_new = ir::logical_and(place >= 0, place < length);
    return ir::select(is_new, update(from), cache(i));
  })};
}

/// Which columns hold the element of an image: the sum over all places of the kernel.
Result<Tensors> define_col2im(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Integers image, op.ints(1));
  HONE_TRY(const Integers block, op.ints(2));
  const std::size_t axes = image.size();
  const Integers dilations = op.integers("dilations", Integers(axes, 1)),
                 strides = op.integers("strides", Integers(axes, 1));
  const Integers pads = op.integers("pads", Integers(2 * axes, 0));
  if (op.rank(0) != 3 || block.size() != axes || dilations.size() != axes || strides.size() != axes ||
      pads.size() != 2 * axes)
    return op.fail("an input of {} axes with {} of the image, {} of the block, {} dilations, {} strides and {} pads",
                   op.rank(0), axes, block.size(), dilations.size(), strides.size(), pads.size());
  HONE_TRY(const std::int64_t places, runtime::element_count(block));
  Shape columns;
  for (std::size_t i = 0; i < axes; ++i) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    for (const std::int64_t number : {image[i], block[i], dilations[i], strides[i], pads[i], pads[axes + i]})
      if (number < 0 || number > kMost) return op.fail("{} along image axis {}", number, i);
    const std::int64_t span = image[i] + pads[i] + pads[axes + i] - dilations[i] * (block[i] - 1) - 1;
    if (strides[i] < 1 || dilations[i] < 1 || block[i] < 1 || span < 0)
      return op.fail("a block of {} with stride {} and dilation {} does not fit image axis {} of extent {}", block[i],
                     strides[i], dilations[i], i, image[i]);
    columns.push_back(span / strides[i] + 1);
  }
  HONE_TRY(const std::int64_t column_count, runtime::element_count(columns));
  if (x.extent(1) % places != 0 || x.extent(2) != column_count)
    return op.fail("an input of shape [{}], allowed is a multiple of {} and {} in its last two axes",
                   fmt::join(x.shape(), ", "), places, column_count);
  Shape shape{x.extent(0), x.extent(1) / places};
  shape.insert(shape.end(), image.begin(), image.end());
  HONE_TRY(runtime::element_count(shape));
  const ir::DType type = x.type(), wide = type == ir::kF16 || type == ir::kBF16 ? ir::kF32 : type;
  const Tensor sum = tensor::compute("col2im", tensor::axes_of(shape), [&](const Indices& i) {
    return tensor::reduce_sum(tensor::axes_of(block), [&](const Indices& k) {
      Expr channel = i[1], column = ir::imm(0), is_hit;
      for (std::size_t a = 0; a < axes; ++a) {
        channel = channel * block[a] + k[a];
        const Expr at = i[2 + a] + pads[a] - k[a] * dilations[a];
        const Expr step = strides[a] == 1 ? at : ir::floor_div(at, strides[a]);
        Expr here = ir::logical_and(at >= 0, step < columns[a]);
        if (strides[a] != 1) here = ir::logical_and(here, ir::eq(ir::floor_mod(at, strides[a]), 0));
        is_hit = is_hit ? ir::logical_and(is_hit, here) : here;
        column = column * columns[a] + step;
      }
      return ir::select(is_hit, ir::cast(wide, x(i[0], channel, column)), zero(wide));
    });
  });
  if (wide == type) return std::vector{sum};
  return std::vector{
      tensor::compute("col2im", tensor::axes_of(shape), [&](const Indices& i) { return ir::cast(type, sum(i)); })};
}

}  // namespace

std::span<const Operator> index_operators() {
  static const Operator operators[] = {
      {.name = "Gather",
       .schema = "data: T, indices: index -> output: T; axis",
       .define = define_gather,
       .host = runtime::gather_kernel},
      {.name = "GatherElements",
       .schema = "data: T, indices: index -> output: T; axis",
       .define = define_gather_elements,
       .host = runtime::gather_elements_kernel},
      {.name = "GatherND",
       .schema = "data: T, indices: int64 -> output: T; batch_dims",
       .define = define_gather_nd,
       .host = runtime::gather_nd_kernel},
      {.name = "TensorScatter",
       .schema = "past_cache: T, update: T, write_indices?: int64 -> present_cache: T; axis, mode",
       .define = define_tensor_scatter},
      {.name = "Compress", .schema = "input: T, condition: bool -> output: T; axis", .host = runtime::compress_kernel},
      {.name = "Col2Im",
       .schema = "input: T, image_shape: int64, block_shape: int64 -> output: T; dilations, pads, strides; T: number",
       .define = define_col2im},
  };
  return operators;
}

}  // namespace hone::graph
