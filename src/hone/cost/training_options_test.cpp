#include "hone/cost/training_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::cost {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TrainingOptions, RateFallsFromAllToLittle) {
  TrainingOptions options{.epochs = 10, .rate = 0.5};
  EXPECT_DOUBLE_EQ(rate_in(1, options), 0.5);
  for (int epoch = 2; epoch <= 10; ++epoch) EXPECT_LT(rate_in(epoch, options), rate_in(epoch - 1, options));
  EXPECT_GT(rate_in(10, options), 0.01);
  options.is_steady = true;
  EXPECT_DOUBLE_EQ(rate_in(10, options), 0.5);
}

class FindTargets : public ::testing::Test {
 protected:
  FindTargets() { data_.targets = {"cpu -mcpu=a -threads=1", "cpu -mcpu=a -threads=16", "cpu -mcpu=b -threads=1"}; }

  std::vector<std::size_t> find(const std::vector<std::string>& texts) const {
    return find_targets(data_, texts).value();
  }
  std::string problem(const std::vector<std::string>& texts) const {
    return find_targets(data_, texts).error().message;
  }

  Dataset data_;
};

TEST_F(FindTargets, ByTheirTextsOrPartsOfOneAlone) {
  EXPECT_THAT(find({}), ElementsAre(0, 1, 2));
  EXPECT_THAT(find({"=b", "threads=16"}), ElementsAre(2, 1));
  EXPECT_THAT(find({"cpu -mcpu=a -threads=1"}), ElementsAre(0)) << "which is a part of another one, too";
}

TEST_F(FindTargets, NamesWhatIsInNoneInSeveralOrTwice) {
  EXPECT_THAT(problem({"avx2"}),
              HasSubstr("target 'avx2' is in 0 targets of the data set, expected one of: cpu -mcpu=a"));
  EXPECT_THAT(problem({"=a"}), HasSubstr("target '=a' is in 2 targets"));
  EXPECT_THAT(problem({"=b", "mcpu=b"}), HasSubstr("target 'cpu -mcpu=b -threads=1' is given twice"));
}

}  // namespace
}  // namespace hone::cost
