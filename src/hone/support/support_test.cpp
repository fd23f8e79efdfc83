#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "hone/support/log.h"
#include "hone/support/result.h"
#include "hone/support/rng.h"

namespace hone {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return error(ErrorCode::InvalidArgument, "half: {} is odd", x);
  return x / 2;
}

Result<int> quarter(int x) {
  HONE_TRY(const int h, half(x));
  HONE_TRY(half(h));
  return half(h);
}

TEST(Result, TryPassesTheFirstErrorUp) {
  EXPECT_EQ(*quarter(12), 3);
  const Result<int> bad = quarter(6);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(bad.error().message, "half: 3 is odd");
  EXPECT_NE(std::string(bad.error().where.file_name()).find("support_test"), std::string::npos);
}

TEST(Result, ReadingAValueThatIsNotThereIsOurMistake) {
  EXPECT_THROW(half(1).value(), InternalError);
  EXPECT_THROW((void)half(2).error(), InternalError);
}

TEST(Rng, SameSeedGivesTheSameSequence) {
  Rng a(7), b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.uniform(-3, 3), b.uniform(-3, 3));
  EXPECT_EQ(Rng(1).next(), 0x910a2dec89025cc1ULL);
}

TEST(Rng, UniformReachesBothEnds) {
  Rng rng(1);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(rng.uniform(2, 5));
  EXPECT_EQ(seen, (std::set<std::int64_t>{2, 3, 4, 5}));
}

TEST(Log, IsSilentWithoutASinkAndFiltersByTopic) {
  std::vector<std::string> lines;
  log::info("search", "lost {}", 1);
  log::set_sink([&](log::Level, std::string_view topic, std::string_view text) {
    lines.push_back(std::string(topic) + ":" + std::string(text));
  });
  log::set_filter("search=debug,codegen=info");
  log::debug("search", "{} of {} kept", 3, 5);
  log::debug("codegen", "hidden");
  log::warning("other", "shown");
  log::set_sink({});
  log::set_filter("");
  log::warning("other", "lost");
  EXPECT_EQ(lines, (std::vector<std::string>{"search:3 of 5 kept", "other:shown"}));
}

}  // namespace
}  // namespace hone
