#include "hone/runtime/kernels/shape_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/runtime/kernels/pad_index.h"

namespace hone::runtime {
namespace {

using ::testing::ElementsAre;

TEST(ShapeRules, SliceVisitsWhatAPlainLoopVisits) {
  for (const std::int64_t extent : {0, 1, 5})
    for (std::int64_t start = -7; start <= 7; ++start)
      for (std::int64_t end = -7; end <= 7; ++end)
        for (const std::int64_t step : {-7, -2, -1, 1, 2, 7}) {
          // as Python does: negative ends count from the end, and both are then clamped
          const auto placed = [&](std::int64_t at) {
            const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? extent : extent - 1;
            const std::int64_t from_start = at < 0 ? at + extent : at;
            return from_start < lowest ? lowest : from_start > highest ? highest : from_start;
          };
          Integers expected;
          for (std::int64_t at = placed(start); step > 0 ? at < placed(end) : at > placed(end); at += step)
            expected.push_back(at);
          const auto ranges = slice_rule({extent}, {start}, {end}, std::nullopt, Integers{step});
          ASSERT_TRUE(ranges);
          Integers found;
          for (std::int64_t i = 0; i < (*ranges)[0].count; ++i)
            found.push_back((*ranges)[0].start + i * (*ranges)[0].step);
          ASSERT_EQ(found, expected) << extent << ": " << start << " " << end << " " << step;
        }
}

TEST(ShapeRules, SplitCoversTheAxis) {
  for (const std::int64_t extent : {0, 1, 5, 7, 12})
    for (std::size_t parts = 1; parts < 9; ++parts) {
      const Integers sizes = *split_rule(extent, parts, std::nullopt);
      EXPECT_EQ(sizes.size(), parts);
      std::int64_t sum = 0;
      for (const std::int64_t size : sizes) sum += size;
      EXPECT_EQ(sum, extent);
    }
}

TEST(ShapeRules, PaddingModesContinueAnAxis) {
  const auto line = [](PadMode mode, std::int64_t extent) {
    Integers places;
    for (std::int64_t at = -3; at < extent + 3; ++at) places.push_back(pad_index(at, extent, mode));
    return places;
  };
  EXPECT_THAT(line(PadMode::Constant, 2), ElementsAre(-1, -1, -1, 0, 1, -1, -1, -1));
  EXPECT_THAT(line(PadMode::Edge, 2), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(line(PadMode::Reflect, 3), ElementsAre(1, 2, 1, 0, 1, 2, 1, 0, 1));
  EXPECT_THAT(line(PadMode::Wrap, 2), ElementsAre(1, 0, 1, 0, 1, 0, 1, 0));
  EXPECT_THAT(line(PadMode::Reflect, 1), ElementsAre(0, 0, 0, 0, 0, 0, 0));
}

TEST(ShapeRules, HugeNumbersAreRefused) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_FALSE(broadcast_rule({huge, 1}, {1, huge}));
  EXPECT_FALSE(tile_rule({4}, {huge}));
  EXPECT_FALSE(pad_rule({4}, {huge, huge}, std::nullopt));
  EXPECT_FALSE(center_crop_rule({4, 4}, {huge, huge}, std::nullopt));
  EXPECT_FALSE(unsqueeze_rule({2}, {5}));
  EXPECT_FALSE(normalize_axis(-huge * 2, 3));
}

}  // namespace
}  // namespace hone::runtime
