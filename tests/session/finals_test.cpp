// The finals of tuning: rules on tables of made-up times, and small models end to end.
#include "hone/finals.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <limits>

#include "../error/onnx_writer.h"

#include "hone/finalists.h"
#include "hone/patience.h"
#include "hone/runtime/plan.h"
#include "hone/space/candidate.h"
#include "hone/tune.h"
#include "hone/tuned.h"

namespace hone {
namespace {

using testing::ElementsAre;

namespace fs = std::filesystem;

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// Samples around a time, the slower half of them disturbed.
Samples around(double ns, double spread = 0.002) {
  Samples samples;
  for (int i = 0; i < 12; ++i) {
    const double noise = spread * static_cast<double>(i * 5 % 7 - 3) / 3;
    samples.push_back(i % 2 == 0 ? ns * (1 + noise) : ns * 1.4);
  }
  return samples;
}

TEST(FinalsRules, TiesGoToTheDefault) {
  EXPECT_EQ(decide_task({around(100), around(100)}), 0);
  EXPECT_EQ(decide_task({around(100), around(99.5), around(99.2)}), 0) << "too little to be worth another kernel";
  EXPECT_EQ(decide_task({Samples(10, 100.0), Samples(10, 100.0)}), 0);
}

TEST(FinalsRules, WhatIsSurelyFasterWins) {
  EXPECT_EQ(decide_task({around(100), around(90)}), 1);
  EXPECT_EQ(decide_task({around(100), around(110), around(95)}), 2);
  EXPECT_EQ(decide_task({around(100), around(90), around(80), around(85)}), 2);
  EXPECT_EQ(decide_task({around(100), around(90), around(89.5)}), 1) << "the leader stays unless beaten";
}

TEST(FinalsRules, WhatIsSlowerInTheModelLosesThoughItLeadsAlone) {
  EXPECT_EQ(decide_task({around(100), around(104)}), 0);
}

TEST(FinalsRules, NoiseDecidesNothing) {
  EXPECT_EQ(decide_task({around(100, 0.2), around(97, 0.2)}), 0);
  EXPECT_EQ(decide_task({{100, 130, 80}, {90, 140, 85}}), 0);
  EXPECT_EQ(decide_task({{100}, {50}}), 0) << "single samples say nothing about noise";
  Samples lucky = around(100);
  lucky[0] = 60;
  EXPECT_EQ(decide_task({around(100), lucky}), 0) << "a single sample decides nothing";
  Samples disturbed = around(104);
  disturbed[0] = 100;
  EXPECT_EQ(decide_task({disturbed, around(100)}), 0) << "the default was only disturbed more often";
}

TEST(FinalsRules, FailuresCannotWin) {
  EXPECT_EQ(decide_task({around(100), {}}), 0);
  EXPECT_EQ(decide_task({around(100), {}, around(90)}), 2);
}

TEST(FinalsRules, OneVariantOrNoRoundsLeaveTheDefault) {
  EXPECT_EQ(decide_task({around(100)}), 0);
  EXPECT_EQ(decide_task({}), 0);
  EXPECT_EQ(decide_task({{}, {}, {}}), 0);
  EXPECT_EQ(typical({}), kUnknown);
}

TEST(FinalsRules, AModelThatIsNoFasterThanTheDefaultBecomesTheDefault) {
  EXPECT_EQ(decide_model(around(100), around(95), around(97)), Verdict::Assembled);
  EXPECT_EQ(decide_model(around(100), around(95), around(80)), Verdict::Alone);
  EXPECT_EQ(decide_model(around(100), around(95), around(94.9)), Verdict::Assembled) << "a tie";
  EXPECT_EQ(decide_model(around(100), around(101), around(102)), Verdict::Default);
  EXPECT_EQ(decide_model(around(100), around(100), around(100)), Verdict::Default);
  EXPECT_EQ(decide_model(around(100), around(101), around(90)), Verdict::Alone);
  EXPECT_EQ(decide_model(around(100), around(99.5), {}), Verdict::Assembled) << "its parts were compared before";
  EXPECT_EQ(decide_model(around(100, 0.3), around(99.5, 0.3), {}), Verdict::Default) << "noise";
  EXPECT_EQ(decide_model({110, 111, 110, 111, 140, 140, 140, 140}, {150, 150, 150, 150, 100, 101, 100, 101}, {}),
            Verdict::Default)
      << "the machine was calm at other times: it is not faster in most rounds";
  EXPECT_EQ(decide_model(around(100), around(101), {}), Verdict::Default);
  EXPECT_EQ(decide_model(around(100), {}, {}), Verdict::Default);
  EXPECT_EQ(decide_model({}, {}, {}), Verdict::Default);
}

search::TuneProgress progress_of(double elapsed_s, double best_ns, std::int64_t trials = 50) {
  search::TuneProgress progress;
  progress.elapsed_s = elapsed_s;
  progress.tasks = {{.weight = 2, .trials = trials, .first_ns = 100, .best_ns = best_ns}};
  return progress;
}

TEST(Patience, EndsAfterAQuarterOfTheTimeWithoutAGain) {
  Patience patience(0.25);
  EXPECT_FALSE(patience.is_over(progress_of(30, 90)));
  EXPECT_FALSE(patience.is_over(progress_of(39, 90)));
  EXPECT_FALSE(patience.is_over(progress_of(39.5, 80))) << "a gain";
  EXPECT_FALSE(patience.is_over(progress_of(50, 79.95))) << "less than a thousandth is none";
  EXPECT_FALSE(patience.is_over(progress_of(52, 79.95)));
  EXPECT_TRUE(patience.is_over(progress_of(53, 79.95)));
}

TEST(Patience, SmallGainsAddUp) {
  Patience patience(0.25);
  double ns = 90;
  for (int second = 20; second < 100; ++second) EXPECT_FALSE(patience.is_over(progress_of(second, ns *= 0.9997)));
}

TEST(Patience, WaitsForTasksThatWereHardlyTried) {
  Patience patience(0.25);
  for (const double second : {1.0, 20.0, 100.0}) {
    EXPECT_FALSE(patience.is_over(progress_of(second, 90, /*trials=*/3)));
    EXPECT_FALSE(patience.is_over(progress_of(second, kUnknown)));
  }
  search::TuneProgress done = progress_of(100, 90, /*trials=*/3);
  done.tasks[0].is_done = true;
  EXPECT_FALSE(patience.is_over(done));
  done.elapsed_s = 200;
  EXPECT_TRUE(patience.is_over(done)) << "there was nothing more to try";
}

TEST(Patience, OfZeroNeverEnds) {
  Patience patience(0);
  EXPECT_FALSE(patience.is_over(progress_of(10, 90)));
  EXPECT_FALSE(patience.is_over(progress_of(1e6, 90)));
}

/// y = max(max(x · w, 0) · v, 0), with x of shape [17, 24], and weights of shapes [24, 40] and [40, 12].
std::string two_products() {
  using namespace onnx_writer;
  const auto weights = [](std::size_t count) {
    std::string raw;
    for (std::size_t i = 0; i < count; ++i) {
      const float element = static_cast<float>(i * 7 % 11) / 8 - 0.5F;
      raw.append(reinterpret_cast<const char*>(&element), sizeof element);
    }
    return raw;
  };
  const Message shape = Message().message(1, Message().number(1, 17)).message(1, Message().number(1, 24));
  const Message x =
      Message().text(1, "x").message(2, Message().message(1, Message().number(1, kFloat).message(2, shape)));
  const Message y = Message().text(1, "y").message(2, Message().message(1, Message().number(1, kFloat)));
  return model(Content{.nodes = {node("MatMul", {"x", "w"}, {"p"}), node("Relu", {"p"}, {"h"}),
                                 node("MatMul", {"h", "v"}, {"q"}), node("Relu", {"q"}, {"y"})},
                       .initializers = {onnx_writer::tensor("w", kFloat, {24, 40}, weights(24 * 40)),
                                        onnx_writer::tensor("v", kFloat, {40, 12}, weights(40 * 12))},
                       .inputs = {x},
                       .outputs = {y}})
      .bytes();
}

class FinalsTest : public testing::Test {
 protected:
  FinalsTest() {
    std::string name = (fs::temp_directory_path() / "hone_finals_XXXXXX").string();
    if (const char* made = mkdtemp(name.data())) folder_ = made;
    Tensor x = Tensor::allocate(ElementType::F32, {17, 24}).value();
    float element = -1;
    for (float& one : x.as<float>()) one = element = element > 1 ? -1 : element + 0.01F;
    inputs_ = {Value(std::move(x))};
  }
  ~FinalsTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  static Session load(const std::string& records = "") {
    const std::string bytes = two_products();
    return Session::parse(std::as_bytes(std::span(bytes)), {.threads = 1, .records = records, .keeps_tasks = true})
        .value();
  }

  std::vector<TaskUse> tasks() const { return session_.tasks(inputs_).value(); }
  codegen::Target target() const { return codegen::parse_target(session_.target()).value(); }
  std::string file() const { return (folder_ / "records.db").string(); }

  /// The candidate at this place of the default's space.
  std::string candidate(const TaskUse& use, std::size_t place) const {
    const Chosen standard = default_choice(*use.task, target());
    return space::to_json(*standard.space, space::candidate_at(*standard.space, place));
  }
  std::string standard(const TaskUse& use) const {
    const Chosen chosen = default_choice(*use.task, target());
    return space::to_json(*chosen.space, chosen.candidate);
  }
  /// A place whose program differs from those at others.
  std::vector<std::string> different(const TaskUse& use, std::size_t count) const {
    measure::Records none = measure::Records::open((folder_ / "different.db").string()).value();
    for (std::size_t place = 0; place < 40; ++place) {
      measure::Record made = trial(use, candidate(use, place), 100 + 0.1 * static_cast<double>(place));
      EXPECT_TRUE(none.insert(made));
    }
    const auto found = find_finalists(std::vector<TunedUse>{{use, ""}}, none, target(), FirstChoice(), count + 1);
    return {found->front().candidates.begin() + 1, found->front().candidates.end()};
  }
  measure::Record trial(const TaskUse& use, const std::string& json, double ns) const {
    measure::Record made;
    made.task = measure::task_key(use.task->naive(), use.task->constants);
    made.target = session_.target();
    made.candidate = json;
    made.status = measure::TrialStatus::Ok;
    made.samples_ns = {ns, ns, ns};
    made.is_checked = true;
    return made;
  }
  /// All candidates of all tasks that the finals could be about.
  std::vector<FinalsTask> finalists(std::size_t count) const {
    std::vector<FinalsTask> made;
    for (const TaskUse& use : tasks()) {
      FinalsTask task{use, measure::task_key(use.task->naive(), use.task->constants).key, {standard(use)}, 1};
      for (const std::string& json : different(use, count)) task.candidates.push_back(json);
      made.push_back(std::move(task));
    }
    return made;
  }
  std::vector<double> output(const Session& session) const {
    return *session.run(inputs_).value().at(0).tensor()->to_doubles();
  }
  search::TunerOptions few_trials() const {
    search::TunerOptions options;
    options.trials_per_task = 6;
    options.measurer.timing.repeats = 3;
    options.cost_model = "none";
    options.search = "random";
    return options;
  }

  fs::path folder_;
  std::vector<Value> inputs_;
  Session session_ = load();
};

TEST_F(FinalsTest, FindsTheDefaultTheLeaderAndTheNextBest) {
  const TaskUse use = tasks()[0];
  const std::vector<std::string> others = different(use, 4);
  ASSERT_EQ(others.size(), 4);
  measure::Records records = measure::Records::open(file()).value();
  measure::Record wrong = trial(use, others[3], 1);
  wrong.is_checked = false;
  ASSERT_TRUE(records.insert(wrong));
  ASSERT_TRUE(records.insert(trial(use, others[0], 30)));
  ASSERT_TRUE(records.insert(trial(use, others[1], 20)));
  ASSERT_TRUE(records.insert(trial(use, others[2], 100)));
  ASSERT_TRUE(records.insert(trial(use, standard(use), 25)));
  const auto found = find_finalists(std::vector<TunedUse>{{use, others[0]}}, records, target(), FirstChoice());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1);
  EXPECT_THAT((*found)[0].candidates, ElementsAre(standard(use), others[0], others[1]))
      << "what is not checked, and what is slower by far, does not take part";
  EXPECT_EQ((*found)[0].leader, 1);

  const auto without = find_finalists(std::vector<TunedUse>{{use, standard(use)}, {tasks()[1], ""}}, records, target(),
                                      FirstChoice(), 2);
  ASSERT_EQ(without->size(), 1) << "a task with nothing but the default is left out";
  EXPECT_THAT((*without)[0].candidates, ElementsAre(standard(use), others[1]));
  EXPECT_EQ((*without)[0].leader, 0);
}

TEST_F(FinalsTest, VariantsComputeTheSameAndShareWhatTheyHaveInCommon) {
  const std::vector<FinalsTask> all = finalists(2);
  const std::vector<double> expected = output(session_);
  const Session one = session_.with_kernels({{all[0].key, all[0].candidates[1]}, {all[1].key, all[1].candidates[1]}});
  const Session other = session_.with_kernels({{all[0].key, all[0].candidates[1]}, {all[1].key, all[1].candidates[2]}});
  for (const Session& variant : {one, other})
    EXPECT_THAT(output(variant), testing::Pointwise(testing::DoubleNear(1e-4), expected));
  const auto entry = [&](const Session& session, std::size_t step) {
    return std::get<runtime::KernelStep>(session.plans(inputs_).value()[0]->parts().steps.at(step).call).entry;
  };
  EXPECT_EQ(entry(one, 0), entry(other, 0));
  EXPECT_NE(entry(one, 1), entry(other, 1));
  EXPECT_NE(entry(one, 0), entry(session_, 0));
  EXPECT_EQ(output(session_), expected);
  const Session wrong = session_.with_kernels({{all[0].key, R"({"space":"mapping","sketch":"none","decisions":{}})"}});
  EXPECT_FALSE(wrong.run(inputs_)) << "what is asked for is compiled, or an error";
}

TEST_F(FinalsTest, DecideAboutEachTask) {
  const std::vector<FinalsTask> all = finalists(2);
  std::vector<std::string> stages;
  const auto report = run_finals(session_, inputs_, all, {.seconds = 2, .progress = [&](const FinalsProgress& told) {
                                                            if (stages.empty() || stages.back() != told.stage)
                                                              stages.push_back(told.stage);
                                                            EXPECT_GE(told.left_s, 0) << told.stage;
                                                          }});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->is_stopped);
  EXPECT_EQ(report->variants, 3);
  EXPECT_GE(report->rounds, 6);
  ASSERT_EQ(report->tasks.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FinalsDecision& decision = report->tasks[i];
    EXPECT_EQ(decision.key, all[i].key);
    EXPECT_THAT(all[i].candidates, testing::Contains(decision.candidate));
    EXPECT_EQ(decision.is_default, decision.candidate == all[i].candidates[0]);
    EXPECT_GE(decision.samples_ns.size(), 12) << "two in each round";
    EXPECT_GT(decision.default_ns, 0);
  }
  EXPECT_GT(report->default_ns, 0);
  EXPECT_GT(report->chosen_ns, 0);
  ASSERT_GE(stages.size(), 2);
  EXPECT_EQ(stages[0], "compiling");
  EXPECT_EQ(stages[1], "timing");
}

TEST_F(FinalsTest, SayHowMuchTimeIsLeftAsSoonAsItIsKnown) {
  std::atomic<bool> stop = false;
  std::vector<double> left_s;
  const auto report =
      run_finals(session_, inputs_, finalists(1), {.stop = &stop, .progress = [&](const FinalsProgress& told) {
                                                     left_s.push_back(told.left_s);
                                                     if (told.rounds == 2) stop = true;
                                                   }});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_GE(left_s.size(), 4) << "two variants, two rounds";
  EXPECT_EQ(left_s.front(), std::numeric_limits<double>::infinity()) << "nothing was compiled yet";
  for (std::size_t i = 1; i < left_s.size(); ++i) {
    EXPECT_GT(left_s[i], 0);
    EXPECT_TRUE(std::isfinite(left_s[i]));
  }
}

TEST_F(FinalsTest, StopWhenTold) {
  std::atomic<bool> stop = false;
  const auto report =
      run_finals(session_, inputs_, finalists(1), {.stop = &stop, .progress = [&](const FinalsProgress& told) {
                                                     if (told.rounds == 2) stop = true;
                                                   }});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->is_stopped);
  EXPECT_TRUE(report->tasks.empty());
  const auto nothing = run_finals(session_, inputs_, {}, {});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->tasks.empty());
}

TEST_F(FinalsTest, AreTheLastWordOfTuning) {
  const Result<ModelTuneReport> report = tune(session_, inputs_, few_trials(), file());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->records_error, "");
  EXPECT_EQ(report->finals_error, "");
  ASSERT_TRUE(report->finals);
  ASSERT_EQ(report->finals->tasks.size(), 2);
  const measure::Records records = measure::Records::open(file(), measure::Records::Mode::ReadOnly).value();
  for (const FinalsDecision& decision : report->finals->tasks) {
    const auto adopted = records.adopted(decision.key, session_.target());
    ASSERT_TRUE(adopted && *adopted);
    EXPECT_EQ((*adopted)->candidate, decision.candidate);
    EXPECT_EQ((*adopted)->cache, measure::CacheState::Model);
    EXPECT_NE((*adopted)->trace, "[]");
    EXPECT_TRUE(measure::find_adoption(**adopted)->in_model);
  }
  const Session tuned = load(file());
  for (const runtime::Step& step : tuned.plans(inputs_).value()[0]->parts().steps) EXPECT_EQ(step.origin, "tuned");
  EXPECT_THAT(output(tuned), testing::Pointwise(testing::DoubleNear(1e-4), output(session_)));
}

TEST_F(FinalsTest, AreNotHeldIfNobodyWantsThem) {
  const Result<ModelTuneReport> report = tune(session_, inputs_, few_trials(), file(), {.has_finals = false});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->finals);
  const measure::Records records = measure::Records::open(file(), measure::Records::Mode::ReadOnly).value();
  for (const search::TaskProgress& task : report->progress.tasks) {
    const auto adopted = records.adopted(task.key, session_.target());
    ASSERT_TRUE(adopted && *adopted);
    EXPECT_FALSE(measure::find_adoption(**adopted)->in_model);
  }
}

TEST_F(FinalsTest, ThatAreStoppedLeaveWhatWasAdoptedAlone) {
  std::atomic<bool> stop = false;
  search::TunerOptions options = few_trials();
  options.stop = &stop;
  const Result<ModelTuneReport> report =
      tune(session_, inputs_, options, file(), {.progress = [&](const FinalsProgress&) { stop = true; }});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->is_stopped);
  ASSERT_TRUE(report->finals);
  EXPECT_TRUE(report->finals->tasks.empty());
  const measure::Records records = measure::Records::open(file(), measure::Records::Mode::ReadOnly).value();
  for (const search::TaskProgress& task : report->progress.tasks) {
    const auto adopted = records.adopted(task.key, session_.target());
    ASSERT_TRUE(adopted && *adopted);
    EXPECT_EQ((*adopted)->candidate, task.best);
    EXPECT_FALSE(measure::find_adoption(**adopted)->in_model);
  }
}

TEST_F(FinalsTest, AreNotOverruledByTimesOfKernelsAlone) {
  const TaskUse use = tasks()[0];
  const std::string key = measure::task_key(use.task->naive(), use.task->constants).key;
  const std::vector<std::string> others = different(use, 6);
  const std::string& poor = others.back();  // the default and others are faster alone
  measure::Records records = measure::Records::open(file()).value();
  ASSERT_TRUE(records.insert(trial(use, poor, 1e9)));
  ASSERT_TRUE(records.insert(trial(use, others[0], 1)));  // alone, it seems to be faster by far
  FinalsReport decided;
  decided.tasks = {{.key = key, .candidate = poor, .default_ns = 50, .samples_ns = {50, 51}}};
  const std::vector<FinalsTask> finals = {{use, key, {standard(use), poor}, 1}};
  ASSERT_TRUE(records.insert_all(finals_records(decided, finals, target())));

  search::TunerOptions options = few_trials();
  options.records = &records;
  const Result<ModelTuneReport> report = tune(session_, inputs_, options, ModelTuning{.has_finals = false});
  ASSERT_TRUE(report) << report.error().message;
  const auto adopted = records.adopted(key, session_.target());
  ASSERT_TRUE(adopted && *adopted);
  EXPECT_EQ((*adopted)->candidate, poor);
  EXPECT_TRUE(measure::find_adoption(**adopted)->in_model);
}

}  // namespace
}  // namespace hone
