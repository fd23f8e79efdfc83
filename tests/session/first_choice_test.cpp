#include "hone/first_choice.h"

#include <cmath>
#include <gtest/gtest.h>

#include "hone/cost/sentence.h"
#include "hone/network_model.h"
#include "hone/shipped_network.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone {
namespace {

space::Task weighted_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("a", {m, k}), b = tensor::placeholder("b", {k, n});
  space::Task task;
  task.algorithms = {{"direct", tensor::lower("product", {a, b}, {*tensor::matmul(a, b)})}};
  task.constants = {1};
  task.flops = 1e9;  // as if it were large
  return task;
}

codegen::Target avx2_target() { return codegen::parse_target("cpu -mattr=+avx2 -threads=1").value(); }

/// Scores the first program 0, and one of those after it as it was told; or fails.
class Biased final : public cost::CostModel {
 public:
  explicit Biased(double score) : score_(score) {}
  std::string_view name() const override { return "biased"; }
  bool is_trained(std::string_view, std::string_view) const override { return true; }
  Result<std::vector<double>> predict(std::span<const cost::Subject> subjects) override {
    if (std::isnan(score_)) return error(ErrorCode::InvalidArgument, "no idea of {} programs", subjects.size());
    constexpr std::size_t kFavourite = 3;
    std::vector<double> scores;
    for (std::size_t i = 0; i < subjects.size(); ++i, ++seen_)
      scores.push_back(seen_ == 0 ? 0 : seen_ == kFavourite ? score_ : -1);
    return scores;
  }
  Result<void> update(std::span<const cost::Subject>, std::span<const double>) override { return {}; }
  Result<void> save(const std::filesystem::path&) const override { return {}; }
  Result<void> load(const std::filesystem::path&) override { return {}; }

 private:
  double score_;
  std::size_t seen_ = 0;
};

FirstChoice biased(double score) { return FirstChoice(std::make_shared<FirstModel>(std::make_unique<Biased>(score))); }

TEST(FirstChoice, IsThatOfTheRulesWithoutAModel) {
  const FirstCandidate chosen = FirstChoice().choose(weighted_product(13, 40, 7), avx2_target());
  EXPECT_EQ(chosen.candidate, chosen.space->first());
  EXPECT_FALSE(chosen.is_predicted);
}

TEST(FirstChoice, IsThatOfTheModelIfItIsSure) {
  const FirstChoice sure = biased(2.0);
  const FirstCandidate chosen = sure.choose(weighted_product(13, 40, 7), avx2_target());
  EXPECT_NE(chosen.candidate, chosen.space->first());
  EXPECT_TRUE(chosen.is_predicted);
  EXPECT_TRUE(chosen.space->build(chosen.candidate));
  for (const FirstChoice& choice : {biased(0.5), biased(std::nan(""))})
    EXPECT_FALSE(choice.choose(weighted_product(13, 40, 7), avx2_target()).is_predicted);
}

TEST(FirstChoice, IsThatOfTheRulesWhereLittleIsToBeDone) {
  space::Task small = weighted_product(13, 40, 7);
  small.flops = 2.0 * 13 * 40 * 7;
  EXPECT_FALSE(biased(2.0).choose(small, avx2_target()).is_predicted);
}

TEST(FirstChoice, IsAmongSketchesWhereMappingsLeaveNoChoice) {
  // A convolution of groups that reads blocks of channels.
  const tensor::Tensor x = tensor::placeholder("x", {4, 9, 9, 8}),
                       weight = tensor::placeholder("weight", {32, 8, 3, 3});
  const tensor::Tensor conv = tensor::compute("conv", {32, 7, 7}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({8, 3, 3}, [&](const tensor::Indices& r) {
      return x(ir::floor_div(i[0], 8), i[1] + r[1], i[2] + r[2], r[0]) * weight(i[0], r[0], r[1], r[2]);
    });
  });
  const space::Task task{
      .algorithms = {{"direct", tensor::lower("conv", {x, weight}, {conv})}}, .constants = {1}, .flops = 1e9};
  const FirstCandidate chosen = biased(2.5).choose(task, avx2_target());
  ASSERT_TRUE(chosen.is_predicted);
  EXPECT_EQ(chosen.space->name_of(chosen.candidate.sketch), "sketch");
  EXPECT_TRUE(chosen.space->build(chosen.candidate));
  EXPECT_FALSE(biased(2.0).choose(task, avx2_target()).is_predicted) << "sketches have to be better by more";
}

TEST(FirstChoice, AsksOnceAboutATask) {
  const FirstChoice choice = biased(2.0);  // whose favourite comes once
  const FirstCandidate first = choice.choose(weighted_product(13, 40, 7), avx2_target());
  const FirstCandidate again = choice.choose(weighted_product(13, 40, 7), avx2_target());
  EXPECT_TRUE(again.is_predicted);
  EXPECT_EQ(again.candidate, first.candidate);
  EXPECT_FALSE(choice.choose(weighted_product(13, 40, 8), avx2_target()).is_predicted);
}

TEST(FirstChoice, SharesTheNetworkWithinAProcess) {
  const auto one = FirstChoice::by_network(avx2_target()), same = FirstChoice::by_network(avx2_target());
  ASSERT_TRUE(one && same);
  EXPECT_EQ(one->model(), same->model());
  const auto other = codegen::parse_target("cpu -mattr=+sse4.2 -threads=1").value();
  EXPECT_NE(one->model(), FirstChoice::by_network(other).value().model());
}

TEST(ShippedNetwork, ReadsTheSentencesOfThisHone) {
  ASSERT_GT(shipped_network().size(), 1000u);
  EXPECT_LE(shipped_network().size(), std::size_t{4} << 20);
  const Result<Network> network = load_network();
  ASSERT_TRUE(network) << network.error().message;
  const auto writer = cost::make_sentence_writer(cost::language_of(network->spec())).value();
  EXPECT_TRUE(network->check_schema(writer->schema())) << "train it anew: see docs/cost-models.md";
  EXPECT_GE(network->spec().targets.size(), 3u);
  for (const char* name : {"tlp", "mtl", "auto"}) {
    auto model = make_any_cost_model(name, {.threads = 1}, avx2_target(), "");
    ASSERT_TRUE(model) << name << ": " << model.error().message;
    const FirstChoice choice(std::make_shared<FirstModel>(*std::move(model)));
    const FirstCandidate chosen = choice.choose(weighted_product(13, 40, 7), avx2_target());
    EXPECT_TRUE(chosen.space->build(chosen.candidate)) << name;
  }
}

}  // namespace
}  // namespace hone
