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

/// A tile of a product on a GPU: blocks of 4 by 4 elements, each of them 2 by 2 threads of 2 virtual ones.
Program gpu_tiles(const Program& naive) {
  Program p = checked(naive, split(naive, "i", Factors{kRest, 2, 2}));
  p = checked(naive, split(p, "j", Factors{kRest, 4}));
  p = checked(naive, split(p, "k", Factors{kRest, 3}));
  p = checked(naive, reorder(p, Loops{"i.0", "j.0", "i.1", "i.2", "j.1", "k.0", "k.1"}));
  p = checked(naive, bind(p, "i.0", ir::ForKind::BlockY));
  p = checked(naive, bind(p, "j.0", ir::ForKind::BlockX));
  p = checked(naive, bind(p, "i.1", ir::ForKind::VThread));
  p = checked(naive, bind(p, "i.2", ir::ForKind::ThreadY));
  return checked(naive, bind(p, "j.1", ir::ForKind::ThreadX));
}

TEST(CacheRead, SharedByTheThreadsOfABlockHoldsWhatAllOfThemNeed) {
  for (const std::int64_t m : {1, 7, 12}) {
    const Program naive = matmul(m, 6, 5);
    Program p = gpu_tiles(naive);
    p = checked(naive, cache_read(p, "C", "A", ir::Scope::Shared));
    p = checked(naive, cache_read(p, "C", "B", ir::Scope::Local));
    p = checked(naive, compute_at(p, "A.shared", "k.0"));
    p = checked(naive, compute_at(p, "B.local", "k.0"));
    EXPECT_TRUE(prints(p, m < 4 ? "for ax0 in 0..1" : "for ax0 in 0..4")) << ir::to_text(p);  // rows of all threads
    EXPECT_TRUE(prints(p, "for ax1 in 0..3")) << ir::to_text(p);
    EXPECT_TRUE(prints(p, "for ax1_1 in 0..1")) << ir::to_text(p);  // one column, the thread's own
  }
}

TEST(CacheRead, IsFilledByTheThreadsTogether) {
  const Program naive = matmul(7, 6, 5);
  Program p = gpu_tiles(naive);
  p = checked(naive, cache_read(p, "C", "A", ir::Scope::Shared));
  p = checked(naive, compute_at(p, "A.shared", "k.0"));
  p = checked(naive, fuse(p, Loops{"ax0", "ax1"}));
  p = checked(naive, split(p, "ax0@ax1", Factors{kRest, 2, 4}));
  EXPECT_EQ(refusal(bind(p, "ax0@ax1.1", ir::ForKind::ThreadX)),
            "bind: loop 'ax0@ax1.1' has 2 iterations, loop 'j.1', bound to thread_x as well, has 4");
  EXPECT_EQ(refusal(bind(p, "ax0@ax1.1", ir::ForKind::BlockX)),
            "bind: loop 'ax0@ax1.1' and loop 'j.0', which is bound to block_x already, are nested, allowed is that for "
            "threads that fill shared memory together");
  p = checked(naive, bind(p, "ax0@ax1.1", ir::ForKind::ThreadY));
  p = checked(naive, bind(p, "ax0@ax1.2", ir::ForKind::ThreadX));
  p = checked(naive, cache_read(gpu_tiles(naive), "C", "A", ir::Scope::Local));
  p = checked(naive, compute_at(p, "A.local", "k.0"));
  EXPECT_EQ(refusal(bind(p, "ax1", ir::ForKind::ThreadX)),
            "bind: loop 'ax1' and loop 'j.1', which is bound to thread_x already, are nested, allowed is that for "
            "threads that fill shared memory together");
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
