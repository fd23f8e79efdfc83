#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"

namespace hone::schedule {
namespace {

using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

TEST(DecomposeReduction, WorksBeforeEveryLoopDownToTheReduction) {
  for (const std::int64_t n : {0, 1, 3})
    for (const std::string loop : {"i", "j", "k"}) {
      const Program naive = matmul(n, 4, 3);
      const Program p = checked(naive, decompose_reduction(naive, "C", loop));
      EXPECT_FALSE(prints(p, " init {"));
      EXPECT_TRUE(prints(p, "block C.init"));
    }
}

TEST(DecomposeReduction, KeepsTheGuardsOfSpatialLoopsOnly) {
  const Program naive = matmul(5, 7, 6);
  Program p = checked(naive, split(naive, "j", Factors{kRest, 4}));
  p = checked(naive, split(p, "k", Factors{kRest, 4}));
  p = checked(naive, reorder(p, Loops{"j.0", "k.0", "i", "k.1", "j.1"}));
  p = checked(naive, vectorize(p, "j.1"));
  p = checked(naive, decompose_reduction(p, "C", "k.0"));
  EXPECT_TRUE(prints(p, "for j.1_init in 0..4 vectorized")) << ir::to_text(p);
  EXPECT_EQ(refusal(decompose_reduction(p, "C", "k.0")),
            "decompose_reduction: block 'C' has no initialisation of a reduction");
}

TEST(DecomposeReduction, InitialisesAllOutputs) {
  const Program naive = argmax(4, 5);
  checked(naive, decompose_reduction(naive, "V", "k"));
  checked(naive, decompose_reduction(naive, "V", "i"));
}

TEST(DecomposeReduction, RefusesWithTheReason) {
  const Program naive = matmul(4, 4, 6);
  const Program p = *reorder(*split(naive, "k", Factors{2, kRest}), Loops{"k.0", "i"});
  const std::string before = ir::to_text(p);
  EXPECT_EQ(refusal(decompose_reduction(p, "C", "j")),
            "decompose_reduction: block 'C' reduces over loop 'k.0', which is outside loop 'j'");
  EXPECT_EQ(refusal(decompose_reduction(p, "C", "x")),
            "decompose_reduction: no loop 'x', the loops are k.0, j, i, k.1");
  EXPECT_EQ(refusal(decompose_reduction(row_sums(3, 4, 5), "R", "j")),
            "decompose_reduction: loop 'j' is not around block 'R'");
  EXPECT_EQ(refusal(decompose_reduction(row_sums(3, 4, 5), "D", "j")),
            "decompose_reduction: block 'D' has no initialisation of a reduction");
  EXPECT_EQ(ir::to_text(p), before);
}

TEST(DecomposeReduction, RefusesToAddUpRepeatedPoints) {
  const Program naive = row_sums(3, 4, 5);
  const Program p = checked(naive, compute_at(naive, "R", "j"));
  checked(naive, decompose_reduction(p, "R", "i"));
  EXPECT_EQ(refusal(decompose_reduction(p, "R", "j")),
            "decompose_reduction: block 'R' may visit a point more than once below loop 'j'");
}

}  // namespace
}  // namespace hone::schedule
