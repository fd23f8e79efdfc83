#include "hone/cost/store_model.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hone/cost/metrics.h"
#include "hone/cost/model_file.h"
#include "hone/cost/synthetic_test.h"

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

TEST(StoreModel, TreesOverOtherFeaturesAreRefusedByName) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("hone_store_model_{}", ::getpid());
  ASSERT_TRUE(write_model_file(file, {"ansor", "tenset-164"}, {{"samples", ""}, {"trees", ""}}));
  const Result<void> status = make_store_model({})->load(file);
  std::filesystem::remove(file);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              HasSubstr("features of the schema 'tenset-164', this model reads 'hone-store-164/1'"));
}

TEST(StoreModel, ACandidateWithoutItsProgramIsNamed) {
  const auto model = make_store_model({});
  const Result<void> status = model->update(std::vector<Subject>{{.task = "conv"}}, std::vector<double>{1});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("a candidate of task 'conv' comes without its program"));
}

TEST(StoreModel, OneTaskTeachesAboutAnother) {
  const Data small = make_data(64, 200, 1), large = make_data(256, 200, 2), others = make_data(128, 200, 3);
  const auto model = make_store_model({.seed = 1});
  ASSERT_TRUE(model->update(small.subjects, small.seconds));
  ASSERT_TRUE(model->update(large.subjects, large.seconds));
  EXPECT_GT(pairwise_accuracy(model->predict(others.subjects).value(), others.throughput), 0.8);
}

TEST(StoreModel, LabelsFollowTheBestOfEachTask) {
  // Times of another task, a thousand times longer, must not push the scores of the first together.
  const Data data = make_data(64, 150, 4);
  Data slow = make_data(128, 150, 5);
  for (double& seconds : slow.seconds) seconds *= 1000;
  const auto model = make_store_model({.seed = 1});
  ASSERT_TRUE(model->update(data.subjects, data.seconds));
  ASSERT_TRUE(model->update(slow.subjects, slow.seconds));
  EXPECT_GT(pairwise_accuracy(model->predict(data.subjects).value(), data.throughput), 0.85);
}

}  // namespace
}  // namespace hone::cost
