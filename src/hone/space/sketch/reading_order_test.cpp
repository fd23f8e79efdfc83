#include "hone/space/sketch/reading_order.h"

#include <gtest/gtest.h>

#include "hone/schedule/primitives.h"
#include "hone/schedule/trace.h"
#include "hone/space/run_program_test.h"

namespace hone::space {
namespace {

std::optional<std::string> order_of_b(const ir::Function& naive, const schedule::Trace& steps) {
  const schedule::Program program = schedule::replay(naive, steps).value();
  return reading_order(program, "matmul", program.params[1]);
}

TEST(ReadingOrder, IsThatOfTheLoops) {
  const ir::Function naive = product(8, 64, 32);
  EXPECT_EQ(order_of_b(naive, {schedule::Split{"j", {0, 16}}, schedule::Reorder{{"j.0", "k", "j.1"}}}),
            "(d0, d1) -> (d1 // 16, d0, d1 % 16)");
  EXPECT_EQ(order_of_b(naive, {schedule::Split{"j", {0, 2, 16}}, schedule::Split{"k", {0, 8}},
                               schedule::Reorder{{"j.0", "k.0", "j.1", "k.1", "j.2"}}}),
            "(d0, d1) -> (d1 // 32, d0 // 8, d1 // 16 % 2, d0 % 8, d1 % 16)");
}

TEST(ReadingOrder, OfAFusedLoopIsThatOfItsParts) {
  const schedule::Trace tiled = {schedule::Split{"i", {0, 4}}, schedule::Split{"j", {0, 2, 16}},
                                 schedule::Reorder{{"i.0", "j.0", "j.1", "k", "i.1", "j.2"}}};
  const auto fused = [&](const std::vector<std::string>& loops) {
    schedule::Trace steps = tiled;
    steps.push_back(schedule::Fuse{loops});
    return order_of_b(product(8, 64, 32), steps);
  };
  const auto expected = "(d0, d1) -> (d1 // 16, d0, d1 % 16)";
  EXPECT_EQ(order_of_b(product(8, 64, 32), tiled), expected) << "nothing stands between j.0 and j.1";
  EXPECT_EQ(fused({"i.0", "j.0"}), expected);
  EXPECT_EQ(fused({"i.0", "j.0", "j.1"}), expected);
}

TEST(ReadingOrder, OfTailsLeavesPlacesEmpty) {
  EXPECT_EQ(order_of_b(product(8, 50, 32), {schedule::Split{"j", {0, 16}}, schedule::Reorder{{"j.0", "k", "j.1"}}}),
            "(d0, d1) -> (d1 // 16, d0, d1 % 16)");
  EXPECT_EQ(order_of_b(product(8, 50, 32), {schedule::Split{"j", {0, 16}}, schedule::Reorder{{"k", "j.0", "j.1"}}}),
            "(d0, d1) -> (d0, d1 // 16, d1 % 16)");
}

TEST(ReadingOrder, IsNothingWhereElementsStandSoAlready) {
  EXPECT_EQ(order_of_b(product(8, 64, 32), {schedule::Reorder{{"k", "j"}}}), std::nullopt);
  const ir::Function naive = product(8, 64, 32);
  EXPECT_EQ(reading_order(naive, "matmul", naive.params[2]), std::nullopt);
  EXPECT_EQ(reading_order(naive, "nothing", naive.params[1]), std::nullopt);
}

}  // namespace
}  // namespace hone::space
