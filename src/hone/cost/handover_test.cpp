#include "hone/cost/handover.h"

#include <gtest/gtest.h>

namespace hone::cost {
namespace {

/// Scores everything with one number.
class Constant final : public CostModel {
 public:
  Constant(double score, bool is_trained) : score_(score), is_trained_(is_trained) {}

  std::string_view name() const override { return "constant"; }
  bool is_trained(std::string_view, std::string_view) const override { return is_trained_; }
  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    return std::vector<double>(subjects.size(), score_);
  }
  Result<void> update(std::span<const Subject> subjects, std::span<const double>) override {
    is_trained_ |= !subjects.empty();
    return {};
  }
  Result<void> save(const std::filesystem::path&) const override { return {}; }
  Result<void> load(const std::filesystem::path&) override { return {}; }

 private:
  double score_;
  bool is_trained_;
};

TEST(Handover, HappensTaskByTaskOnceEnoughIsMeasured) {
  const auto model = make_handover_model("auto", std::make_unique<Constant>(1, /*is_trained=*/true),
                                         std::make_unique<Constant>(2, /*is_trained=*/false), /*samples=*/3);
  const std::vector<Subject> a = {{.task = "a"}, {.task = "a"}}, b = {{.task = "b"}};
  const std::vector<double> seconds = {1, 2};
  EXPECT_EQ(model->name(), "auto");
  EXPECT_TRUE(model->is_trained("a"));
  EXPECT_EQ(model->predict(a)->at(1), 1);
  ASSERT_TRUE(model->update(a, seconds));
  EXPECT_EQ(model->predict(a)->at(0), 1) << "two are not enough";
  ASSERT_TRUE(model->update(a, seconds));
  EXPECT_EQ(model->predict(a)->at(0), 2);
  EXPECT_EQ(model->predict(b)->at(0), 1) << "of the other task nothing was measured";
  EXPECT_EQ(model->predict({})->size(), 0u);
}

TEST(Handover, WaitsForAModelThatLearntNothing) {
  const auto model = make_handover_model("auto", std::make_unique<Constant>(1, true),
                                         std::make_unique<Constant>(2, false), /*samples=*/0);
  const std::vector<Subject> a = {{.task = "a"}};
  EXPECT_EQ(model->predict(a)->at(0), 1);
}

}  // namespace
}  // namespace hone::cost
