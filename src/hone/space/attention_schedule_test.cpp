#include "hone/space/attention_schedule.h"

#include "hone/space/schedule_test.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::space {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

/// softmax(q · kᵀ / 4 + mask) · v for heads that may share keys.
struct Case {
  std::int64_t batch = 1, heads = 2, groups = 2, queries = 5, keys = 7, size = 4, columns = 3;
  bool is_masked = false, is_causal = false, has_positions_first = false;
};

ir::Function attention(const Case& c) {
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
  const Tensor scores = tensor::compute("scores", score_axes, [&](const Indices& i) {
    return tensor::reduce_sum({c.size}, [&](const Indices& r) {
      return at(q, i[0], i[1], i[2], r[0]) * at(k, i[0], group(i[1]), i[3], r[0]);
    });
  });
  const Tensor biased = tensor::compute("biased", score_axes, [&](const Indices& i) {
    Expr score = scores(i) * ir::constant(ir::kF32, 0.25);
    if (c.is_masked) score = score + mask(i[0], i[3]);
    return c.is_causal ? ir::select(i[3] <= i[2], score, tensor::lowest(ir::kF32)) : score;
  });
  const auto over_keys = [&](tensor::Reduction (*reduce)(std::vector<tensor::Axis>, tensor::Source), const Tensor& x) {
    return tensor::compute("row", row_axes, [&](const Indices& i) {
      return reduce({c.keys}, [&](const Indices& r) { return x(i[0], i[1], i[2], r[0]); });
    });
  };
  const Tensor largest = over_keys(tensor::reduce_max, biased);
  const Tensor exponential = tensor::compute("exp", score_axes, [&](const Indices& i) {
    return ir::call(ir::Intrinsic::Exp, {biased(i) - largest(i[0], i[1], i[2], 0)});
  });
  const Tensor sum = over_keys(tensor::reduce_sum, exponential);
  const Tensor factor = tensor::map("factor", sum, [](const Expr& e) { return ir::constant(ir::kF32, 1.0) / e; });
  const auto value_axes = tensor::axes_of({c.batch, c.heads, c.queries, c.columns});
  const Tensor attended = tensor::compute("attended", value_axes, [&](const Indices& i) {
    return tensor::reduce_sum({c.keys}, [&](const Indices& r) {
      return exponential(i[0], i[1], i[2], r[0]) * at(v, i[0], group(i[1]), r[0], i[3]);
    });
  });
  const auto shape = is_swapped ? tensor::Shape{c.batch, c.queries, c.heads, c.columns} : attended.shape();
  const Tensor y = tensor::compute("y", tensor::axes_of(shape), [&](const Indices& i) {
    const Expr &h = i[is_swapped ? 2 : 1], &n = i[is_swapped ? 1 : 2];
    return attended(i[0], h, n, i[3]) * factor(i[0], h, n, 0);
  });
  return c.is_masked ? tensor::lower("attention", {q, k, v, mask}, {y}) : tensor::lower("attention", {q, k, v}, {y});
}

void expect_same(const Case& c, const char* text = "cpu -threads=2") {
  const codegen::Target target = codegen::parse_target(text).value();
  const ir::Function naive = attention(c);
  const auto tile = default_attention_tile(naive, target);
  ASSERT_TRUE(tile) << tile.error().message;
  SCOPED_TRACE(testing::Message() << c.queries << " queries, " << c.keys << " keys, " << text);
  expect_same_result(naive, schedule_attention(naive, *tile, target), target);
}

TEST(AttentionSchedule, ComputesAnyNumberOfQueriesAndKeys) {
  for (const std::int64_t queries : {1, 7, 48, 53, 197})
    for (const std::int64_t keys : {1, 7, 64, 197}) expect_same({.queries = queries, .keys = keys});
  for (const char* text : {"x86-64 -mattr=+avx2 -threads=1", "x86-64 -threads=2"})
    expect_same({.heads = 3, .groups = 3, .queries = 53, .keys = 37, .size = 16, .columns = 24}, text);
}

TEST(AttentionSchedule, ComputesMasksOrderAndHeadsThatShareKeys) {
  for (const bool has_positions_first : {false, true}) {
    expect_same({.queries = 31, .keys = 33, .is_masked = true, .has_positions_first = has_positions_first});
    expect_same({.queries = 29, .keys = 29, .size = 8, .is_causal = true, .has_positions_first = has_positions_first});
    expect_same({.batch = 2,
                 .heads = 6,
                 .groups = 2,
                 .queries = 9,
                 .keys = 50,
                 .columns = 64,
                 .is_masked = true,
                 .is_causal = true,
                 .has_positions_first = has_positions_first});
  }
}

TEST(AttentionSchedule, ScoresOfABlockOfQueriesAloneExist) {
  codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  target.l2_bytes = 1 << 20;
  const auto queries = [&](std::int64_t keys) {
    return default_attention_tile(attention({.queries = 100, .keys = keys}), target)->queries;
  };
  EXPECT_EQ(queries(64), 24);
  EXPECT_EQ(queries(4000), 12);
  EXPECT_EQ(queries(100000), 6);
}

TEST(AttentionSchedule, OtherProgramsAreRefused) {
  const codegen::Target target = codegen::parse_target("cpu -threads=1").value();
  const Tensor x = tensor::placeholder("x", {3, 5});
  const ir::Function softmax = tensor::lower("softmax", {x}, {*tensor::softmax(x, -1)});
  EXPECT_EQ(default_attention_tile(softmax, target).error().message, "attention: 'softmax' is no attention");
  EXPECT_EQ(schedule_attention(softmax, {}, target).error().message, "attention: 'softmax' is no attention");
}

}  // namespace
}  // namespace hone::space
