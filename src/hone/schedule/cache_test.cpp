#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::schedule {
namespace {

using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

TEST(CacheRead, CopiesAnInputOfAnyExtent) {
  for (const std::int64_t n : {0, 1, 5}) {
    const Program naive = matmul(n, 4, 3);
    const Program p = checked(naive, cache_read(naive, "C", "A", ir::Scope::Local));
    EXPECT_TRUE(prints(p, "A.local[vax0, vax1] = A[vax0, vax1]"));
    EXPECT_TRUE(prints(p, "C[vi, vj] + A.local[vi, vk] * B[vk, vj]"));
  }
}

TEST(CacheRead, OfAnIntermediateLeavesOtherReadersAlone) {
  const Program naive = softmax(3, 5);
  const Program p = checked(naive, cache_read(naive, "S", "E", ir::Scope::Global));
  EXPECT_TRUE(prints(p, "D[vi_3, vj_1] = E["));
  EXPECT_TRUE(prints(p, "E.global["));
}

TEST(CacheRead, CanBeMovedToWhereATileNeedsIt) {
  const Program naive = matmul(7, 6, 5);
  Program p = checked(naive, split(naive, "i", Factors{kRest, 4}));
  p = checked(naive, reorder(p, Loops{"i.0", "k", "i.1", "j"}));
  p = checked(naive, cache_read(p, "C", "A", ir::Scope::Shared));
  p = checked(naive, compute_at(p, "A.shared", "k"));
  EXPECT_TRUE(prints(p, "for ax0 in 0..4"));
  EXPECT_TRUE(prints(p, "for ax1 in 0..1 "));
  p = checked(naive, cache_read(p, "A.shared", "A", ir::Scope::Shared));
  EXPECT_TRUE(prints(p, "A.shared_1"));
}

TEST(CacheRead, RefusesWithTheReason) {
  const Program p = softmax(3, 5);
  const std::string before = ir::to_text(p);
  EXPECT_EQ(refusal(cache_read(p, "S", "X", ir::Scope::Local)),
            "cache_read: no buffer 'X', the buffers are A, D, M, E, S");
  EXPECT_EQ(refusal(cache_read(p, "S", "A", ir::Scope::Local)), "cache_read: block 'S' does not read buffer 'A'");
  EXPECT_EQ(refusal(cache_read(p, "S", "S", ir::Scope::Local)), "cache_read: block 'S' writes buffer 'S'");
  EXPECT_EQ(refusal(cache_read(*compute_at(p, "S", "i_3"), "D", "S", ir::Scope::Local)),
            "cache_read: buffer 'S' is written by block 'S' in the nest of block 'D'");
  EXPECT_EQ(ir::to_text(p), before);
}

TEST(CacheWrite, ThenFusesTheCopyIntoTheTile) {
  const Program naive = matmul(7, 6, 5);
  Program p = checked(naive, cache_write(naive, "C", ir::Scope::Local));
  EXPECT_TRUE(prints(p, "block C.write"));
  p = checked(naive, split(p, "i", Factors{kRest, 4}));
  p = checked(naive, split(p, "j", Factors{kRest, 4}));
  p = checked(naive, reorder(p, Loops{"i.0", "j.0", "k", "i.1", "j.1"}));
  p = checked(naive, reverse_compute_at(p, "C.write", "j.0"));
  EXPECT_TRUE(prints(p, "for ax0 in 0..4"));
  p = checked(naive, parallel(p, "i.0"));
}

TEST(CacheWrite, OfAnIntermediateServesItsReaders) {
  const Program naive = softmax(3, 5);
  Program p = checked(naive, cache_write(naive, "E", ir::Scope::Global));
  p = checked(naive, compute_inline(p, "E.write"));
  checked(naive, compute_inline(p, "E"));
}

TEST(CacheWrite, RefusesWithTheReason) {
  const Program p = softmax(3, 5);
  const std::string before = ir::to_text(p);
  EXPECT_EQ(refusal(cache_write(argmax(3, 4), "V", ir::Scope::Local)),
            "cache_write: block 'V' writes 2 buffers, allowed is 1");
  EXPECT_EQ(refusal(cache_write(*decompose_reduction(p, "S", "k_1"), "S", ir::Scope::Local)),
            "cache_write: buffer 'S' is written by 2 blocks, allowed is 1");
  EXPECT_EQ(refusal(cache_write(*compute_at(p, "S", "i_3"), "S", ir::Scope::Local)),
            "cache_write: buffer 'S' is read by block 'D' in the nest of block 'S'");
  EXPECT_EQ(ir::to_text(p), before);
}

TEST(CacheWrite, RefusesABlockThatWritesEveryOtherElement) {
  const tensor::Tensor x = tensor::placeholder("X", {1, 1, 7, 7});
  const tensor::PoolOptions options{.kernel = {2, 3}, .strides = {2, 3}, .padding_before = {2, 2}, .dilations = {2, 1}};
  const Program naive = tensor::lower("pool", {x}, {tensor::average_pool(x, options).value()});
  Program p = checked(naive, compute_at(naive, "pad", "kx"));
  p = checked(naive, compute_at(p, "pool_sum", loops_of(p, "average_pool").front()));
  EXPECT_EQ(refusal(cache_write(p, "pad", ir::Scope::Local)),
            "cache_write: buffer 'pad' has elements that no block writes");
}

}  // namespace
}  // namespace hone::schedule
