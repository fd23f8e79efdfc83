// A user's rule for sketches is tuned with like the built-in ones.
#include <gtest/gtest.h>

#include "hone/schedule/primitives.h"
#include "hone/search/tuner.h"
#include "hone/space/sketch/sketch_space.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::search {
namespace {

/// Products are nothing but cut into blocks of rows.
space::Rule row_blocks(space::Verdict verdict) {
  return {"row blocks",
          [=](const space::Derivation&, const std::string& block, const space::RuleContext&) {
            return block == "matmul" ? verdict : space::Verdict::Skip;
          },
          [](const space::Derivation& derivation, const std::string& block, const space::RuleContext&) {
            space::Derivation next = space::visited(derivation);
            const std::string rows = block + ".rows";
            space::Action action{.block = block,
                                 .name = "row blocks",
                                 .has_tiles = false,
                                 .knobs = {{rows, {{1}, {2}, {4}, {8}}}},
                                 .first = {2}};
            action.apply = [=](space::Building& building) {
              return building.apply(schedule::Split{"i", {schedule::kRest, building.decided(rows)[0]}});
            };
            next.actions.push_back(std::move(action));
            return std::vector<space::Derivation>{std::move(next)};
          }};
}

class UserRule : public testing::Test {
 protected:
  ~UserRule() override { space::clear_rules(); }

  /// Tunes a product in the space of sketches.
  static Result<TuneReport> tune_product() {
    const tensor::Tensor a = tensor::placeholder("a", {24, 12}), b = tensor::placeholder("b", {12, 32});
    auto task = std::make_shared<space::Task>();
    task->algorithms = {{"direct", tensor::lower("product", {a, b}, {*tensor::matmul(a, b)})}};
    task->flops = 2.0 * 24 * 12 * 32;
    TunerOptions options;
    options.measurer.target.threads = 1;
    options.measurer.timing.min_repeat_ms = 0.05;
    options.measurer.workers = 1;
    options.space = "sketch";
    options.search = "grid";
    options.cost_model = "none";
    options.trials_per_task = 8;
    return tune({{task, "product", 1}}, options);
  }
};

TEST_F(UserRule, IsTunedWith) {
  space::add_rule(row_blocks(space::Verdict::ApplyAndStop));
  const Result<TuneReport> report = tune_product();
  ASSERT_TRUE(report) << report.error().message;
  const TaskProgress& task = report->progress.tasks.at(0);
  EXPECT_EQ(task.trials, 4) << "there is no other sketch";
  EXPECT_EQ(task.failures, 0);
  EXPECT_NE(task.best.find(R"("sketch":"direct row blocks")"), std::string::npos) << task.best;
}

TEST_F(UserRule, StandsBesideTheOthersUntilItIsRemoved) {
  const auto names = [] {
    const tensor::Tensor a = tensor::placeholder("a", {24, 12}), b = tensor::placeholder("b", {12, 32});
    const space::Task task{.algorithms = {{"direct", tensor::lower("product", {a, b}, {*tensor::matmul(a, b)})}}};
    const auto space = make_sketch_space(task, codegen::host_target()).value();
    std::vector<std::string> all;
    for (const space::Sketch& sketch : space->sketches()) all.push_back(sketch.name);
    return all;
  };
  const std::vector<std::string> before = names();
  space::add_rule(row_blocks(space::Verdict::ApplyAndStop));
  space::add_rule(row_blocks(space::Verdict::Apply));  // in its place
  std::vector<std::string> with = names();
  ASSERT_EQ(with.front(), "direct row blocks");
  with.erase(with.begin());
  EXPECT_EQ(with, before);
  space::clear_rules();
  EXPECT_EQ(names(), before);
}

}  // namespace
}  // namespace hone::search
