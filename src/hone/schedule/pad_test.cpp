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
using Multiples = std::vector<std::int64_t>;
using Factors = std::vector<std::int64_t>;

TEST(Pad, KeepsTheValuesOfAMatmul) {
  for (const std::int64_t n : {0, 1, 7, 8})
    for (const Multiples& multiples :
         {Multiples{4, 1, 1}, Multiples{1, 16, 1}, Multiples{1, 1, 3}, Multiples{4, 8, 5}, Multiples{1, 1, 1}}) {
      const Program naive = matmul(n, 5, 7);
      checked(naive, pad(naive, "C", multiples));
    }
}

TEST(Pad, CopiesOnlyWhatItPads) {
  const Program naive = matmul(8, 5, 7);
  EXPECT_EQ(ir::to_text(checked(naive, pad(naive, "C", Multiples{4, 5, 7}))), ir::to_text(naive));
  const Program p = checked(naive, pad(naive, "C", Multiples{4, 1, 4}));
  EXPECT_TRUE(prints(p, "alloc A.pad: f32[8, 8]")) << ir::to_text(p);
  EXPECT_TRUE(prints(p, "A.pad[vax0, vax1] = select(vax1 < 7, A[vax0, vax1], 0f32)")) << ir::to_text(p);
  EXPECT_TRUE(prints(p, "C[vi, vj] = C[vi, vj] + A.pad[vi, vk] * B.pad[vk, vj]")) << ir::to_text(p);
  EXPECT_FALSE(prints(p, "unpad")) << ir::to_text(p);
}

TEST(Pad, LeavesNoTailsToTheSplitsThatFollow) {
  const Program naive = matmul(13, 17, 7);
  Program p = checked(naive, pad(naive, "C", Multiples{4, 16, 4}));
  p = checked(naive, split(p, "i", Factors{kRest, 4}));
  p = checked(naive, split(p, "j", Factors{kRest, 16}));
  p = checked(naive, split(p, "k", Factors{kRest, 4}));
  EXPECT_FALSE(prints(p, "where")) << ir::to_text(p);
}

TEST(Pad, WorksOnElementwiseBlocksBetweenOthers) {
  for (const std::string block : {"B", "C", "D"}) {
    const Program naive = chain(5, 3);
    checked(naive, pad(naive, block, Multiples{4, 4}));
  }
}

TEST(Pad, WorksOnBatchesAndOtherReductions) {
  const Tensor a = placeholder("A", {2, 5, 6}), b = placeholder("B", {2, 6, 3});
  const Tensor c = compute("C", {2, 5, 3}, [&](const Indices& i) {
    return reduce_sum({{"r", 6}}, [&](const Indices& r) { return a(i[0], i[1], r[0]) * b(i[0], r[0], i[2]); });
  });
  const Program batched = lower("batched", {a, b}, {c});
  checked(batched, pad(batched, "C", Multiples{1, 4, 4, 4}));
  checked(batched, pad(batched, "C", Multiples{3, 4, 4, 4}));
  const Program rows = softmax(5, 6);
  checked(rows, pad(rows, "M", Multiples{4, 1}));
  checked(rows, pad(rows, "S", Multiples{4, 4}));
}

TEST(Pad, CopiesABufferOncePerWayOfReadingIt) {
  const Tensor a = placeholder("A", {5, 6});
  const Tensor c = compute("C", {5, 5}, [&](const Indices& i) {
    return reduce_sum({{"r", 6}}, [&](const Indices& r) { return a(i[0], r[0]) * a(i[1], r[0]) * a(i[0], r[0]); });
  });
  const Program naive = lower("gram", {a}, {c});
  const Program p = checked(naive, pad(naive, "C", Multiples{4, 3, 4}));
  EXPECT_TRUE(prints(p, "A.pad[vi, vr] * A.pad_1[vj, vr] * A.pad[vi, vr]")) << ir::to_text(p);
}

TEST(Pad, KeepsItsCopiesWhereTheyReachThePadding) {
  const Program naive = chain(5, 8);
  const Program p = checked(naive, pad(naive, "C", Multiples{3, 1}));
  EXPECT_EQ(refusal(reverse_compute_at(p, "B.pad", "i")),
            "reverse_compute_at: variable 'vax0' of block 'B.pad' goes beyond axis 0 of buffer 'B', where no iteration "
            "produces anything");
}

TEST(Pad, RefusesWrongMultiples) {
  const Program p = matmul(3, 4, 5);
  EXPECT_EQ(refusal(pad(p, "X", Multiples{1, 1, 1})), "pad: no block 'X', the blocks are C");
  EXPECT_EQ(refusal(pad(p, "C", Multiples{4, 4})),
            "pad: block 'C' is given 2 multiples, allowed are 3, one per iteration variable");
  EXPECT_EQ(refusal(pad(p, "C", Multiples{4, 0, 4})),
            "pad: multiple 0 of variable 'vj' of block 'C' is outside 1..65536");
}

TEST(Pad, RefusesScheduledLoops) {
  constexpr const char* kReason = "pad: the loops of block 'C' are not the naive ones, pad before other steps";
  const Program p = matmul(3, 4, 5);
  EXPECT_EQ(refusal(pad(*split(p, "i", Factors{kRest, 2}), "C", Multiples{4, 4, 4})), kReason);
  EXPECT_EQ(refusal(pad(*parallel(p, "i"), "C", Multiples{4, 4, 4})), kReason);
}

TEST(Pad, RefusesBodiesWhoseValuesPaddingWouldChange) {
  const Program rows = softmax(5, 6);
  EXPECT_EQ(refusal(pad(rows, "M", Multiples{1, 4})),
            "pad: block 'M' does not sum products of elements that all depend on 'vk'");
  const Program stencil = blur(4, 4);
  EXPECT_EQ(refusal(pad(stencil, "X", Multiples{4, 4})),
            "pad: block 'X' accesses buffer 'A' at other indices than its variables, each once");

  const Tensor a = placeholder("A", {5, 6}), s = placeholder("S", {5});
  const Tensor scaled = compute("C", {5}, [&](const Indices& i) {
    return reduce_sum({{"r", 6}}, [&](const Indices& r) { return a(i[0], r[0]) * s(i[0]); });
  });
  EXPECT_EQ(refusal(pad(lower("scaled", {a, s}, {scaled}), "C", Multiples{1, 4})),
            "pad: block 'C' does not sum products of elements that all depend on 'vr'");

  const Tensor x = placeholder("X", {5}, ir::kI32);
  const Tensor inverse =
      compute("C", {5}, [&](const Indices& i) { return ir::constant(ir::kI32, std::int64_t{7}) / x(i[0]); });
  EXPECT_EQ(refusal(pad(lower("inverse", {x}, {inverse}), "C", Multiples{4})),
            "pad: block 'C' divides integers, which padding would divide by zero");

  const Program best = argmax(5, 6);
  EXPECT_EQ(refusal(pad(best, "V", Multiples{4, 1})), "pad: block 'V' has another body than one store");

  const Tensor guarded =
      compute("C", {8}, [&](const Indices& i) { return ir::select(i[0] < 5, s(i[0]), ir::constant(ir::kF32, 1.0)); });
  EXPECT_EQ(refusal(pad(lower("guarded", {s}, {guarded}), "C", Multiples{3})),
            "pad: block 'C' has more values of 'vi' than axis 0 of buffer 'S'");
}

}  // namespace
}  // namespace hone::schedule
