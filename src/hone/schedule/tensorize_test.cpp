#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/tensor_intrinsics.h"
#include "hone/schedule/testing.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {
namespace {

using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

/// C[i, j] = Σ_k A[i, k] · B[k, j] of other types, summed in `sum`.
Program typed_matmul(std::int64_t m, std::int64_t n, std::int64_t k, ir::DType a_type, ir::DType b_type,
                     ir::DType sum) {
  const tensor::Tensor a = tensor::placeholder("A", {m, k}, a_type), b = tensor::placeholder("B", {k, n}, b_type);
  const tensor::Tensor c = tensor::compute("C", {{"i", m}, {"j", n}}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({{"k", k}}, [&](const tensor::Indices& r) {
      return ir::cast(sum, a(i[0], r[0])) * ir::cast(sum, b(r[0], i[1]));
    });
  });
  return tensor::lower("matmul", {a, b}, {c});
}

/// Tiles to the intrinsic's loops j.1 (and k.1), with the init taken out.
Program tiled(const Program& naive, std::int64_t lanes, std::int64_t group) {
  const std::string map = fmt::format("(k, n) -> (n // {0}, k // {1}, n % {0}, k % {1})", lanes, group);
  Program p = checked(naive, transform_layout(naive, "B", map));
  p = checked(naive, split(p, "j", Factors{kRest, lanes}));
  p = checked(naive, split(p, "k", Factors{kRest, group}));
  p = checked(naive, reorder(p, Loops{"i", "j.0", "k.0", "j.1", "k.1"}));
  return checked(naive, decompose_reduction(p, "C", "k.0"));
}

TEST(TensorIntrinsics, EveryImplementationComputesItsDescription) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    EXPECT_TRUE(ir::verify(intrinsic.description)) << intrinsic.name;
    const Program p = checked(intrinsic.description, tensorize(intrinsic.description, "j", intrinsic.name));
    EXPECT_FALSE(prints(p, "for ")) << ir::to_text(p);
    EXPECT_FALSE(intrinsic.doc.empty());
  }
}

TEST(Tensorize, ReplacesByteDotProducts) {
  for (const std::int64_t lanes : {4, 8, 16})
    for (const ir::DType a : {ir::kU8, ir::kI8}) {
      const Program naive = typed_matmul(3, 32, 12, a, ir::kI8, ir::kI32);
      const Program p = tiled(naive, lanes, 4);
      const Program q = checked(naive, tensorize(p, "j.1", fmt::format("dot4_{}i8i32x{}", ir::to_string(a), lanes)));
      EXPECT_TRUE(prints(q, "dot4(")) << ir::to_text(q);
      EXPECT_EQ(loops_of(q, "C"), (Loops{"i", "j.0", "k.0"}));
      checked(naive, parallel(q, "i"));
    }
}

TEST(Tensorize, TakesTheLoopsInAnyOrder) {
  const Program naive = typed_matmul(2, 8, 8, ir::kU8, ir::kI8, ir::kI32);
  for (const Loops& order : {Loops{"j.1", "k.1"}, Loops{"k.1", "j.1"}}) {
    const Program p = checked(naive, reorder(tiled(naive, 4, 4), order));
    checked(naive, tensorize(p, order[0], "dot4_u8i8i32x4"));
  }
}

TEST(Tensorize, ReplacesPairsOfBf16) {
  const Program naive = typed_matmul(3, 16, 6, ir::kBF16, ir::kBF16, ir::kF32);
  const Program p = checked(naive, tensorize(tiled(naive, 16, 2), "j.1", "dot2_bf16f32x16"));
  EXPECT_TRUE(prints(p, "dot2(")) << ir::to_text(p);
}

TEST(Tensorize, ReplacesAScalarTimesAVector) {
  for (const std::int64_t lanes : {4, 8, 16}) {
    const Program naive = matmul(3, 32, 5);
    Program p = checked(naive, split(naive, "j", Factors{kRest, lanes}));
    p = checked(naive, reorder(p, Loops{"i", "j.0", "k", "j.1"}));
    p = checked(naive, decompose_reduction(p, "C", "k"));
    p = checked(naive, tensorize(p, "j.1", fmt::format("fma_f32x{}", lanes)));
    EXPECT_TRUE(prints(p, "fma(")) << ir::to_text(p);
  }
}

TEST(Tensorize, KeepsGuardsOfTheLoopsOutside) {
  const Program naive = typed_matmul(5, 16, 8, ir::kU8, ir::kI8, ir::kI32);
  Program p = checked(naive, split(tiled(naive, 16, 4), "i", Factors{kRest, 2}));
  p = checked(naive, tensorize(p, "j.1", "dot4_u8i8i32x16"));
  EXPECT_TRUE(prints(p, "where i.0 * 2 + i.1 < 5")) << ir::to_text(p);
}

TEST(Tensorize, ReadsPackedWeightsInOneVector) {
  const Program naive = typed_matmul(3, 32, 8, ir::kU8, ir::kI8, ir::kI32);
  const Program p = checked(naive, tensorize(tiled(naive, 16, 4), "j.1", "dot4_u8i8i32x16"));
  EXPECT_TRUE(prints(p, "C[vi, ramp(vj.0 * 16, 1, 16)]")) << ir::to_text(p);
  EXPECT_TRUE(prints(p, "A[vi, ramp(vk.0 * 4, 1, 4)]")) << ir::to_text(p);
  EXPECT_TRUE(prints(p, "B.packed[vj.0, vk.0, ramp(0, 1, 64) // broadcast(4, 64), ramp(0, 1, 64) % broadcast(4, 64)]"))
      << ir::to_text(p);
}

TEST(Tensorize, RefusesUnknownNames) {
  const Program p = matmul(3, 16, 5);
  EXPECT_EQ(refusal(tensorize(p, "x", "fma_f32x16")), "tensorize: no loop 'x', the loops are i, j, k");
  EXPECT_EQ(refusal(tensorize(p, "j", "nothing")),
            "tensorize: no intrinsic 'nothing', the intrinsics are dot4_u8i8i32x16, dot4_i8i8i32x16, dot2_bf16f32x16, "
            "fma_f32x16, dot4_u8i8i32x8, dot4_i8i8i32x8, dot2_bf16f32x8, fma_f32x8, dot4_u8i8i32x4, dot4_i8i8i32x4, "
            "dot2_bf16f32x4, fma_f32x4");
}

TEST(Tensorize, RefusesOtherNests) {
  const Program p = *reorder(matmul(3, 16, 5), Loops{"i", "k", "j"});
  EXPECT_EQ(refusal(tensorize(p, "k", "fma_f32x16")),
            "tensorize: the loops at 'k' have extents 5, 16, allowed for 'fma_f32x16' are 16");
  EXPECT_EQ(refusal(tensorize(p, "j", "fma_f32x8")),
            "tensorize: the loops at 'j' have extents 16, allowed for 'fma_f32x8' are 8");
  EXPECT_EQ(refusal(tensorize(p, "j", "fma_f32x16")),
            "tensorize: block 'C' still has its init, decompose the reduction first");
  EXPECT_EQ(refusal(tensorize(*vectorize(p, "j"), "j", "fma_f32x16")),
            "tensorize: a loop of the nest at 'j' is not serial");
  EXPECT_EQ(refusal(tensorize(*vectorize(p, "i"), "j", "fma_f32x16")),
            "tensorize: loop 'i' is vectorized, allowed are loops that run in order around an intrinsic");
  const Program staged = *prefetch(p, "B", "k", 1);
  EXPECT_EQ(refusal(tensorize(staged, "k", "fma_f32x16")),
            "tensorize: loop 'k' does not contain one block in directly nested loops alone");
}

TEST(Tensorize, RefusesTailsWithinTheIntrinsic) {
  const Program naive = matmul(3, 20, 5);
  Program p = *split(naive, "j", Factors{kRest, 16});
  p = *reorder(p, Loops{"i", "j.0", "k", "j.1"});
  p = *decompose_reduction(p, "C", "k");
  EXPECT_EQ(refusal(tensorize(p, "j.1", "fma_f32x16")),
            "tensorize: block 'C' guards a tail within loop 'j.1', pad or split so that there is none");
}

TEST(Tensorize, RefusesOtherStridesAndValues) {
  const Program naive = typed_matmul(3, 16, 8, ir::kU8, ir::kI8, ir::kI32);
  Program p = *split(naive, "k", Factors{kRest, 4});
  p = *reorder(p, Loops{"i", "k.0", "j", "k.1"});
  p = *decompose_reduction(p, "C", "k.0");
  EXPECT_EQ(
      refusal(tensorize(p, "j", "dot4_u8i8i32x16")),
      "tensorize: block 'C' does not fit 'dot4_u8i8i32x16': buffer 'B' has stride 1 along loop 'j', allowed is 4");
  EXPECT_EQ(refusal(tensorize(p, "j", "dot4_i8i8i32x16")),
            "tensorize: block 'C' does not fit 'dot4_i8i8i32x16': it computes C[vi, vj] + i32(A[vi, vk]) * "
            "i32(B[vk, vj]), allowed is C[vj] + i32(A[vk]) * i32(B[vj, vk])");
  const Program elementwise = chain(16, 16);
  EXPECT_EQ(refusal(tensorize(elementwise, "j", "fma_f32x16")),
            "tensorize: block 'B' does not fit 'fma_f32x16': it computes A[vi, vj] * 2f32 + 1f32, allowed is C[vj] + "
            "A[] * B[vj]");
}

}  // namespace
}  // namespace hone::schedule
