#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {
namespace {

using namespace tensor;
using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

TEST(ComputeAt, ComputesWhatOneIterationNeeds) {
  const Program naive = blur(6, 5);
  const Program p = checked(naive, compute_at(naive, "X", "i_1"));
  EXPECT_TRUE(prints(p, "for i in 0..3"));
  EXPECT_TRUE(prints(p, "vi: spatial(8) = i + i_1")) << ir::to_text(p);
  EXPECT_FALSE(prints(p, "where")) << ir::to_text(p);
}

TEST(ComputeAt, WorksAtEveryLoopOfEveryShape) {
  for (const std::int64_t n : {0, 1, 2, 7})
    for (const std::string loop : {"i_1", "j_1"}) {
      const Program naive = blur(n, 5);
      checked(naive, compute_at(naive, "X", loop));
    }
}

TEST(ComputeAt, GuardsTheTailOfSplitLoops) {
  for (const std::int64_t n : {1, 5, 7, 13})
    for (const std::string loop : {"i_1.0", "j_1.0", "i_1.1", "j_1.1"}) {
      const Program naive = blur(n, 7);
      Program p = checked(naive, split(naive, "i_1", Factors{kRest, 4}));
      p = checked(naive, split(p, "j_1", Factors{kRest, 3}));
      p = checked(naive, reorder(p, Loops{"i_1.0", "j_1.0", "i_1.1", "j_1.1"}));
      checked(naive, compute_at(p, "X", loop));
    }
}

TEST(ComputeAt, MovesPaddingIntoATiledConvolution) {
  for (const std::int64_t stride : {1, 2})
    for (const std::string loop : {"f", "y.0", "x.0", "c", "x.1", "s"}) {
      const Program naive = convolution(3, 4, 7, stride);
      Program p = checked(naive, split(naive, "y", Factors{kRest, 2}));
      p = checked(naive, split(p, "x", Factors{kRest, 3}));
      p = checked(naive, reorder(p, Loops{"f", "y.0", "x.0", "c", "y.1", "x.1", "r", "s"}));
      checked(naive, compute_at(p, "P", loop));
    }
}

TEST(ComputeAt, MovesAWholeReductionUnderItsConsumer) {
  const Program naive = convolution(2, 3, 5, 1);
  Program p = checked(naive, compute_inline(naive, "D"));
  p = checked(naive, split(p, "k_2", Factors{kRest, 2}));
  p = checked(naive, compute_at(p, "C", "k_2.0"));
  EXPECT_TRUE(prints(p, "for c in 0..2")) << ir::to_text(p);
  p = checked(naive, compute_at(p, "P", "k_2.0"));
  checked(naive, compute_at(*compute_at(naive, "C", "j_1"), "P", "c"));
}

TEST(ComputeAt, FollowsAMovedConsumer) {
  const Program naive = softmax(5, 7);
  Program p = checked(naive, split(naive, "i_3", Factors{kRest, 2}));
  p = checked(naive, compute_at(p, "S", "i_3.0"));
  p = checked(naive, compute_at(p, "E", "i_3.0"));
  p = checked(naive, compute_at(p, "M", "i_3.0"));
  EXPECT_EQ(blocks(p).front().loops().front().get<ir::For>().body.get<ir::Seq>().stmts.size(), 4u) << ir::to_text(p);
  EXPECT_EQ(refusal(compute_at(p, "E", "i_3.1")),
            "compute_at: block 'E' is read by block 'S', which is not below loop 'i_3.1'");
}

TEST(ComputeAt, StandsBelowAParallelLoop) {
  const Program naive = blur(6, 5);
  Program p = checked(naive, parallel(naive, "i_1"));
  p = checked(naive, compute_at(p, "X", "i_1"));
  EXPECT_TRUE(prints(p, "parallel"));
}

TEST(ComputeAt, SumsUpWhatSeveralReadersNeed) {
  const Tensor a = placeholder("A", {9});
  const Tensor t = compute("T", {9}, [&](const Indices& i) { return a(i) + a(ir::imm(0)); });
  const Tensor b = compute("B", {7}, [&](const Indices& i) { return t(i[0]) + t(i[0] + 2); });
  const Tensor c = compute("C", {7}, [&](const Indices& i) { return b(i) + t(i[0] + 1); });
  const Program naive = lower("readers", {a}, {c});
  Program p = checked(naive, compute_at(naive, "B", "i_2"));
  p = checked(naive, compute_at(p, "T", "i_2"));
  EXPECT_EQ(blocks(p).size(), 3u);
}

TEST(ComputeAt, KeepsIndirectReadsWhole) {
  const Tensor a = placeholder("A", {9}), where = placeholder("W", {5}, ir::kI32);
  const Tensor t = compute("T", {9}, [&](const Indices& i) { return a(i) + a(ir::imm(0)); });
  const Tensor b = compute("B", {5}, [&](const Indices& i) {
    return t(ir::max(ir::min(ir::cast(ir::kIndex, where(i)), ir::imm(8)), ir::imm(0)));
  });
  const Program naive = lower("gathered", {a, where}, {b});
  checked(naive, compute_at(naive, "T", "i_1"));
}

TEST(ComputeAt, RefusesWithTheReason) {
  const Program p = softmax(4, 6);
  const std::string before = ir::to_text(p);
  EXPECT_EQ(refusal(compute_at(p, "X", "i")), "compute_at: no block 'X', the blocks are M, E, S, D");
  EXPECT_EQ(refusal(compute_at(p, "M", "x")),
            "compute_at: no loop 'x', the loops are i, k, i_1, j, i_2, k_1, i_3, j_1");
  EXPECT_EQ(refusal(compute_at(p, "E", "i_2")),
            "compute_at: block 'E' is read by block 'D', which is not below loop 'i_2'");
  EXPECT_EQ(refusal(compute_at(p, "S", "i_2")), "compute_at: block 'S' is already below loop 'i_2'");
  EXPECT_EQ(refusal(compute_at(p, "D", "i_2")), "compute_at: buffer 'D' of block 'D' is an output of the function");
  const Program halves = *decompose_reduction(p, "S", "k_1");
  EXPECT_EQ(refusal(compute_at(halves, "S", "i_3")), "compute_at: block 'S' is a reduction initialised elsewhere");
  EXPECT_EQ(refusal(compute_at(halves, "S.init", "i_3")),
            "compute_at: buffer 'S' is written by 2 blocks, allowed is 1");
  EXPECT_EQ(ir::to_text(p), before);
}

TEST(ComputeAt, RefusesABlockThatNothingReads) {
  const Program p = chain(3, 4);
  const Path reader = *find_block(p, "D", "test");
  EXPECT_EQ(refusal(compute_at(replace(p, reader, ir::make(ir::Seq{})), "C", "i_2")),
            "compute_at: no block reads block 'C'");
}

TEST(ComputeAt, RefusesToShareElementsBetweenLanes) {
  const Program p = *vectorize(blur(6, 8), "i_1");
  EXPECT_EQ(refusal(compute_at(p, "X", "i_1")),
            "compute_at: iterations of loop 'i_1' may write the same elements of buffer 'X'");
}

}  // namespace
}  // namespace hone::schedule
