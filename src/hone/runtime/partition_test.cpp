#include "hone/runtime/partition.h"

#include <gtest/gtest.h>
#include <limits>

namespace hone::runtime {
namespace {

TEST(Partition, PartsFollowEachOtherAndCoverEveryIteration) {
  for (const std::int64_t count : {0, 1, 2, 3, 7, 8, 97, 1000003})
    for (const std::int64_t parts : {1, 2, 3, 8, 64}) {
      std::int64_t next = 0;
      for (std::int64_t rank = 0; rank < parts; ++rank) {
        const IterationRange range = partition(count, parts, rank);
        EXPECT_EQ(range.begin, next) << count << " in " << parts << " parts";
        EXPECT_LE(range.begin, range.end);
        next = range.end;
      }
      EXPECT_EQ(next, count) << "in " << parts << " parts";
    }
}

TEST(Partition, SizesDifferByAtMostOneAndTheLargerComeFirst) {
  EXPECT_EQ(partition(11, 3, 0), (IterationRange{0, 4}));
  EXPECT_EQ(partition(11, 3, 1), (IterationRange{4, 8}));
  EXPECT_EQ(partition(11, 3, 2), (IterationRange{8, 11}));
}

TEST(Partition, TheLargestCountDoesNotOverflow) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(partition(kLargest, 8, 7).end, kLargest);
  EXPECT_EQ(partition(kLargest, 1, 0), (IterationRange{0, kLargest}));
}

}  // namespace
}  // namespace hone::runtime
