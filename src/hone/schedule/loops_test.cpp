#include <algorithm>
#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"

namespace hone::schedule {
namespace {

using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

std::string message(const Result<Program>& result) { return result ? "no error" : result.error().message; }

TEST(Split, EveryFactorKeepsTheValues) {
  for (const std::int64_t extent : {0, 1, 2, 7, 12})
    for (const Factors& factors :
         {Factors{kRest, 4}, Factors{3, kRest}, Factors{2, kRest, 5}, Factors{kRest}, Factors{16}, Factors{13, 1}})
      for (const std::string loop : {"i", "j", "k"}) {
        const Program naive = matmul(extent, extent, std::max<std::int64_t>(extent, 1));
        const Result<Program> now = split(naive, loop, factors);
        ASSERT_TRUE(now) << message(now);
        EXPECT_TRUE(ir::verify(*now));
        EXPECT_TRUE(same_values(naive, *now)) << ir::to_text(*now);
      }
}

TEST(Split, ADividingFactorNeedsNoGuard) {
  const Result<Program> now = split(matmul(12, 4, 4), "i", Factors{kRest, 4});
  EXPECT_EQ(ir::to_text(*now).find("where"), std::string::npos);
  EXPECT_NE(ir::to_text(*split(matmul(13, 4, 4), "i", Factors{kRest, 4})).find("where"), std::string::npos);
}

TEST(Split, RefusesWhatIsNotThereOrDoesNotCover) {
  const Program p = matmul(12, 4, 4);
  EXPECT_EQ(message(split(p, "x", Factors{2, 6})), "split: no loop 'x', the loops are i, j, k");
  EXPECT_EQ(message(split(p, "i", Factors{})), "split: loop 'i' is given no factors");
  EXPECT_EQ(message(split(p, "i", Factors{0, 0})), "split: loop 'i' has more than one factor 0 (the rest)");
  EXPECT_EQ(message(split(p, "i", Factors{2, -3})), "split: factor -3 of loop 'i' is outside 1..140737488355328");
  EXPECT_EQ(message(split(p, "i", Factors{2, 3})),
            "split: factors of loop 'i' multiply to 6, at least its extent 12 is needed");
  EXPECT_EQ(message(split(*unroll(p, "i"), "i", Factors{2, 6})),
            "split: loop 'i' is unrolled, allowed are serial loops");
}

TEST(Fuse, KeepsTheValues) {
  for (const std::int64_t extent : {0, 1, 3, 5}) {
    const Program naive = matmul(extent, 4, 3);
    const Result<Program> now = fuse(naive, Loops{"i", "j"});
    ASSERT_TRUE(now) << message(now);
    EXPECT_TRUE(same_values(naive, *now)) << ir::to_text(*now);
  }
}

TEST(Fuse, OfASplitLoopGivesTheLoopBack) {
  const Program naive = matmul(12, 4, 3);
  const Result<Program> now = fuse(*split(naive, "i", Factors{kRest, 4}), Loops{"i.0", "i.1"});
  ASSERT_TRUE(now);
  EXPECT_NE(ir::to_text(*now).find("vi: spatial(12) = i.0@i.1"), std::string::npos) << ir::to_text(*now);
}

TEST(Fuse, RefusesLoopsThatAreNotNestedDirectlyOrMixRoles) {
  const Program p = matmul(12, 4, 4);
  EXPECT_EQ(message(fuse(p, Loops{"i", "k"})), "fuse: loop 'k' is not directly inside loop 'i'");
  EXPECT_EQ(message(fuse(p, Loops{"j", "k"})), "fuse: loops 'j' to 'k' are spatial and reduction loops of block 'C'");
  EXPECT_EQ(message(fuse(p, Loops{})), "fuse: no loops are given, at least one is needed");
}

TEST(Reorder, EveryOrderKeepsTheValues) {
  Loops order = {"i", "j", "k"};
  do {
    const Program naive = matmul(3, 5, 4);
    const Result<Program> now = reorder(naive, order);
    ASSERT_TRUE(now) << message(now);
    EXPECT_EQ(loops_of(*now, "C"), order);
    EXPECT_TRUE(same_values(naive, *now));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Reorder, LeavesLoopsThatAreNotListedInPlace) {
  EXPECT_EQ(loops_of(*reorder(matmul(3, 5, 4), Loops{"k", "i"}), "C"), (Loops{"k", "j", "i"}));
}

TEST(Reorder, RefusesTwiceTheSameLoop) {
  EXPECT_EQ(message(reorder(matmul(3, 5, 4), Loops{"k", "k"})), "reorder: loop 'k' is given twice");
}

TEST(Kinds, ReductionLoopsRunInOrder) {
  const Program p = matmul(3, 5, 4);
  EXPECT_EQ(message(parallel(p, "k")),
            "parallel: block 'C' reduces over loop 'k', allowed are loops of spatial variables");
  EXPECT_EQ(message(vectorize(p, "k")),
            "vectorize: block 'C' reduces over loop 'k', allowed are loops of spatial variables");
  EXPECT_TRUE(unroll(p, "k"));
}

TEST(Kinds, IterationsOfFusedAndSplitLoopsWriteDifferentElements) {
  for (const Factors& factors : {Factors{kRest, 4}, Factors{kRest, 7}, Factors{3, kRest, 2}}) {
    const Result<Program> fused = fuse(matmul(6, 10, 4), Loops{"i", "j"});
    ASSERT_TRUE(parallel(*fused, "i@j"));
    const Result<Program> tiled = split(*fused, "i@j", factors);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const std::string loop = "i@j." + std::to_string(i);
      EXPECT_TRUE(parallel(*tiled, loop)) << message(parallel(*tiled, loop));
      EXPECT_TRUE(vectorize(*tiled, loop));
    }
  }
}

TEST(Kinds, IterationsThatWriteTheSameElementAreNotIndependent) {
  const Program p = *ir::parse_function(R"(func f(A: f32[8], B: f32[8]) {
  for i in 0..4 {
    for j in 0..4 {
      block B {
        v: spatial(8) = i + j
        B[v] = A[v]
      }
    }
  }
})");
  EXPECT_EQ(message(parallel(p, "i")), "parallel: iterations of loop 'i' may write the same elements of buffer 'B'");
  EXPECT_TRUE(vectorize(p, "j")) << "for one value of i, each j writes another element";
  EXPECT_EQ(message(reorder(*parallel(p, "j"), Loops{"j", "i"})),
            "reorder: iterations of loop 'j' may write the same elements of buffer 'B'");
}

TEST(Kinds, ALoopIsMarkedOnce) {
  const Result<Program> p = vectorize(matmul(3, 5, 4), "j");
  ASSERT_TRUE(p);
  EXPECT_EQ(message(parallel(*p, "j")), "parallel: loop 'j' is vectorized already, allowed are serial loops");
  EXPECT_EQ(message(vectorize(*p, "i")), "vectorize: loop 'i' and loop 'j', which is vectorized already, are nested");
  EXPECT_EQ(message(bind(*p, "i", ir::ForKind::Serial)),
            "bind: 'serial' is not a GPU index, allowed are block_x, block_y, block_z, thread_x, thread_y, thread_z, "
            "vthread");
}

TEST(Annotate, ReachesLoopsAndBlocks) {
  const Program p = matmul(3, 5, 4);
  EXPECT_NE(ir::to_text(*annotate(p, "k", "unroll", "16")).find("@unroll(\"16\")"), std::string::npos);
  EXPECT_NE(ir::to_text(*annotate(p, "C", "note", "x")).find("block C @note(\"x\")"), std::string::npos);
  for (const char* wrong : {"", "x", "-1", "16 ", "1e3", "99999999999999999999"})
    EXPECT_EQ(message(annotate(p, "k", "unroll", wrong)),
              "annotate: 'unroll' of loop 'k' is '" + std::string(wrong) + "', allowed is a number from 0 on");
  EXPECT_EQ(message(annotate(p, "nothing", "a", "b")), "annotate: no block 'nothing', the blocks are C");
}

}  // namespace
}  // namespace hone::schedule
