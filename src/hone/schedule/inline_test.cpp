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

TEST(ComputeInline, JoinsAChainOfAnyExtent) {
  for (const std::int64_t n : {0, 1, 3, 7}) {
    const Program naive = chain(n, 5);
    Program p = checked(naive, compute_inline(naive, "B"));
    p = checked(naive, compute_inline(p, "C"));
    EXPECT_EQ(blocks(p).size(), 1u);
    EXPECT_FALSE(prints(p, "alloc"));
  }
}

TEST(ComputeInline, ReachesEveryReader) {
  const Program naive = softmax(3, 5);
  const Program p = checked(naive, compute_inline(naive, "E"));
  EXPECT_EQ(blocks(p).size(), 3u);
  EXPECT_FALSE(prints(p, "E["));
}

TEST(ComputeInline, KeepsReadsBehindAConditionLazy) {
  for (const std::int64_t stride : {1, 2}) {
    const Program naive = convolution(2, 3, 5, stride);
    const Program p = checked(naive, compute_inline(naive, "P"));
    EXPECT_TRUE(prints(p, "select"));
  }
}

TEST(ComputeInline, FollowsAPermutation) {
  const Tensor a = placeholder("A", {3, 4, 1});
  const Tensor t = compute("T", {4, 1, 3}, [&](const Indices& i) { return a(i[2], i[0], i[1]) + a(i[2], 0, 0); });
  const Tensor b = compute("B", {3, 4}, [&](const Indices& i) { return t(i[1], 0, i[0]); });
  const Program naive = lower("permuted", {a}, {b});
  checked(naive, compute_inline(naive, "T"));
}

TEST(ComputeInline, ForgetsTheGuardOfASplitLoop) {
  const Program naive = chain(7, 5);
  Program p = checked(naive, split(naive, "i", Factors{kRest, 4}));
  p = checked(naive, compute_inline(p, "B"));
  EXPECT_FALSE(prints(p, "where"));
}

TEST(ComputeInline, RefusesWhatIsNotElementwiseOrNotBetweenBlocks) {
  const Program p = convolution(2, 3, 4, 1);
  const std::string before = ir::to_text(p);
  EXPECT_EQ(refusal(compute_inline(p, "X")), "compute_inline: no block 'X', the blocks are P, C, D, R");
  EXPECT_EQ(refusal(compute_inline(p, "C")),
            "compute_inline: block 'C' is a reduction, allowed are elementwise blocks");
  EXPECT_EQ(refusal(compute_inline(p, "R")), "compute_inline: buffer 'R' of block 'R' is an output of the function");
  const Program halves = *decompose_reduction(p, "C", "c");
  EXPECT_EQ(refusal(compute_inline(halves, "C.init")),
            "compute_inline: buffer 'C' is written by 2 blocks, allowed is 1");
  EXPECT_EQ(ir::to_text(p), before);
}

TEST(ReverseComputeInline, JoinsAChainFromItsEnd) {
  for (const std::int64_t n : {0, 1, 3, 7}) {
    const Program naive = chain(n, 5);
    Program p = checked(naive, reverse_compute_inline(naive, "C"));
    EXPECT_FALSE(prints(p, "alloc B"));
    p = checked(naive, reverse_compute_inline(p, "D"));
    EXPECT_EQ(blocks(p).size(), 1u);
    EXPECT_FALSE(prints(p, "alloc"));
  }
}

TEST(ReverseComputeInline, KeepsTheLoopsOfTheProducer) {
  const Program naive = convolution(2, 3, 5, 1);
  Program p = checked(naive, split(naive, "j_1", Factors{kRest, 2}));
  ASSERT_TRUE(prints(p, "j_1.1"));
  p = checked(naive, reverse_compute_inline(p, "R"));
  EXPECT_TRUE(prints(p, "j_1.1"));
  EXPECT_TRUE(prints(p, "where"));
}

TEST(ReverseComputeInline, FollowsAPermutation) {
  const Tensor a = placeholder("A", {3, 4});
  const Tensor t = compute("T", {3, 4}, [&](const Indices& i) { return a(i) + a(ir::imm(0), 0); });
  const Tensor b = compute("B", {4, 1, 3}, [&](const Indices& i) { return t(i[2], i[0]) * a(i[2], 0); });
  const Program naive = lower("permuted", {a}, {b});
  checked(naive, reverse_compute_inline(naive, "B"));
}

TEST(ReverseComputeInline, RefusesWhatItCannotInvert) {
  const Program p = blur(4, 5);
  const std::string before = ir::to_text(p);
  EXPECT_EQ(refusal(reverse_compute_inline(p, "Y")),
            "reverse_compute_inline: block 'Y' reads buffer 'X' at several elements, allowed is one");
  EXPECT_EQ(refusal(reverse_compute_inline(p, "X")), "reverse_compute_inline: no block makes what block 'X' reads");
  EXPECT_EQ(ir::to_text(p), before);

  const Program conv = convolution(2, 3, 4, 1);
  EXPECT_EQ(refusal(reverse_compute_inline(conv, "C")),
            "reverse_compute_inline: block 'C' is a reduction, allowed are elementwise blocks");
  EXPECT_EQ(refusal(reverse_compute_inline(conv, "D")),
            "reverse_compute_inline: block 'C' is a reduction, allowed are elementwise blocks");
  EXPECT_EQ(refusal(reverse_compute_inline(softmax(3, 4), "E")),
            "reverse_compute_inline: block 'M' is a reduction, allowed are elementwise blocks");

  const Tensor a = placeholder("A", {6, 4});
  const Tensor t = compute("T", {6, 4}, [&](const Indices& i) { return a(i) + a(i); });
  const Tensor part = compute("B", {3, 4}, [&](const Indices& i) { return t(i); });
  EXPECT_EQ(refusal(reverse_compute_inline(lower("part", {a}, {part}), "B")),
            "reverse_compute_inline: block 'B' reads 3 elements of axis 0 of buffer 'T', needed are all 6");
  const Tensor wide = compute("B", {4, 6, 2}, [&](const Indices& i) { return t(i[1], i[0]); });
  EXPECT_EQ(refusal(reverse_compute_inline(lower("wide", {a}, {wide}), "B")),
            "reverse_compute_inline: variable 'vk' of block 'B' is no index of buffer 'T'");
  const Tensor moved = compute("B", {5, 4}, [&](const Indices& i) { return t(i[0] + 1, i[1]); });
  EXPECT_EQ(refusal(reverse_compute_inline(lower("moved", {a}, {moved}), "B")),
            "reverse_compute_inline: index 0 of buffer 'T' in block 'B' is not an iteration variable of its own");
  EXPECT_EQ(refusal(reverse_compute_inline(lower("kept", {a}, {t, wide}), "B")),
            "reverse_compute_inline: buffer 'T' of block 'T' is an output of the function");
  const Tensor again = compute("C", {6, 4}, [&](const Indices& i) { return t(i) + wide(i[1], i[0], 0); });
  EXPECT_EQ(refusal(reverse_compute_inline(lower("twice", {a}, {again}), "B")),
            "reverse_compute_inline: buffer 'T' is also read by block 'C'");
}

}  // namespace
}  // namespace hone::schedule
