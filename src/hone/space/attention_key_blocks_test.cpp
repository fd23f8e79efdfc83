#include <limits>

#include "hone/codegen/lower.h"
#include "hone/ir/rewrite.h"
#include "hone/space/attention_schedule.h"
#include "hone/space/attention_test.h"
#include "hone/space/schedule_test.h"

namespace hone::space {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

using Arguments = std::vector<ir::Array>;

/// Compares an attention over blocks of keys with the naive one over all of them.
void expect_as_naive(
    const Attention& c, const char* text = "cpu -threads=2", FunctionRef<void(Arguments&)> change = [](Arguments&) {}) {
  const codegen::Target target = codegen::parse_target(text).value();
  Attention all = c;
  all.key_block = 0;
  const ir::Function in_blocks = attention(c);
  const auto tile = default_attention_tile(in_blocks, target);
  ASSERT_TRUE(tile) << tile.error().message;
  SCOPED_TRACE(testing::Message() << c.queries << " queries, " << c.keys << " keys by " << c.key_block << ", " << text);
  expect_same_result(attention(all), schedule_attention(in_blocks, *tile, target), target, 1e-5, change);
}

/// Adds minus infinity to the scores of these keys.
auto hide(std::int64_t begin, std::int64_t end) {
  return [=](Arguments& arguments) {
    for (std::int64_t key = begin; key < end; ++key) arguments[3].set(key, kNone);
  };
}

TEST(AttentionKeyBlocks, ComputeAnyNumberOfQueriesAndKeys) {
  for (const std::int64_t queries : {1, 7, 53})
    for (const std::int64_t keys : {1, 7, 64, 128, 197, 251})
      expect_as_naive({.queries = queries, .keys = keys, .key_block = 64});
  expect_as_naive({.queries = 31, .keys = 401, .key_block = 128});
  expect_as_naive({.queries = 3, .keys = 2111, .key_block = 1024});
}

TEST(AttentionKeyBlocks, ComputeHeadsOfAnySize) {
  for (const std::int64_t size : {1, 17, 64, 80})
    expect_as_naive({.queries = 29, .keys = 211, .size = size, .columns = size, .key_block = 64});
}

TEST(AttentionKeyBlocks, ComputeOnTargetsWithShortAndLongVectors) {
  for (const char* text : {"cpu -mattr=+avx2 -threads=2", "x86-64 -threads=1", "x86-64 -mattr=+avx2 -threads=1"})
    for (const std::int64_t keys : {128, 149})
      expect_as_naive(
          {.heads = 3, .groups = 3, .queries = 23, .keys = keys, .size = 16, .columns = 24, .key_block = 32}, text);
}

TEST(AttentionKeyBlocks, ComputeMasksOrderAndHeadsThatShareKeys) {
  for (const bool has_positions_first : {false, true}) {
    Attention c{.queries = 150, .keys = 150, .has_positions_first = has_positions_first, .key_block = 64};
    c.is_masked = true;
    expect_as_naive(c);
    c.is_causal = true;
    expect_as_naive(c);
    c.batch = 2, c.heads = 6, c.queries = 30, c.columns = 20;
    expect_as_naive(c);
  }
}

TEST(AttentionKeyBlocks, HiddenBlocksWeighNothing) {
  for (const bool may_see_nothing : {false, true}) {
    const Attention c{.keys = 150, .is_masked = true, .may_see_nothing = may_see_nothing, .key_block = 64};
    expect_as_naive(c, "cpu -threads=2", hide(0, 64));
    expect_as_naive(c, "cpu -threads=2", hide(3, 149));
    expect_as_naive(c, "cpu -threads=2", hide(64, 150));
  }
}

TEST(AttentionKeyBlocks, RowsThatSeeNothingAreAsInTheNaiveProgram) {
  for (const bool may_see_nothing : {false, true})
    for (const std::int64_t keys : {128, 150})
      expect_as_naive({.keys = keys, .is_masked = true, .may_see_nothing = may_see_nothing, .key_block = 64},
                      "cpu -threads=2", hide(0, keys));
}

TEST(AttentionKeyBlocks, ScoresThatDifferMuchDoNotOverflow) {
  const auto spread = [](Arguments& arguments) {
    for (std::int64_t key = 0; key < 150; ++key)
      arguments[3].set(key, key % 2 == 0 ? -3e38 : static_cast<double>(key / 64 * 1000));
  };
  expect_as_naive({.keys = 150, .is_masked = true, .key_block = 64}, "cpu -threads=2", spread);
}

TEST(AttentionKeyBlocks, ScoresOfOneBlockAloneExist) {
  codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  target.l2_bytes = 1 << 20;
  const ir::Function naive = attention({.queries = 512, .keys = 32768, .size = 64, .columns = 64, .key_block = 1024});
  const auto tile = default_attention_tile(naive, target);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->queries, 96);
  const auto made = schedule_attention(naive, *tile, target);
  ASSERT_TRUE(made) << made.error().message;
  const auto lowered = codegen::lower(made->program(), target);
  ASSERT_TRUE(lowered) << lowered.error().message;
  std::int64_t scores = 0;
  ir::walk(lowered->body, [&](const ir::Stmt& s) {
    const ir::Allocate* allocation = s.as<ir::Allocate>();
    if (allocation && ir::name_of(allocation->buffer) == "scores")
      scores = ir::constant_value(allocation->buffer.get<ir::Buffer>().shape[0]);
  });
  EXPECT_EQ(scores, 96 * 1024);
}

TEST(AttentionKeyBlocks, EveryThreadHasQueries) {
  codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=16").value();
  target.l2_bytes = 1 << 20;
  const auto at_a_time = [&](std::int64_t heads, std::int64_t queries) {
    const Attention c{.heads = heads, .groups = heads, .queries = queries, .keys = 4096, .key_block = 1024};
    return default_attention_tile(attention(c), target)->queries;
  };
  EXPECT_EQ(at_a_time(8, 512), 96);
  EXPECT_EQ(at_a_time(1, 512), 12);
  EXPECT_EQ(at_a_time(32, 20), 18);
  EXPECT_EQ(at_a_time(1, 1), 1);
}

TEST(AttentionKeyBlocks, SuitCachesAndAreLikelyWhereScoresOfAFewQueriesFillOne) {
  codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  const auto block = [&](std::int64_t l2_bytes, std::int64_t keys, std::int64_t queries = 512) {
    target.l2_bytes = l2_bytes;
    return key_block_of(attention({.queries = queries, .keys = keys}), target).value_or(KeyBlock());
  };
  for (const std::int64_t keys : {1, 64, 197, 2047}) EXPECT_EQ(block(1 << 20, keys).keys, 0);
  EXPECT_EQ(block(1 << 20, 2048).keys, 1024);
  EXPECT_EQ(block(1 << 18, 2048).keys, 512);
  EXPECT_EQ(block(1 << 24, 8192).keys, 2048);
  EXPECT_FALSE(block(1 << 20, 16384).is_likely);
  EXPECT_TRUE(block(1 << 20, 32768).is_likely);
  EXPECT_FALSE(block(1 << 20, 32768, /*queries=*/1).is_likely);
  EXPECT_TRUE(block(1 << 18, 8192).is_likely);
  EXPECT_FALSE(block(0, 8192).is_likely);
}

}  // namespace
}  // namespace hone::space
