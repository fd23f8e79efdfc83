// report and explain: what they write, and that the page is whole whatever models are called.
#include <gmock/gmock.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "../error/onnx_writer.h"
#include "command_runner.h"
#include "report/page.h"

namespace hone::command {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Another parser than ours looks at the page: each element is closed, nothing is loaded from elsewhere, ids are
/// unique, links lead to them. Prints the text that stands in the elements of one class.
constexpr std::string_view kCheck = R"py(
import html.parser, re, sys

class Check(html.parser.HTMLParser):
    SINGLE = {"meta", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.texts = [], [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in self.SINGLE:
            self.open.append(tag)
        for name, value in attributes:
            assert name not in {"src", "onclick", "onload", "onerror"}, (tag, name, value)
            assert not re.match(r"\s*(\w+:|//)", value or "") or name in {"style", "title", "content"}, (name, value)
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)
        assert tag not in {"link", "iframe", "img", "object", "embed", "base"}, tag

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (self.getpos(), tag, self.open[-3:])
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in {"style", "script"}:
            self.texts.append(data)
        if self.open and self.open[-1] == "style":
            assert "url(" not in data and "@import" not in data
        assert "script" not in self.open or "alert" not in data, data

page = open(sys.argv[1], encoding="utf-8").read()
check = Check()
check.feed(page)
check.close()
assert not check.open, check.open
assert page.startswith("<!DOCTYPE html>")
assert len(check.ids) == len(set(check.ids))
for link in check.links:
    assert link.startswith("#") and link[1:] in check.ids, link
assert page.count("<script>") == 1
print("\n".join(check.texts))
)py";

class HoneReport : public CommandTest {
 protected:
  /// What a reader sees of a page, which has to be sound.
  std::string text_of(const std::string& page) const {
    write("check.py", kCheck);
    const Outcome outcome = shell("python3 check.py " + page);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output;
  }
};

using HoneExplain = CommandTest;

TEST_F(HoneReport, ShowsWhatTuningFound) {
  write_dense();
  ASSERT_EQ(hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 6").status, 0);
  const Outcome outcome = hone("report dense.onnx --dim batch=5 --threads 1 --records r.db --output page.html");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("1 tasks, "));
  EXPECT_THAT(outcome.output, HasSubstr("written to page.html"));
  const std::string page = read("page.html");
  for (const char* part : {"dense.onnx", "MatMul+Relu", "Roofline", "Tuning", "Kernels", "GFLOP/s",
                           "prefers-color-scheme", "class=\"badge tuned\"", "<svg", "id=\"task-1\""})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_LT(page.size(), 1'000'000);
  EXPECT_THAT(text_of("page.html"), HasSubstr("5×3 · 3×2 · 5×2"));
}

TEST_F(HoneReport, GivesTheSameAsJson) {
  write_dense();
  ASSERT_EQ(hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 4").status, 0);
  const Outcome outcome = hone("report dense.onnx --dim batch=5 --threads 1 --records r.db --json");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json.at("model"), "dense.onnx");
  EXPECT_EQ(json.at("tasks").at(0).at("name"), "MatMul+Relu");
  EXPECT_GE(json.at("trials"), 4);
  EXPECT_GT(json.at("peak_gflops"), 0);
  EXPECT_FALSE(std::filesystem::exists(path("report.html")));
}

TEST_F(HoneReport, WithoutRecordsSaysSo) {
  write_dense();
  const Outcome outcome = hone("report dense.onnx --dim batch=5 --threads 1 --records none");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(read("report.html"), HasSubstr("There are no records of these tasks for this target"));
  EXPECT_THAT(text_of("report.html"), HasSubstr("nothing was timed"));
  // The user's own file need not be there yet.
  EXPECT_EQ(shell("HONE_RECORDS=never.db '" HONE_COMMAND "' report dense.onnx --dim batch=5").status, 0);
}

TEST_F(HoneReport, MeasuresOnRequest) {
  write_dense();
  ASSERT_EQ(hone("report dense.onnx --dim batch=5 --threads 1 --records none --measure").status, 0);
  EXPECT_THAT(read("report.html"), HasSubstr("measured for this report"));
  EXPECT_THAT(read("report.html"), HasSubstr("Where the time goes"));
}

TEST_F(HoneReport, OfAModelWithoutKernelsIsAPage) {
  using namespace onnx_writer;
  write("same.onnx", model(Content{.nodes = {node("Identity", {"x"}, {"y"})},
                                   .inputs = {value("x", kFloat, {4})},
                                   .outputs = {value("y", kFloat, {4})}})
                         .bytes());
  const Outcome outcome = hone("report same.onnx --records none");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(text_of("report.html"), HasSubstr("This model has no kernels"));
}

TEST_F(HoneReport, TakesHostileNamesForText) {
  using namespace onnx_writer;
  const std::string evil = "</pre><script>alert('x')</script>&amp;\"";
  const std::string raw(6 * sizeof(float), '\0');
  write("'<i>\".onnx", model(Content{.nodes = {node("MatMul", {"x", evil}, {"p"}), node("Relu", {"p"}, {"y"})},
                                     .initializers = {tensor(evil, kFloat, {3, 2}, raw)},
                                     .inputs = {value("x", kFloat, {5, 3})},
                                     .outputs = {value("y", kFloat, {5, 2})}})
                           .bytes());
  const Outcome outcome = hone("report \"'<i>\\\".onnx\" --records none");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(read("report.html"), Not(HasSubstr("<script>alert")));
  EXPECT_THAT(read("report.html"), Not(HasSubstr("<i>\"")));
  const std::string text = text_of("report.html");
  EXPECT_THAT(text, HasSubstr("'<i>\".onnx"));
  EXPECT_THAT(text, HasSubstr("<script>alert"));
}

/// A report on tasks with names and numbers as bad as they get.
TEST_F(HoneReport, OfAnyNumbersIsAPage) {
  const double unknown = std::numeric_limits<double>::infinity();
  Report report{.model = "a\x01\"<b>", .target = "cpu", .machine = "", .version = "1", .made_ms = 0};
  for (int i = 0; i < 80; ++i) {
    ReportTask task{.name = "Conv<" + std::to_string(i) + ">", .key = "0", .shapes = {{1, 2}, {}}, .uses = i};
    task.flops = i % 3 == 0 ? 0 : 1e3 * i;
    task.bytes = i % 5 == 0 ? 0 : 10;
    task.default_ns = i % 4 == 0 ? unknown : i * 100.0;
    task.chosen_ns = i % 7 == 0 ? unknown : i * 50.0;
    task.origin = static_cast<Origin>(i / 5 % 5);
    task.trials = i;
    for (int k = 0; k < i * 10; ++k) task.history.push_back({k * 0.1, k % 9 == 0 ? unknown : 10.0 + k, k % 31 == 30});
    if (i % 2 == 1) task.failures = {{"timeout", "it took <long> & longer", 3}};
    task.chosen_text = {R"({"space":"<i>"})", {"split(<a>)"}, "for <i> {", "mov <b>"};
    report.tasks.push_back(std::move(task));
  }
  report.curve = {{0, 0, 0}, {5, 0, 0}};
  for (const double peak : {0.0, 100.0}) {
    report.peak_gflops = peak;
    if (peak > 0) report.bandwidths = {{"L1", 1, 1e-3}, {"L2", 1, 1e6}};
    write("page.html", report_page(report));
    EXPECT_THAT(read("page.html"), Not(HasSubstr("nan")));
    EXPECT_THAT(read("page.html"), Not(HasSubstr("=\"inf")));
    EXPECT_THAT(text_of("page.html"), HasSubstr("it took <long> & longer"));
  }
}

TEST_F(HoneReport, TellsAndCountsWhereEachKernelComesFrom) {
  Report report{.model = "m"};
  for (const Origin origin :
       {Origin::Default, Origin::Compatible, Origin::Exact, Origin::Nearest, Origin::Predicted, Origin::Compatible}) {
    ReportTask task{.name = "Relu", .key = "0", .uses = 1, .origin = origin, .default_ns = 2, .chosen_ns = 1};
    if (origin == Origin::Compatible) task.near_shapes = {{77, 24}};
    task.chosen_text.candidate = R"({"space":"other"})";
    report.tasks.push_back(std::move(task));
  }
  const std::string page = report_page(report);
  write("page.html", page);
  const std::string text = text_of("page.html");
  EXPECT_THAT(text, HasSubstr("1 tuned, 2 compatible, 1 nearest, 1 predicted, 1 default"));
  EXPECT_THAT(text, HasSubstr("in use: compatible"));
  EXPECT_THAT(text, HasSubstr("77×24"));
  EXPECT_THAT(page, HasSubstr("<span class=\"badge compatible\">compatible</span>"));
}

TEST_F(HoneReport, RefusesWhatItCannotRead) {
  write_dense();
  write("text.db", "this is no database, but long enough to be taken for one: " + std::string(200, 'x'));
  write("text.onnx", "This is a text, no model.\n");
  for (const std::string command : {"report ", "explain "}) {
    expect_refusal(hone(command + "dense.onnx --dim batch=5 --records missing.db"), {"missing.db"});
    expect_refusal(hone(command + "dense.onnx --dim batch=5 --records text.db"), {"text.db"});
    expect_refusal(hone(command + "text.onnx --records none"), {"'text.onnx'", "not an ONNX model"});
    expect_refusal(hone(command + "none.onnx --records none"), {"'none.onnx'", "No such file"});
  }
  const Outcome outcome = hone("report dense.onnx --dim batch=5 --records none --output no/such/folder.html");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("'no/such/folder.html'"));
}

TEST_F(HoneExplain, ListsTasksAndExplainsOne) {
  write_dense();
  const Outcome listed = hone("explain dense.onnx --dim batch=5 --threads 1 --records none");
  EXPECT_EQ(listed.status, 0) << listed.errors;
  EXPECT_THAT(listed.output, HasSubstr("MatMul+Relu: 5x3 3x2 5x2"));
  for (const std::string space : {"mapping", "sketch", "template"}) {
    const Outcome outcome = hone("explain dense.onnx 1 --dim batch=5 --threads 1 --records none --space " + space);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    for (const std::string& part : std::vector<std::string>{
             "task 1: MatMul+Relu, 1 call", "space " + space, "sketch direct", "options: ", "left out", "fallback: no",
             "can be built", "compiled: the default, by rules; there are no records"})
      EXPECT_THAT(outcome.output, HasSubstr(part));
  }
}

TEST_F(HoneExplain, ShowsTheSpacesOfGpus) {
  using namespace onnx_writer;
  write("conv.onnx",
        model(Content{.nodes = {node("Conv", {"x", "w"}, {"y"})},
                      .initializers = {tensor("w", kFloat, {8, 8, 3, 3}, std::string(8 * 8 * 3 * 3 * 4, '\0'))},
                      .inputs = {value("x", kFloat, {1, 8, 16, 16})},
                      .outputs = {value("y", kFloat, {1, 8, 14, 14})}})
            .bytes());
  const std::string command = "explain conv.onnx --target gpu --records none";
  const Outcome listed = hone(command);
  EXPECT_EQ(listed.status, 0) << listed.errors;
  EXPECT_THAT(listed.output, HasSubstr("Conv: 1x8x16x16 8x8x3x3 1x8x14x14")) << "no blocks of channels";
  const std::string usual = hone(command + " 1").output;
  for (const std::string space : {"sketch", "template"}) {
    const Outcome outcome = hone(command + " 1 --space " + space);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    for (const std::string& part : std::vector<std::string>{"task 1: Conv, 1 call", "space " + space,
                                                            "options: ", "thread", "can be built", "compiled: nothing"})
      EXPECT_THAT(outcome.output, HasSubstr(part));
    EXPECT_EQ(outcome.output == usual, space == "sketch");
  }
  expect_refusal(hone(command + " 1 --space mapping"), {"'mapping'", "for CPUs", "sketch"});
}

TEST_F(HoneExplain, SaysWhereTheKernelComesFrom) {
  write_dense();
  ASSERT_EQ(hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 3").status, 0);
  EXPECT_THAT(hone("explain dense.onnx MatMul+Relu --dim batch=5 --threads 1 --records r.db").output,
              HasSubstr("compiled: tuned for this task, "));
  EXPECT_THAT(hone("explain dense.onnx 1 --dim batch=7 --threads 1 --records r.db").output,
              HasSubstr("compiled: tuned for the nearest shapes 5x3 3x2 5x2"));
  EXPECT_THAT(hone("explain dense.onnx 1 --dim batch=10 --threads 1 --records r.db").output,
              HasSubstr("compiled: tuned for the compatible shapes 5x3 3x2 5x2"));
  EXPECT_THAT(hone("explain dense.onnx 1 --dim batch=500 --threads 1 --records r.db").output,
              HasSubstr("r.db has nothing better"));
}

TEST_F(HoneExplain, RefusesTasksAndSpacesThatAreNot) {
  write_dense();
  expect_refusal(hone("explain dense.onnx 2 --dim batch=5 --records none"), {"'2'", "only: 1 (MatMul+Relu)"});
  expect_refusal(hone("explain dense.onnx Conv --dim batch=5 --records none"), {"'Conv'", "1 (MatMul+Relu)"});
  expect_refusal(hone("explain dense.onnx 1 --space outer"), {"'outer'", "auto", "mapping", "sketch", "template"});
  expect_refusal(hone("explain dense.onnx 1 --samples 0"), {"--samples", "1.."});
}

}  // namespace
}  // namespace hone::command
