#include <gtest/gtest.h>

#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/prepack.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"

namespace hone::schedule {
namespace {

using Factors = std::vector<std::int64_t>;

TEST(TransformLayout, RewritesAnAllocatedBufferAnyShape) {
  for (const std::int64_t n : {0, 1, 4, 7})
    for (const std::int64_t m : {1, 5, 32})
      for (const std::string map :
           {"(i, j) -> (j, i)", "(i, j) -> (j // 4, i, j % 4)", "(i, j) -> (i * 32 + j)", "(i, j) -> (i + j, j)"}) {
        const Program naive = chain(n, m);
        const Program p = checked(naive, transform_layout(naive, "B", map));
        checked(naive, transform_layout(p, "C", map));
      }
}

TEST(TransformLayout, SimplifiesIndicesWithTheBoundsOfTheBlock) {
  const Program naive = chain(4, 16);
  const Program p = checked(naive, transform_layout(naive, "B", "(i, j) -> (j // 16, i, j % 16)"));
  EXPECT_TRUE(prints(p, "B[0, vi, vj]")) << ir::to_text(p);
}

TEST(TransformLayout, KeepsGuardedAccesses) {
  const Program naive = convolution(5, 3, 4, 1);
  checked(naive, transform_layout(naive, "P", "(c, y, x) -> (c // 2, y, x, c % 2)"));
  checked(naive, transform_layout(naive, "C", "(f, y, x) -> (f // 2, y, x, f % 2)"));
  checked(naive, transform_layout(naive, "image", "(c, y, x) -> (y, x, c)"));
}

TEST(TransformLayout, WorksOnSplitLoops) {
  const Program naive = chain(6, 10);
  const Program p = checked(naive, split(naive, "j_1", Factors{kRest, 4}));
  checked(naive, transform_layout(p, "B", "(i, j) -> (j // 4, i, j % 4)"));
}

TEST(TransformLayout, PacksAnInputBeforeEverything) {
  for (const std::int64_t n : {1, 16, 21}) {
    const Program naive = matmul(3, n, 5);
    Program p = checked(naive, transform_layout(naive, "B", "(k, n) -> (n // 8, k, n % 8)"));
    EXPECT_TRUE(prints(p, "block B.packed @prepack(\"1\")")) << ir::to_text(p);
    p = checked(naive, transform_layout(p, "A", "(m, k) -> (k, m)"));
    checked(naive, transform_layout(p, "B.packed", "(a, k, b) -> (k, a, b)"));
  }
}

TEST(TransformLayout, CopiesOfLayoutsWithUnusedPlacesAreRefused) {
  const Program naive = matmul(3, 5, 4);
  const Program full = checked(naive, transform_layout(naive, "A", "(m, k) -> (k // 2, m, k % 2)"));
  checked(naive, cache_read(full, "C", "A.packed", ir::Scope::Local));
  const Program p = checked(naive, transform_layout(naive, "B", "(k, n) -> (n // 4, k, n % 4)"));
  EXPECT_EQ(refusal(cache_read(p, "C", "B.packed", ir::Scope::Local)),
            "cache_read: buffer 'B.packed' has elements that no block writes");
  EXPECT_EQ(refusal(cache_write(p, "B.packed", ir::Scope::Local)),
            "cache_write: buffer 'B.packed' has elements that no block writes");
}

TEST(TransformLayout, RefusesWhatItCannotDo) {
  const Program p = matmul(3, 8, 5);
  const Program staged = chain(4, 6);
  EXPECT_EQ(refusal(transform_layout(p, "C", "(i, j) -> (j, i)")),
            "transform_layout: buffer 'C' is an output, allowed are inputs and allocated buffers");
  EXPECT_EQ(refusal(transform_layout(p, "X", "(i, j) -> (j, i)")),
            "transform_layout: no buffer 'X', the buffers are A, B, C");
  EXPECT_EQ(refusal(transform_layout(p, "B", "(i, j) -> (j, i")),
            "transform_layout: buffer 'B': column 16 of the index map is the end, allowed is an operator, ',' or ')'");
  EXPECT_EQ(refusal(transform_layout(p, "B", "(i) -> (i)")),
            "transform_layout: buffer 'B': the index map has 1 variables, allowed are 2, one per axis");
  EXPECT_EQ(refusal(transform_layout(staged, "B", "(i, j) -> (i)")),
            "transform_layout: the index map of buffer 'B' may put two elements in one place");
  EXPECT_EQ(refusal(transform_layout(*storage_align(staged, "B", 0, 4, 0), "B", "(i, j) -> (j, i)")),
            "transform_layout: buffer 'B' is aligned already, align it afterwards");
  EXPECT_EQ(refusal(transform_layout(*transform_layout(p, "B", "(i, j) -> (j, i)"), "B", "(i, j) -> (j, i)")),
            "transform_layout: no block reads buffer 'B', or it is packed already");
}

TEST(SplitPrepack, PreparesOnceWhatTheMainFunctionReads) {
  for (const std::int64_t n : {1, 16, 21}) {
    const Program naive = matmul(3, n, 5);
    Program p = checked(naive, transform_layout(naive, "B", "(k, n) -> (n // 8, k, n % 8)"));
    p = checked(naive, split(p, "ax1", Factors{kRest, 4}));
    const Result<std::pair<Program, Program>> parts = split_prepack(p);
    ASSERT_TRUE(parts) << parts.error().message;
    const auto& [prepare, main] = *parts;
    EXPECT_EQ(prepare.name, "matmul.prepare");
    EXPECT_EQ(main.name, "matmul");
    EXPECT_TRUE(ir::verify(prepare)) << ir::to_text(prepare);
    EXPECT_TRUE(ir::verify(main)) << ir::to_text(main);

    Rng rng(7);
    std::vector<ir::Array> args = ir::random_arguments(naive, rng);
    ir::Array expected = args[2];
    ASSERT_TRUE(ir::interpret(naive, std::vector<ir::Array*>{&args[0], &args[1], &expected}));
    ir::Array packed = ir::random_arguments(prepare, rng)[1];
    ASSERT_TRUE(ir::interpret(prepare, std::vector<ir::Array*>{&args[1], &packed}));
    const Result<void> ran = ir::interpret(main, std::vector<ir::Array*>{&args[0], &packed, &args[2]});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ir::max_difference(args[2], expected), 0);
  }
}

std::string split_refusal(const Result<Program>& program) {
  const Result<std::pair<Program, Program>> parts = split_prepack(*program);
  return parts ? "no error" : parts.error().message;
}

TEST(SplitPrepack, RefusesWhatCannotRunAhead) {
  const Program naive = matmul(3, 8, 5);
  EXPECT_EQ(split_refusal(naive), "split_prepack: no block of 'matmul' is annotated 'prepack'");
  const Program packed = *transform_layout(naive, "B", "(k, n) -> (n, k)");
  EXPECT_EQ(split_refusal(set_scope(packed, "B.packed", ir::Scope::Local)),
            "split_prepack: buffer 'B.packed' is local, allowed is plain global memory that the caller can own");
  EXPECT_EQ(split_refusal(storage_align(packed, "B.packed", 0, 4, 0)),
            "split_prepack: buffer 'B.packed' is aligned, allowed is plain global memory that the caller can own");
  EXPECT_EQ(split_refusal(annotate(packed, "C", "prepack", "1")),
            "split_prepack: block 'C' reads 3 and writes 1 buffers, allowed is a copy of an input to an allocated "
            "buffer");
}

}  // namespace
}  // namespace hone::schedule
