// What is collected for `hone report` and `hone explain`, from records that are made up.
#include "hone/report.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "../error/onnx_writer.h"

#include "hone/explain.h"
#include "hone/space/candidate.h"

namespace hone {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

/// y = max(x · w, 0) and its sum along rows, with x of shape [rows, 24] and w of shape [24, 40].
std::string model_bytes() {
  using namespace onnx_writer;
  const std::string raw(24 * 40 * sizeof(float), '\0');
  const Message shape = Message().message(1, Message().text(2, "rows")).message(1, Message().number(1, 24));
  const Message x =
      Message().text(1, "x").message(2, Message().message(1, Message().number(1, kFloat).message(2, shape)));
  const Message y = Message().text(1, "y").message(2, Message().message(1, Message().number(1, kFloat)));
  return model(Content{.nodes = {node("MatMul", {"x", "w"}, {"p"}), node("Relu", {"p"}, {"y"})},
                       .initializers = {onnx_writer::tensor("w", kFloat, {24, 40}, raw)},
                       .inputs = {x},
                       .outputs = {y}})
      .bytes();
}

class ReportTest : public testing::Test {
 protected:
  ReportTest() {
    std::string name = (fs::temp_directory_path() / "hone_report_XXXXXX").string();
    if (const char* made = mkdtemp(name.data())) folder_ = made;
  }
  ~ReportTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  Session session() const {
    const std::string bytes = model_bytes();
    return Session::parse(std::as_bytes(std::span(bytes)), {.threads = 1, .records = "", .keeps_tasks = true}).value();
  }
  static std::vector<Value> inputs(std::int64_t rows) {
    Tensor x = Tensor::allocate(ElementType::F32, {rows, 24}).value();
    std::fill(x.as<float>().begin(), x.as<float>().end(), 1.0F);
    return {Value(std::move(x))};
  }
  std::string file() const { return (folder_ / "records.db").string(); }
  Result<Report> report(std::int64_t rows, const std::string& records) const {
    return make_report(session(), inputs(rows), {.model = "m", .records_file = records, .measures_peak = false});
  }

  /// A record of the model's one task at so many rows: the candidate at this place of the mapping space.
  measure::Record record(std::int64_t rows, std::size_t candidate, double ns, std::int64_t seconds) const {
    const Session model = session();
    const std::vector<TaskUse> tasks = model.tasks(inputs(rows)).value();
    const codegen::Target target = codegen::parse_target(model.target()).value();
    const Chosen standard = default_choice(*tasks[0].task, target);
    measure::Record made;
    made.task = measure::task_key(tasks[0].task->naive(), tasks[0].task->constants);
    made.target = model.target();
    made.candidate = space::to_json(*standard.space, space::candidate_at(*standard.space, candidate));
    made.status = std::isfinite(ns) ? measure::TrialStatus::Ok : measure::TrialStatus::Timeout;
    if (std::isfinite(ns))
      made.samples_ns = {ns, ns, ns};
    else
      made.message = "compiling took too long";
    made.is_checked = std::isfinite(ns);
    made.time_ms = 1'700'000'000'000 + seconds * 1000;
    return made;
  }
  /// The tags of a record that won against the default.
  std::string won(double first_ns) const { return measure::adopted_tags({first_ns, record(5, 0, 1, 0).candidate}); }
  void store(const std::vector<measure::Record>& all) const {
    measure::Records records = measure::Records::open(file()).value();
    for (const measure::Record& one : all) ASSERT_TRUE(records.insert(one));
  }

  fs::path folder_;
};

constexpr double kFailure = std::numeric_limits<double>::infinity();

TEST_F(ReportTest, WithoutRecordsHasTasksAndNoTimes) {
  const Result<Report> made = report(5, "");
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->tasks.size(), 1);
  const ReportTask& task = made->tasks[0];
  EXPECT_EQ(task.name, "MatMul+Relu");
  EXPECT_EQ(task.uses, 1);
  EXPECT_EQ(task.flops, 5 * 24 * 40 * 2 + 5 * 40);
  EXPECT_EQ(task.bytes, (5 * 24 + 24 * 40 + 5 * 40) * 4);
  EXPECT_EQ(task.origin, Origin::Default);
  EXPECT_FALSE(task.is_timed());
  EXPECT_EQ(task.gflops(), 0);
  EXPECT_EQ(task.default_text.candidate, task.chosen_text.candidate);
  EXPECT_THAT(task.default_text.program, HasSubstr("block "));
  EXPECT_THAT(task.default_text.assembly, HasSubstr("ret"));
  EXPECT_FALSE(task.default_text.steps.empty());
  EXPECT_EQ(made->trials(), 0);
  EXPECT_EQ(made->timed_tasks(), 0);
  EXPECT_EQ(made->chosen_ns(), 0);
  EXPECT_TRUE(made->curve.empty());
  const auto json = nlohmann::json::parse(to_json(*made));
  EXPECT_TRUE(json.at("tasks").at(0).at("default_ns").is_null());
  EXPECT_EQ(json.at("model"), "m");
}

TEST_F(ReportTest, TellsWhatTuningTriedAndFound) {
  measure::Record adopted = record(5, 3, 100, 4);
  adopted.tags = won(210);
  store({record(5, 0, 200, 0), record(5, 1, kFailure, 1), record(5, 3, 90, 2), record(5, 2, kFailure, 3), adopted,
         record(5, 4, 300, 3600), record(5, 5, 310, 3602)});
  const Result<Report> made = report(5, file());
  ASSERT_TRUE(made) << made.error().message;
  const ReportTask& task = made->tasks[0];
  EXPECT_EQ(task.origin, Origin::Exact);
  EXPECT_EQ(task.default_ns, 210) << "as it was timed in turns with the winner";
  EXPECT_EQ(task.chosen_ns, 100);
  EXPECT_DOUBLE_EQ(task.speedup(), 2.1);
  EXPECT_DOUBLE_EQ(task.gflops(), task.flops / 100);
  EXPECT_EQ(task.trials, 6);
  EXPECT_EQ(task.failed(), 2);
  ASSERT_EQ(task.failures.size(), 1);
  EXPECT_EQ(task.failures[0].reason, "timeout");
  EXPECT_EQ(task.failures[0].message, "compiling took too long");
  EXPECT_EQ(made->failures().at("timeout"), 2);
  EXPECT_NE(task.chosen_text.candidate, task.default_text.candidate);
  EXPECT_EQ(made->tuning_s, 4 + 2) << "an hour in between was no tuning";
  EXPECT_EQ(made->last_ms - made->first_ms, 3'602'000);
  ASSERT_EQ(made->curve.size(), 3);
  EXPECT_EQ(made->curve.front().ns, 210);
  EXPECT_EQ(made->curve[1].trials, 4);
  EXPECT_EQ(made->curve[1].seconds, 4);
  EXPECT_EQ(made->curve.back().ns, made->chosen_ns());
  EXPECT_EQ(made->curve.back().trials, 6);
  const auto json = nlohmann::json::parse(to_json(*made));
  EXPECT_EQ(json.at("tasks").at(0).at("origin"), "tuned");
  EXPECT_EQ(json.at("tasks").at(0).at("history").size(), 7);
  EXPECT_TRUE(json.at("tasks").at(0).at("history").at(1).at("ns").is_null());
  EXPECT_EQ(json.at("failures").at("timeout"), 2);
}

TEST_F(ReportTest, TellsWhatWasDecidedWithinTheModel) {
  measure::Record alone = record(5, 3, 100, 4), in_model = record(5, 2, 130, 5);
  alone.tags = won(210);
  in_model.tags = measure::adopted_tags({220, record(5, 0, 1, 0).candidate, /*in_model=*/true});
  in_model.cache = measure::CacheState::Model;
  store({record(5, 0, 200, 0), record(5, 2, 110, 1), record(5, 3, 90, 2), alone});
  EXPECT_FALSE(report(5, file())->tasks[0].is_decided_in_model);
  store({in_model});
  const Result<Report> made = report(5, file());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->tasks[0].is_decided_in_model);
  EXPECT_EQ(made->tasks[0].chosen_ns, 130);
  EXPECT_EQ(made->tasks[0].default_ns, 220) << "as it was timed there";
  EXPECT_EQ(made->tasks[0].trials, 3);
  EXPECT_EQ(nlohmann::json::parse(to_json(*made)).at("tasks").at(0).at("in_model"), true);
}

TEST_F(ReportTest, TakesNothingButTheDefaultForTheDefault) {
  measure::Record adopted = record(5, 3, 100, 4);
  adopted.tags = measure::adopted_tags({210, record(5, 2, 1, 0).candidate});  // the first of another space
  store({record(5, 0, 200, 0), adopted});
  EXPECT_EQ(report(5, file())->tasks[0].default_ns, 200);
}

TEST_F(ReportTest, OfTrialsThatAdoptedNothingStaysWithTheDefault) {
  store({record(5, 0, 200, 0), record(5, 0, 190, 1), record(5, 2, 100, 2)});
  const Result<Report> made = report(5, file());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->tasks[0].origin, Origin::Default);
  EXPECT_EQ(made->tasks[0].default_ns, 190);
  EXPECT_EQ(made->tasks[0].chosen_ns, 190);
}

TEST_F(ReportTest, NamesTheShapesThatATaskWasTunedFor) {
  measure::Record adopted = record(7, 3, 100, 0);
  adopted.tags = won(210);
  store({adopted});
  const Result<Report> made = report(5, file());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->tasks[0].origin, Origin::Nearest);
  EXPECT_EQ(made->tasks[0].near_shapes.at(0), (Shape{7, 24}));
  EXPECT_FALSE(made->tasks[0].is_timed()) << "nobody has measured it at this shape";
}

TEST_F(ReportTest, DoesNotTakeTheTimeOfACompatibleTaskForThatOfThisOne) {
  measure::Record adopted = record(5, 3, 100, 0);
  adopted.tags = measure::adopted_tags({210, record(5, 0, 1, 0).candidate, /*in_model=*/true});
  store({record(5, 0, 200, 0), adopted});
  const Result<Report> unmeasured = report(10, file());
  ASSERT_TRUE(unmeasured) << unmeasured.error().message;
  const ReportTask& unknown = unmeasured->tasks[0];
  EXPECT_EQ(unknown.origin, Origin::Compatible);
  EXPECT_EQ(unknown.near_shapes.at(0), (Shape{5, 24}));
  EXPECT_EQ(unknown.chosen_text.candidate, adopted.candidate);
  EXPECT_FALSE(std::isfinite(unknown.default_ns));
  EXPECT_FALSE(std::isfinite(unknown.chosen_ns));
  EXPECT_EQ(unknown.gflops(), 0);
  EXPECT_FALSE(unknown.is_decided_in_model);
  EXPECT_EQ(unmeasured->timed_tasks(), 0);
  EXPECT_EQ(unmeasured->chosen_ns(), 0);
  const auto json = nlohmann::json::parse(to_json(*unmeasured)).at("tasks").at(0);
  EXPECT_EQ(json.at("origin"), "compatible");
  EXPECT_EQ(json.at("near_shapes").at(0), (Shape{5, 24}));
  EXPECT_TRUE(json.at("chosen_ns").is_null());

  measure::Record first = record(10, 0, 900, 1), same = record(10, 0, 400, 2);
  first.candidate = unknown.default_text.candidate;
  same.candidate = adopted.candidate;
  store({first, same});
  const Result<Report> measured = report(10, file());
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->tasks[0].origin, Origin::Compatible) << "trials alone adopt nothing";
  EXPECT_EQ(measured->tasks[0].default_ns, 900);
  EXPECT_EQ(measured->tasks[0].chosen_ns, 400);
  EXPECT_EQ(measured->chosen_ns(), 400);
}

TEST_F(ReportTest, CountsRecordsOfOtherTargets) {
  measure::Record other = record(5, 0, 200, 0);
  other.target = "cpu -mcpu=x86-64 -threads=7";
  store({other, other});
  const Result<Report> made = report(5, file());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->trials(), 0);
  EXPECT_EQ(made->other_targets.at("cpu -mcpu=x86-64 -threads=7"), 2);
}

TEST_F(ReportTest, RefusesFilesThatAreNoRecords) {
  EXPECT_THAT(report(5, file()).error().message, HasSubstr("records.db"));
  std::ofstream(file()) << "this is no database, but long enough to be taken for one: " << std::string(200, 'x');
  EXPECT_THAT(report(5, file()).error().message, HasSubstr("records.db"));
}

TEST_F(ReportTest, MeasuresWhatItIsAskedToMeasure) {
  const Result<Report> made =
      make_report(session(), inputs(5), {.model = "m", .measures_peak = true, .measures_tasks = true});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->is_measured);
  EXPECT_TRUE(made->tasks[0].is_timed());
  EXPECT_GT(made->peak_gflops, 0);
  ASSERT_EQ(made->bandwidths.size(), 3);
  for (const ReportBandwidth& one : made->bandwidths) EXPECT_GT(one.gbytes, 0) << one.memory;
}

TEST_F(ReportTest, ExplainsSpacesAndWhereTheKernelComesFrom) {
  measure::Record adopted = record(5, 3, 100, 4);
  adopted.tags = won(210);
  store({adopted});
  const Session model = session();
  const std::vector<TaskUse> tasks = model.tasks(inputs(5)).value();
  const codegen::Target target = codegen::parse_target(model.target()).value();
  Tuned tuned(file()), none("");
  for (const char* space : {"mapping", "sketch"}) {
    const auto explained = explain(*tasks[0].task, target, tuned, {.space = space, .samples = 10});
    ASSERT_TRUE(explained) << explained.error().message;
    EXPECT_EQ(explained->space->name(), space);
    EXPECT_EQ(explained->built.drawn, 10);
    EXPECT_EQ(explained->chosen->origin, Origin::Exact);
    ASSERT_TRUE(explained->chosen->record);
    EXPECT_EQ(explained->chosen->record->median_ns(), 100);
  }
  const std::vector<TaskUse> larger = model.tasks(inputs(10)).value();
  EXPECT_EQ(explain(*larger[0].task, target, tuned)->chosen->origin, Origin::Compatible);
  EXPECT_EQ(explain(*tasks[0].task, target, none)->chosen->origin, Origin::Default);
  EXPECT_THAT(explain(*tasks[0].task, target, none, {.space = "outer"}).error().message, HasSubstr("mapping"));
}

TEST_F(ReportTest, FindsTasksByNumberNameAndKey) {
  const std::vector<TaskUse> one = session().tasks(inputs(5)).value();
  const std::string key = measure::task_key(one[0].task->naive(), one[0].task->constants).key;
  EXPECT_EQ(find_task(one, "1").value(), 0);
  EXPECT_EQ(find_task(one, "MatMul+Relu").value(), 0);
  EXPECT_EQ(find_task(one, key.substr(0, 8)).value(), 0);
  for (const char* wrong : {"0", "2", "-1", "Conv", "", "1x", "99999999999999999999999"})
    EXPECT_THAT(find_task(one, wrong).error().message, HasSubstr("only: 1 (MatMul+Relu)")) << wrong;
  const std::vector<TaskUse> two = {one[0], one[0]};
  EXPECT_THAT(find_task(two, "MatMul+Relu").error().message, HasSubstr("2 tasks, give the number of one: 1 "));
  EXPECT_THAT(find_task({}, "1").error().message, HasSubstr("no kernels"));
}

TEST(KernelText, IsCutAtTheEndsOfLines) {
  const std::string text = "one\ntwo\nthree\nfour\n";
  EXPECT_EQ(keep_beginning(text, 100), text);
  EXPECT_EQ(keep_beginning(text, 9), "one\ntwo\n… 2 lines below are left out\n");
  EXPECT_EQ(keep_beginning(text, 0), "… 4 lines below are left out\n");
  EXPECT_EQ(keep_beginning("", 0), "");
}

TEST(KernelText, OfAssemblyKeepsWhereTheWorkIsDone) {
  std::string assembly = "kernel:\n";
  for (int i = 0; i < 50; ++i) assembly += "\tmovq\t%rax, %rbx\n";
  for (int i = 0; i < 20; ++i) assembly += "\tvfmadd231ps\t%zmm0, %zmm1, %zmm2\n";
  for (int i = 0; i < 50; ++i) assembly += "\tmovq\t%rbx, %rax\n";
  const std::string kept = keep_hottest(assembly, 800);
  std::size_t count = 0;
  for (std::size_t at = kept.find("vfmadd"); at != std::string::npos; at = kept.find("vfmadd", at + 1)) ++count;
  EXPECT_EQ(count, 20);
  EXPECT_THAT(kept, HasSubstr("lines above are left out"));
  EXPECT_LE(kept.size(), 800 + 100);
  EXPECT_EQ(keep_hottest(assembly, assembly.size()), assembly);
  EXPECT_EQ(keep_hottest("a\nb\n", 1), "… 1 lines above are left out\n… 1 lines below are left out\n");
}

}  // namespace
}  // namespace hone
