#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"

namespace hone::schedule {
namespace {

using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

TEST(Prefetch, FetchesOneLineOfARowAtATimeWithinTheBuffer) {
  const Program naive = matmul(8, 40, 6);
  Program p = checked(naive, reorder(naive, Loops{"i", "k", "j"}));
  p = checked(naive, prefetch(p, "B", "k", 2));
  EXPECT_TRUE(prints(p, R"(    for k in 0..6 {
      for pf1 in 0..3 unrolled {
        evaluate prefetch(B[min(k + 2, 5), pf1 * 16])
      }
      for j in 0..40 {)"))
      << ir::to_text(p);
}

TEST(Prefetch, KeepsTheValuesInAnyTiling) {
  for (const std::int64_t n : {1, 7, 16})
    for (const std::string loop : {"i.0", "k", "j.0"})
      for (const std::string buffer : {"A", "B", "C"}) {
        const Program naive = matmul(n, 20, 5);
        Program p = checked(naive, split(naive, "i", Factors{kRest, 4}));
        p = checked(naive, split(p, "j", Factors{kRest, 8}));
        p = checked(naive, reorder(p, Loops{"i.0", "j.0", "k", "i.1", "j.1"}));
        p = checked(naive, prefetch(p, buffer, loop, 1));
        p = checked(naive, prefetch(p, buffer, loop, 3));
        checked(naive, split(p, "k", Factors{kRest, 2}));
      }
}

TEST(Prefetch, OfARepeatedBufferLooksAtItsUsesOnly) {
  const Program naive = matmul(4, 16, 6);
  const Program once = checked(naive, prefetch(naive, "A", "k", 1));
  const Program twice = checked(naive, prefetch(once, "A", "k", 4));
  EXPECT_FALSE(prints(twice, "pf")) << ir::to_text(twice);
}

TEST(Prefetch, RefusesWhatItCannotFetch) {
  const Program p = matmul(64, 300, 300);
  EXPECT_EQ(refusal(prefetch(p, "X", "k", 1)), "prefetch: no buffer 'X', the buffers are A, B, C");
  EXPECT_EQ(refusal(prefetch(p, "A", "x", 1)), "prefetch: no loop 'x', the loops are i, j, k");
  EXPECT_EQ(refusal(prefetch(p, "A", "k", 0)), "prefetch: distance 0 of buffer 'A' is outside 1..1048576");
  EXPECT_EQ(refusal(prefetch(p, "B", "j", 1)),
            "prefetch: an iteration of loop 'j' touches 300 cache lines of buffer 'B' or more, allowed are 1..64");
  EXPECT_EQ(refusal(prefetch(*vectorize(p, "j"), "B", "k", 1)),
            "prefetch: loop 'j' is vectorized, allowed are loops outside of it");
  const Program staged = chain(4, 4);
  EXPECT_EQ(refusal(prefetch(staged, "C", "i", 1)), "prefetch: the body of loop 'i' does not touch buffer 'C'");
}

}  // namespace
}  // namespace hone::schedule
