#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {
namespace {

using namespace tensor;
using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

/// A convolution whose first loops are tiles of the output, with bias and relu as one block R.
Program tiled_convolution(const Program& naive) {
  Program p = *compute_inline(*compute_inline(naive, "P"), "D");
  p = *split(p, "y", Factors{kRest, 2});
  p = *split(p, "x", Factors{kRest, 3});
  return *reorder(p, Loops{"f", "y.0", "x.0", "c", "r", "s", "y.1", "x.1"});
}

TEST(ReverseComputeAt, ComputesWhatOneIterationProduced) {
  const Program naive = convolution(2, 3, 7, 1);
  for (const std::string loop : {"f", "y.0", "x.0"}) {
    const Program p = checked(naive, reverse_compute_at(tiled_convolution(naive), "R", loop));
    EXPECT_EQ(top_level_count(p), 1u);
  }
}

TEST(ReverseComputeAt, ReadsThroughFusedLoops) {
  const Program naive = convolution(2, 3, 7, 1);
  Program p = checked(naive, fuse(tiled_convolution(naive), Loops{"f", "y.0", "x.0"}));
  p = checked(naive, parallel(p, "f@y.0@x.0"));
  p = checked(naive, reverse_compute_at(p, "R", "f@y.0@x.0"));
  EXPECT_EQ(top_level_count(p), 1u);
}

TEST(ReverseComputeAt, WorksForEveryExtent) {
  for (const std::int64_t n : {0, 1, 2, 7})
    for (const std::string loop : {"i", "j"}) {
      const Program naive = chain(n, 5);
      Program p = checked(naive, reverse_compute_at(naive, "C", loop));
      p = checked(naive, reverse_compute_at(p, "D", loop));
      EXPECT_EQ(top_level_count(p), 1u);
    }
}

TEST(ReverseComputeAt, FollowsADecomposedReduction) {
  const Program naive = row_sums(5, 3, 4);
  Program p = checked(naive, decompose_reduction(naive, "R", "k"));
  p = checked(naive, reverse_compute_at(p, "D", "i"));
  EXPECT_EQ(top_level_count(p), 1u);
  p = checked(naive, decompose_reduction(naive, "R", "i"));
  EXPECT_EQ(refusal(reverse_compute_at(p, "D", "i")),
            "reverse_compute_at: buffer 'R' is also written by block 'R.init', which is not below loop 'i'");
}

TEST(ReverseComputeAt, TakesSeveralBuffersProducedInStep) {
  const Program naive = softmax(5, 7);
  Program p = checked(naive, split(naive, "i_2", Factors{kRest, 2}));
  p = checked(naive, compute_at(p, "M", "j"));
  p = checked(naive, reverse_compute_at(p, "D", "i_2.0"));
  EXPECT_EQ(top_level_count(p), 2u);
}

TEST(ReverseComputeAt, ReadsWholeAxesInAnyWay) {
  const Tensor a = placeholder("A", {4, 6});
  const Tensor t = compute("T", {4, 6}, [&](const Indices& i) { return a(i) + a(i); });
  const Tensor b = compute("B", {4, 6}, [&](const Indices& i) { return t(i[0], ir::imm(5) - i[1]) + t(i[0], 2); });
  const Program naive = lower("mirrored", {a}, {b});
  checked(naive, reverse_compute_at(naive, "B", "i"));
  EXPECT_EQ(refusal(reverse_compute_at(naive, "B", "j")),
            "reverse_compute_at: index 1 of buffer 'T' in block 'B' is not an iteration variable, and an iteration "
            "produces 1 of 6 elements there");
}

TEST(ReverseComputeAt, RefusesWithTheReason) {
  const Program p = softmax(4, 6);
  const std::string before = ir::to_text(p);
  EXPECT_EQ(refusal(reverse_compute_at(p, "X", "i")), "reverse_compute_at: no block 'X', the blocks are M, E, S, D");
  EXPECT_EQ(refusal(reverse_compute_at(p, "D", "i_3")), "reverse_compute_at: block 'D' is already below loop 'i_3'");
  EXPECT_EQ(refusal(reverse_compute_at(p, "S", "i_1")),
            "reverse_compute_at: block 'S' is a reduction, allowed are elementwise blocks");
  EXPECT_EQ(refusal(reverse_compute_at(p, "E", "k")),
            "reverse_compute_at: block 'M' reduces over loop 'k', which is not below loop 'k'");
  EXPECT_EQ(refusal(reverse_compute_at(p, "D", "i")),
            "reverse_compute_at: nothing that block 'D' reads is made below loop 'i'");
  EXPECT_EQ(
      refusal(reverse_compute_at(p, "D", "i_1")),
      "reverse_compute_at: block 'D' reads buffer 'S', which block 'S' has not completed before loop 'i_1' begins");
  EXPECT_EQ(ir::to_text(p), before);
}

TEST(ReverseComputeAt, RefusesLoopsThatNeverRun) {
  const Result<Program> p = ir::parse_function(R"(func f(A: f32[0], B: f32[2]) {
  alloc T: f32[0]
  for i in 0..0 {
    block T {
      vi: spatial(0) = i
      T[vi] = A[vi]
    }
  }
  for j in 0..2 {
    block B {
      vj: spatial(2) = j
      B[vj] = select(vj < 0, T[vj], 5f32)
    }
  }
}
)");
  EXPECT_EQ(refusal(reverse_compute_at(p.value(), "B", "i")),
            "reverse_compute_at: loop 'i' has no iterations, in which block 'B' would never run");
}

TEST(ReverseComputeAt, RefusesPartsThatOverlap) {
  // Four neighbours of a fused loop over 3 × 6 elements reach over the ends of rows: their boxes overlap.
  const Program naive = chain(3, 6);
  const Program fused = checked(naive, fuse(naive, Loops{"i", "j"}));
  const Program p = checked(naive, split(fused, "i@j", Factors{kRest, 4}));
  EXPECT_EQ(refusal(reverse_compute_at(p, "C", "i@j.0")),
            "reverse_compute_at: iterations of loop 'i@j.0' and those around it may share elements of buffer 'B'");
  const Program whole_rows = checked(naive, split(fused, "i@j", Factors{kRest, 6}));
  checked(naive, reverse_compute_at(whole_rows, "C", "i@j.0"));
}

TEST(ReverseComputeAt, RefusesUnrelatedParts) {
  const Tensor a = placeholder("A", {4});
  const Tensor x = compute("X", {4}, [&](const Indices& i) { return a(i) + a(i); });
  const Tensor y = compute("Y", {4}, [&](const Indices& i) { return x(i) + a(i); });
  const Tensor z = compute("Z", {4, 4}, [&](const Indices& i) { return x(i[0]) + y(i[1]); });
  const Program naive = lower("unrelated", {a}, {z});
  const Program p = checked(naive, reverse_compute_at(naive, "Y", "i"));
  EXPECT_EQ(refusal(reverse_compute_at(p, "Z", "i")),
            "reverse_compute_at: block 'Z' reads several buffers of which an iteration produces unrelated parts");
}

}  // namespace
}  // namespace hone::schedule
