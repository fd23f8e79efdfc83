#include "hone/space/attention_schedule.h"

#include "hone/space/attention_test.h"
#include "hone/space/schedule_test.h"

namespace hone::space {
namespace {

using tensor::Tensor;

void expect_same(const Attention& c, const char* text = "cpu -threads=2") {
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
