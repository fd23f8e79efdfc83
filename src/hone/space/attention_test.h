/// Attention as tests of its schedules define it.
#pragma once

#include "hone/tensor/definitions.h"
#include "hone/tensor/key_blocks.h"
#include "hone/tensor/lower.h"

namespace hone::space {

/// softmax(q · kᵀ / 4 + mask) · v for heads that may share keys.
struct Attention {
  std::int64_t batch = 1, heads = 2, groups = 2, queries = 5, keys = 7, size = 4, columns = 3;
  bool is_masked = false, is_causal = false, has_positions_first = false;
  bool may_see_nothing = false;  ///< rows without a key that may be seen are 0, not NaN
  std::int64_t key_block = 0;    ///< keys at a time, 0: all
};

inline ir::Function attention(const Attention& c) {
  using ir::Expr;
  using tensor::Indices;
  using tensor::Tensor;
  const bool is_swapped = c.has_positions_first;
  const auto by_heads = [&](const char* name, std::int64_t heads, std::int64_t positions, std::int64_t size) {
    return is_swapped ? tensor::placeholder(name, {c.batch, positions, heads, size})
                      : tensor::placeholder(name, {c.batch, heads, positions, size});
  };
  const auto at = [&](const Tensor& x, const Expr& b, const Expr& h, const Expr& n, const Expr& e) {
    return is_swapped ? x(b, n, h, e) : x(b, h, n, e);
  };
  const Tensor q = by_heads("q", c.heads, c.queries, c.size), k = by_heads("k", c.groups, c.keys, c.size);
  const Tensor v = by_heads("v", c.groups, c.keys, c.columns), mask = tensor::placeholder("mask", {c.batch, c.keys});
  const auto group = [&](const Expr& h) { return c.heads == c.groups ? h : ir::floor_div(h, c.heads / c.groups); };
  const auto row_axes = tensor::axes_of({c.batch, c.heads, c.queries, 1});
  const auto score_axes = tensor::axes_of({c.batch, c.heads, c.queries, c.keys});
  const Expr none = tensor::lowest(ir::kF32), zero = ir::constant(ir::kF32, 0.0), one = ir::constant(ir::kF32, 1.0);
  const Tensor scores = tensor::compute("scores", score_axes, [&](const Indices& i) {
    return tensor::reduce_sum({c.size}, [&](const Indices& r) {
      return at(q, i[0], i[1], i[2], r[0]) * at(k, i[0], group(i[1]), i[3], r[0]);
    });
  });
  const Tensor biased = tensor::compute("biased", score_axes, [&](const Indices& i) {
    Expr score = scores(i) * ir::constant(ir::kF32, 0.25);
    if (c.is_masked) score = score + mask(i[0], i[3]);
    return c.is_causal ? ir::select(i[3] <= i[2], score, none) : score;
  });
  const auto base_of = [&](const Tensor& largest) {
    if (!c.may_see_nothing) return largest;
    return tensor::map("base", largest, [&](const Expr& e) { return ir::select(ir::eq(e, none), zero, e); });
  };
  const auto value = [&](const Indices& i, const Expr& key, const Expr& column) {
    return at(v, i[0], group(i[1]), key, column);
  };
  const auto in_blocks = [&] {
    const tensor::KeyBlocks blocks(biased, c.key_block, c.columns, value);
    return blocks.sums(base_of(blocks.largest()));
  };
  const auto at_once = [&]() -> tensor::KeyBlocks::Sums {
    const auto over_keys = [&](tensor::Reduction (*reduce)(std::vector<tensor::Axis>, tensor::Source),
                               const Tensor& x) {
      return tensor::compute("row", row_axes, [&](const Indices& i) {
        return reduce({c.keys}, [&](const Indices& r) { return x(i[0], i[1], i[2], r[0]); });
      });
    };
    const Tensor base = base_of(over_keys(tensor::reduce_max, biased));
    const Tensor exponential = tensor::compute("exp", score_axes, [&](const Indices& i) {
      return ir::call(ir::Intrinsic::Exp, {biased(i) - base(i[0], i[1], i[2], 0)});
    });
    const auto value_axes = tensor::axes_of({c.batch, c.heads, c.queries, c.columns});
    return {over_keys(tensor::reduce_sum, exponential), tensor::compute("attended", value_axes, [&](const Indices& i) {
              return tensor::reduce_sum({c.keys}, [&](const Indices& r) {
                return exponential(i[0], i[1], i[2], r[0]) * value(i, r[0], i[3]);
              });
            })};
  };
  const auto [total, attended] = c.key_block > 0 ? in_blocks() : at_once();
  const Tensor factor = tensor::map("factor", total, [&](const Expr& e) {
    return c.may_see_nothing ? ir::select(ir::eq(e, zero), zero, one / e) : one / e;
  });
  const auto shape = is_swapped ? tensor::Shape{c.batch, c.queries, c.heads, c.columns} : attended.shape();
  const Tensor y = tensor::compute("y", tensor::axes_of(shape), [&, &sums = attended](const Indices& i) {
    const Expr &h = i[is_swapped ? 2 : 1], &n = i[is_swapped ? 1 : 2];
    return sums(i[0], h, n, i[3]) * factor(i[0], h, n, 0);
  });
  return c.is_masked ? tensor::lower("attention", {q, k, v, mask}, {y}) : tensor::lower("attention", {q, k, v}, {y});
}

}  // namespace hone::space
