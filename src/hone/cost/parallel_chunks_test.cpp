#include "hone/cost/parallel_chunks.h"

#include <gtest/gtest.h>
#include <vector>

namespace hone::cost {
namespace {

TEST(ForChunks, EveryPartIsDoneOnceWhateverTheThreads) {
  for (const std::size_t count : {0, 1, 7, 64, 65})
    for (const int threads : {0, 1, 5}) {
      std::vector<int> done(count);
      ASSERT_TRUE(for_chunks(count, 8, threads, [&](std::size_t begin, std::size_t end) {
        EXPECT_LE(end - begin, 8u);
        for (std::size_t i = begin; i < end; ++i) ++done[i];
        return Result<void>();
      }));
      EXPECT_EQ(done, std::vector<int>(count, 1)) << count << ' ' << threads;
    }
}

TEST(ForChunks, TheFirstErrorComesBack) {
  const Result<void> status = for_chunks(100, 10, 3, [](std::size_t begin, std::size_t) -> Result<void> {
    if (begin >= 30) return error(ErrorCode::InvalidArgument, "part {}", begin);
    return {};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "part 30");
}

TEST(ForChunks, AMistakeInAThreadReachesTheCaller) {
  const auto broken = [](std::size_t, std::size_t) -> Result<void> {
    HONE_CHECK(false, "broken");
    return {};
  };
  EXPECT_THROW((void)for_chunks(100, 10, 3, broken), InternalError);
}

}  // namespace
}  // namespace hone::cost
