#include "hone/cost/training_batches.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

namespace hone::cost {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Samples of sentences with one row of one number, their place; so many in each task, with labels for two targets.
TrainingSet make_set(std::size_t tasks, std::size_t samples) {
  TrainingSet set{.shape = {1, 1}, .schema = "test", .targets = 2, .first_rows = {0}};
  for (std::size_t i = 0; i < tasks * samples; ++i) {
    set.numbers.push_back(static_cast<float>(i));
    set.first_rows.push_back(i + 1);
    set.labels.insert(set.labels.end(), {1 / static_cast<float>(i + 1), 0.5F});
    set.tasks.push_back(static_cast<std::uint32_t>(i / samples));
    set.programs.push_back(i);
  }
  return set;
}

std::vector<std::size_t> all_of(const TrainingSet& set) {
  std::vector<std::size_t> places(set.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

std::size_t count_visible(const VisibleLabels& labels, std::size_t head) {
  std::size_t count = 0;
  for (std::size_t i = 0; i * labels.heads < labels.numbers.size(); ++i)
    count += std::isnan(labels.at(i, head)) ? 0 : 1;
  return count;
}

TEST(VisibleLabels, OfTheFirstTargetAreAShare) {
  const TrainingSet set = make_set(10, 100);
  const std::size_t targets[] = {1, 0};
  TrainingOptions options{.label_share = 0.07, .seed = 1, .label_seed = 5};
  const VisibleLabels labels = visible_labels(set, targets, options);
  EXPECT_NEAR(static_cast<double>(count_visible(labels, 0)), 70, 25);
  EXPECT_EQ(count_visible(labels, 1), 1000u);
  EXPECT_FLOAT_EQ(labels.at(3, 1), 0.25F) << "of the target that comes first in the set";

  options.seed = 2;  // of another member, which sees the same labels
  const VisibleLabels same = visible_labels(set, targets, options);
  for (std::size_t i = 0; i < set.size(); ++i) EXPECT_EQ(std::isnan(labels.at(i, 0)), std::isnan(same.at(i, 0)));
}

TEST(VisibleLabels, OfWhichNoneCanBeSeenAreRefused) {
  const TrainingSet set = make_set(2, 3);
  Dataset data;
  data.targets = {"one", "two"};
  const std::size_t both[] = {0, 1}, first[] = {0};
  const auto check = [&](std::span<const std::size_t> targets, double share) {
    const TrainingOptions options{.label_share = share};
    return check_visible(data, set, targets, visible_labels(set, targets, options), options);
  };
  EXPECT_TRUE(check(both, 1));
  EXPECT_TRUE(check(both, 0)) << "the other target is what is trained on";
  EXPECT_THAT(check(first, 0).error().message,
              HasSubstr("target 'one' has 6 labels, of which a share of 0 shows 0, expected at least 2"));
}

TEST(SplitSamples, HoldsBackWholeTasksOrSinglePrograms) {
  const TrainingSet set = make_set(20, 10);
  TrainingOptions options{.validates_on_tasks = true, .held_back = 0.1};
  const auto [kept, held] = split_samples(set, options);
  EXPECT_EQ(held.size(), 20u);
  std::set<std::uint32_t> tasks;
  for (const std::size_t i : held) tasks.insert(set.tasks[i]);
  EXPECT_EQ(tasks.size(), 2u);
  for (const std::size_t i : kept) EXPECT_FALSE(tasks.contains(set.tasks[i]));

  options.validates_on_tasks = false;
  const auto [others, programs] = split_samples(set, options);
  EXPECT_EQ(others.size() + programs.size(), set.size());
  EXPECT_NEAR(static_cast<double>(programs.size()), 20, 15);
  options.held_back = 0;
  EXPECT_EQ(split_samples(set, options).first.size(), set.size());
}

TEST(PartOf, HoldsWhatTheWholeSetHolds) {
  const TrainingSet set = make_set(2, 3);
  const std::size_t places[] = {4, 1};
  const TrainingSet part = part_of(set, places);
  ASSERT_EQ(part.size(), 2u);
  EXPECT_THAT(part.numbers, ElementsAre(4, 1));
  EXPECT_THAT(part.tasks, ElementsAre(1, 0));
  EXPECT_THAT(part.programs, ElementsAre(4, 1));
  EXPECT_FLOAT_EQ(part.label(1, 0), 0.5F);
}

TEST(ItemsOf, LeaveOutSamplesOfWhichNothingMayBeSeen) {
  const VisibleLabels labels{{kNone, 1, kNone, kNone, 1, 1}, 2};
  const std::size_t samples[] = {0, 1, 2};
  EXPECT_THAT(items_of(false, labels, samples), ElementsAre(TrainingItem{0, 0}, TrainingItem{2, 0}));
  EXPECT_THAT(items_of(true, labels, samples), ElementsAre(TrainingItem{0, 1}, TrainingItem{2, 0}, TrainingItem{2, 1}));
}

TEST(MakeBatches, HoldEachItemOnceInGroupsOfOneTask) {
  const TrainingSet set = make_set(3, 100);
  const VisibleLabels labels = visible_labels(set, std::vector<std::size_t>{0, 1}, {});
  const std::vector<TrainingItem> items = items_of(true, labels, all_of(set));
  ASSERT_EQ(items.size(), 600u);
  Rng rng(1);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const TrainingBatch& batch : make_batches(set, items, {.pairs_within_tasks = true, .batch = 128}, rng)) {
    EXPECT_LE(batch.items.size(), 128u);
    std::size_t next = 0;
    for (const std::size_t size : batch.groups) {
      EXPECT_LE(size, 64u);
      const TrainingItem& first = batch.items[next];
      for (std::size_t i = 0; i < size; ++i, ++next) {
        EXPECT_EQ(set.tasks[batch.items[next].sample], set.tasks[first.sample]);
        EXPECT_EQ(batch.items[next].head, first.head);
        EXPECT_TRUE(seen.emplace(batch.items[next].sample, batch.items[next].head).second);
      }
    }
    EXPECT_EQ(next, batch.items.size());
  }
  EXPECT_EQ(seen.size(), 600u);
}

TEST(MakeBatches, AreOneGroupEachWherePairsAreOfAllTasks) {
  const TrainingSet set = make_set(3, 100);
  const std::vector<TrainingItem> items =
      items_of(false, visible_labels(set, std::vector<std::size_t>{0}, {}), all_of(set));
  Rng rng(1), same(1), other(2);
  const auto batches = make_batches(set, items, {.batch = 128}, rng);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_THAT(batches[0].groups, ElementsAre(128));
  EXPECT_THAT(batches[2].groups, ElementsAre(44));
  EXPECT_EQ(make_batches(set, items, {.batch = 128}, same)[1].items, batches[1].items);
  EXPECT_NE(make_batches(set, items, {.batch = 128}, other)[1].items, batches[1].items);
}

TEST(MakeBatches, OfNothingAreNone) {
  Rng rng(1);
  for (const bool within : {false, true})
    EXPECT_TRUE(make_batches(make_set(1, 1), {}, {.pairs_within_tasks = within}, rng).empty());
}

class BatchLossTest : public ::testing::Test {
 protected:
  /// Compares the gradient with differences of the loss.
  void expect_gradient(const TrainingOptions& options, double step) const {
    const BatchLoss found = batch_loss(scores_, 2, batch_, labels_, options);
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      std::vector<float> moved = scores_;
      moved[i] += static_cast<float>(step);
      const double up = batch_loss(moved, 2, batch_, labels_, options).loss;
      moved[i] -= static_cast<float>(2 * step);
      const double down = batch_loss(moved, 2, batch_, labels_, options).loss;
      EXPECT_NEAR(static_cast<double>(found.gradient[i]), (up - down) / (2 * step), 1e-2) << i;
    }
  }

  const TrainingBatch batch_{{{0, 0}, {1, 0}, {2, 0}, {3, 0}}, {2, 2}};
  const std::vector<float> scores_ = {0.1F, 0.7F, 0.3F, 0.2F, -0.5F, 0.4F, 0.9F, 1.5F};
  const VisibleLabels labels_{{1, 0.2F, 0.5F, 1, kNone, 0.3F, kNone, 0.6F}, 2};
};

TEST_F(BatchLossTest, OfSquaresIsTheirMeanOverWhatMayBeSeen) {
  const TrainingOptions options{.loss = "mse"};
  const double first = (0.9 * 0.9 + 0.2 * 0.2) / 2, second = (0.5 * 0.5 + 0.8 * 0.8 + 0.1 * 0.1 + 0.9 * 0.9) / 4;
  EXPECT_NEAR(batch_loss(scores_, 2, batch_, labels_, options).loss, first + second, 1e-5);
  expect_gradient(options, 1e-2);
}

TEST_F(BatchLossTest, OfRanksHasItsGradientAndNoneWhereNothingMayBeSeen) {
  const TrainingOptions options{.loss = "rank", .pairs_within_tasks = true};
  expect_gradient(options, 1e-3);
  const BatchLoss found = batch_loss(scores_, 2, batch_, labels_, options);
  EXPECT_GT(found.loss, 0);
  EXPECT_EQ(found.gradient[4], 0) << "its label is hidden";
  EXPECT_LT(found.gradient[0], 0) << "it is the better one and should score higher";
  const VisibleLabels hidden{std::vector<float>(8, kNone), 2};
  EXPECT_EQ(batch_loss(scores_, 2, batch_, hidden, options).loss, 0);
}

}  // namespace
}  // namespace hone::cost
