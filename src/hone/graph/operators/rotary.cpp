#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// Which inputs a variant of the operator has where.
struct Places {
  std::size_t positions, cosine, sine;
};

/// How x, which is [batch, heads, position, size] or [batch, position, heads · size], is cut.
struct RotaryLayout {
  std::int64_t batch, positions, size, rotated;
  bool is_flat, is_interleaved;
};

Result<RotaryLayout> layout_of(const Application& op, const Places& places) {
  const tensor::Shape& x = op.shape(0);
  if (x.size() != 3 && x.size() != 4) return op.fail("an input of {} axes, allowed are 3 and 4", x.size());
  RotaryLayout layout{};
  layout.is_flat = x.size() == 3;
  layout.is_interleaved = op.integer("interleaved", 0) != 0;
  layout.batch = x[0];
  layout.positions = layout.is_flat ? x[1] : x[2];
  layout.rotated = op.integer("rotary_embedding_dim", 0);
  std::int64_t heads = op.integer("num_heads", 0);
  const std::int64_t half = op.rank(places.cosine) == 0 ? 0 : op.shape(places.cosine).back();
  if (layout.is_flat && heads == 0 && half > 0 && op.node().domain == "com.microsoft")
    heads = layout.rotated > 0 ? 0 : x[2] / (2 * half);
  if (layout.is_flat && (heads < 1 || x[2] % heads != 0))
    return op.fail("num_heads {}, allowed are divisors of {}", heads, x[2]);
  layout.size = layout.is_flat ? x[2] / heads : x[3];
  if (layout.size < 1) return op.fail("heads of {} numbers, allowed is 1 and more", layout.size);
  if (layout.rotated == 0) layout.rotated = layout.size;
  if (layout.rotated < 0 || layout.rotated > layout.size || layout.rotated % 2 != 0)
    return op.fail("rotary_embedding_dim {}, allowed are even numbers up to {}", layout.rotated, layout.size);
  for (const std::size_t cache : {places.cosine, places.sine})
    if (op.rank(cache) < 2 || op.shape(cache).back() != layout.rotated / 2)
      return op.fail("a cache of shape {}, allowed is {} in the last axis", tensor::show_shape(op.shape(cache)),
                     layout.rotated / 2);
  return layout;
}

/// The entry of a cache for one position: [position, half] by the position's number, or [batch, position, half].
Expr cached(const Application& op, const Places& places, std::size_t cache, const Expr& batch, const Expr& position,
            const Expr& entry) {
  const Tensor& table = op.tensor(cache);
  if (table.rank() == 3) return table(table.extent(0) == 1 ? ir::imm(0) : batch, position, entry);
  Expr row = position;
  if (op.has(places.positions)) {
    const Tensor& ids = op.tensor(places.positions);
    if (ids.rank() == 2)
      row = ir::cast(ir::kI64, ids(ids.extent(0) == 1 ? ir::imm(0) : batch, position));
    else
      row = ir::cast(ir::kI64, ids(Indices(ids.rank(), ir::imm(0)))) + position;
  }
  return table(ir::min(ir::max(row, ir::imm(0)), ir::imm(table.extent(0) - 1)), entry);
}

Result<void> check_positions(const Application& op, const Places& places, const RotaryLayout& layout) {
  for (const std::size_t cache : {places.cosine, places.sine}) {
    const tensor::Shape& shape = op.shape(cache);
    if (shape.size() > 3 ||
        (shape.size() == 3 && (shape[1] != layout.positions || (shape[0] != 1 && shape[0] != layout.batch))))
      return op.fail("a cache of shape {} for {} positions", tensor::show_shape(shape), layout.positions);
    if (shape.size() == 2 && shape[0] < 1) return op.fail("a cache without positions");
  }
  if (!op.has(places.positions)) return {};
  const tensor::Shape& ids = op.shape(places.positions);
  const bool is_table = ids.size() == 2 && ids[1] == layout.positions && (ids[0] == 1 || ids[0] == layout.batch);
  const bool is_start = ids.empty() || (ids.size() == 1 && ids[0] == 1);
  if (is_table || is_start) return {};
  return op.fail("position_ids of shape {}, allowed are [1] and [{}, {}]", tensor::show_shape(ids), layout.batch,
                 layout.positions);
}

template <std::size_t positions, std::size_t cosine, std::size_t sine>
Result<std::vector<Tensor>> define_rotary(const Application& op) {
  const Places places{positions, cosine, sine};
  HONE_TRY(const RotaryLayout layout, layout_of(op, places));
  HONE_TRY(check_positions(op, places, layout));
  const Tensor& x = op.tensor(0);
  const ir::DType type = accumulator_type(x.type());
  const std::int64_t half = layout.rotated / 2;
  return std::vector<Tensor>{tensor::compute("rotary", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr column = i.back();
    const Expr within = layout.is_flat ? ir::floor_mod(column, layout.size) : column;
    const Expr position = layout.is_flat ? i[1] : i[2];
    const auto element = [&](const Expr& offset) {  // another column of the same head
      Indices at = i;
      at.back() = column + offset;
      return ir::cast(type, x(at));
    };
    const Expr pair =
        layout.is_interleaved ? ir::floor_div(within, 2) : ir::select(within < half, within, within - half);
    const Expr is_first = layout.is_interleaved ? ir::eq(ir::floor_mod(within, 2), 0) : within < half;
    const Expr distance = ir::imm(layout.is_interleaved ? 1 : half);
    const Expr c = ir::cast(type, cached(op, places, places.cosine, i[0], position, pair));
    const Expr s = ir::cast(type, cached(op, places, places.sine, i[0], position, pair));
    const Expr own = ir::cast(type, x(i));
    const Expr rotated = ir::select(is_first, c * own - s * element(distance), s * element(-distance) + c * own);
    return ir::cast(x.type(),
                    layout.rotated == layout.size ? rotated : ir::select(within < layout.rotated, rotated, own));
  })};
}

}  // namespace

std::span<const Operator> rotary_operators() {
  static const Operator entries[] = {
      {.name = "RotaryEmbedding",
       .schema = "X: T, cos_cache: T, sin_cache: T, position_ids?: int64 -> Y: T; interleaved, num_heads, "
                 "rotary_embedding_dim; T: float",
       .define = define_rotary<3, 1, 2>},
      {.name = "RotaryEmbedding",
       .domain = "com.microsoft",
       .schema = "input: T, position_ids: int64, cos_cache: T, sin_cache: T -> output: T; interleaved, "
                 "is_packed_batching, num_heads, rotary_embedding_dim, scale; T: float",
       .define = define_rotary<1, 2, 3>},
  };
  return entries;
}

}  // namespace hone::graph
