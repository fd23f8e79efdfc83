#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"

namespace hone::schedule {
namespace {

TEST(SplitVariable, KeepsTheValuesOfAMatmul) {
  for (const std::string variable : {"vi", "vj", "vk"})
    for (const std::int64_t factor : {1, 2, 6, 12}) {
      const Program naive = matmul(12, 12, 12);
      checked(naive, split_variable(naive, "C", variable, factor));
    }
}

TEST(SplitVariable, PutsTheInnerVariableLastOfItsKind) {
  const Program naive = matmul(8, 5, 6);
  Program p = checked(naive, split_variable(naive, "C", "vi", 4));
  p = checked(naive, split_variable(p, "C", "vk", 3));
  EXPECT_EQ(loops_of(p, "C"), (std::vector<std::string>{"i.0", "j", "i.1", "k.0", "k.1"}));
  EXPECT_TRUE(prints(p, "C[vi.0 * 4 + vi.1, vj]")) << ir::to_text(p);
}

TEST(SplitVariable, RunsAlongTheAxesOfABlockedLayout) {
  const Program naive = chain(8, 3);
  Program p = checked(naive, transform_layout(naive, "B", "(i, j) -> (i // 4, j, i % 4)"));
  p = checked(naive, split_variable(p, "B", "vi", 4));
  EXPECT_TRUE(prints(p, "B[vi.0, vj, vi.1] =")) << ir::to_text(p);
}

TEST(SplitVariable, RefusesWhatItCannotSplit) {
  const Program naive = matmul(8, 5, 6);
  EXPECT_EQ(split_variable(naive, "C", "vx", 2).error().message,
            "split_variable: block 'C' has no variable 'vx', allowed are: vi, vj, vk");
  for (const std::int64_t factor : {-1, 0, 3, 16})
    EXPECT_EQ(split_variable(naive, "C", "vi", factor).error().message,
              "split_variable: factor " + std::to_string(factor) +
                  " of variable 'vi' of block 'C', allowed are the divisors of its extent 8");
  const Program tiled = *split(naive, "i", std::vector<std::int64_t>{kRest, 4});
  EXPECT_EQ(split_variable(tiled, "C", "vi", 2).error().message,
            "split_variable: the loops of block 'C' are not the naive ones, split_variable before other steps");
}

TEST(SetParamLayout, ExchangesTheParameter) {
  const Program naive = matmul(8, 5, 6);
  const Program p = *set_param_layout(naive, 2, "(i, j) -> (i // 4, j, i % 4)");
  EXPECT_EQ(ir::to_text(p.params[2].get<ir::Buffer>().shape[2]), "4");
  EXPECT_TRUE(prints(p, "C[vi // 4, vj, vi % 4] = ")) << ir::to_text(p);
  EXPECT_EQ(set_param_layout(naive, 2, "(i, j) -> (i)").error().message,
            "set_param_layout: the index map of buffer 'C' may put two elements in one place");
}

}  // namespace
}  // namespace hone::schedule
