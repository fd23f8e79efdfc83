#include "hone/runtime/attribute.h"

#include <gtest/gtest.h>

namespace hone::runtime {
namespace {

TEST(Attributes, KeepWhatAKernelMakesOfThem) {
  int calls = 0;
  const auto make = [&]() -> Result<std::string> { return fmt::format("made {}", ++calls); };
  Attributes attributes;
  attributes.set("axis", std::int64_t{1});
  const std::shared_ptr<const std::string> first = *attributes.prepared<std::string>(make);
  EXPECT_EQ(*first, "made 1");
  EXPECT_EQ(attributes.prepared<std::string>(make)->get(), first.get());
  const Attributes copy = attributes;  // has to make its own
  EXPECT_EQ(**copy.prepared<std::string>(make), "made 2");
  attributes.set("axis", std::int64_t{2});  // what was made of other content is gone
  EXPECT_EQ(**attributes.prepared<std::string>(make), "made 3");
  attributes.remove("axis");
  EXPECT_EQ(**attributes.prepared<std::string>(make), "made 4");
}

TEST(Attributes, KeepNoErrors) {
  const Attributes attributes;
  const auto fail = []() -> Result<int> { return error(ErrorCode::InvalidArgument, "no"); };
  EXPECT_EQ(attributes.prepared<int>(fail).error().message, "no");
  EXPECT_EQ(**attributes.prepared<int>([]() -> Result<int> { return 7; }), 7);
}

}  // namespace
}  // namespace hone::runtime
