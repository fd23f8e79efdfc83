#include "sections.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

#include "../describe.h"
#include "charts.h"

namespace hone::command {
namespace {

constexpr const char* kUnknown = "–";

std::string date_text(std::int64_t ms) {
  const std::time_t seconds = ms / 1000;
  std::tm local = {};
  localtime_r(&seconds, &local);
  return fmt::format("{:%Y-%m-%d %H:%M}", local);
}

void write_fact(HtmlWriter& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  const auto pair = html.open("div");
  html.leaf("dt", name);
  html.leaf("dd", value);
}

/// A number of the summary, with what it is above and what is to be said about it below.
void write_card(HtmlWriter& html, std::string_view name, std::string_view number,
                const std::vector<std::string>& notes) {
  const auto card = html.open("div", {{"class", "card"}});
  html.leaf("div", {{"class", "card-name"}}, name);
  html.leaf("div", {{"class", "card-number"}}, number);
  for (const std::string& note : notes) html.leaf("div", {{"class", "card-note"}}, note);
}

/// Microseconds, as many digits after the point as make four in all.
std::string microseconds(double ns) {
  const double us = ns * 1e-3;
  return fmt::format("{:.{}f}", us, us >= 1000 ? 0 : us >= 100 ? 1 : us >= 10 ? 2 : 3);
}

/// A cell that is sorted by its number; what is not known comes last.
void write_number(HtmlWriter& html, double number, const std::string& text, const char* kind = "number") {
  html.leaf("td", {{"class", kind}, {"data-value", std::isfinite(number) ? fmt::format("{:g}", number) : ""}},
            std::isfinite(number) ? text : kUnknown);
}

/// A cell with a bar as long as so many percent.
void write_percent(HtmlWriter& html, double percent, bool is_known) {
  const auto cell =
      html.open("td", {{"class", "number meter"}, {"data-value", is_known ? fmt::format("{:g}", percent) : ""}});
  if (!is_known) return html.text(kUnknown);
  html.leaf("i", {{"style", fmt::format("width:{:.1f}%", std::clamp(percent, 0.0, 100.0))}});
  html.leaf("span", fmt::format("{:.{}f} %", percent, percent < 9.95 ? 1 : 0));
}

void write_row(HtmlWriter& html, const Report& report, std::size_t index) {
  const ReportTask& task = report.tasks[index];
  const double infinity = std::numeric_limits<double>::infinity();
  const auto row = html.open("tr");
  write_number(html, static_cast<double>(index + 1), fmt::format("{}", index + 1));
  {
    const auto cell = html.open("td", {{"class", "task"}, {"data-value", task.name}});
    html.leaf("a", {{"href", fmt::format("#task-{}", index + 1)}}, task.name);
    html.leaf("span", {{"class", "shapes"}, {"title", shapes_label(task.shapes)}}, shapes_label(task.shapes));
  }
  write_number(html, static_cast<double>(task.uses), fmt::format("{}", task.uses));
  write_percent(html, share_of(report, task), task.is_timed());
  write_number(html, task.default_ns, microseconds(task.default_ns));
  write_number(html, task.chosen_ns, microseconds(task.chosen_ns));
  constexpr double kWorthMentioning = 1.05;
  write_number(html, task.is_timed() ? task.speedup() : infinity,
               task.is_timed() ? fmt::format("{:.2f}×", task.speedup()) : "",
               task.is_timed() && task.speedup() >= kWorthMentioning ? "number good" : "number");
  write_number(html, task.gflops() > 0 ? task.gflops() : infinity, fmt::format("{:.1f}", task.gflops()));
  write_percent(html, task.gflops() / report.peak_gflops * 100, task.gflops() > 0 && report.peak_gflops > 0);
  {
    const auto cell = html.open("td", {{"data-value", std::string(to_string(task.origin))}});
    html.leaf("span", {{"class", fmt::format("badge {}", to_string(task.origin))}}, to_string(task.origin));
  }
  write_number(html, static_cast<double>(task.trials), fmt::format("{}", task.trials));
  write_number(html, static_cast<double>(task.failed()), fmt::format("{}", task.failed()),
               task.failed() > 0 ? "number bad" : "number");
}

/// {"space":"mapping","sketch":"direct","decisions":{"tile":[6,4]}} for people: "mapping · direct · tile 6,4".
std::string candidate_label(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return text;
  std::vector<std::string> parts;
  for (const char* name : {"space", "sketch"})
    if (json.contains(name) && json[name].is_string()) parts.push_back(json[name].get<std::string>());
  const nlohmann::json decisions = json.value("decisions", nlohmann::json::object());
  for (const auto& [knob, decision] : decisions.items()) {
    std::vector<std::string> numbers;
    for (const auto& number : decision) numbers.push_back(number.dump());
    parts.push_back(fmt::format("{} {}", knob, fmt::join(numbers, ",")));
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

/// A line for each step; those that the other kernel does not have are marked, if that tells anything.
void write_steps(HtmlWriter& html, const std::vector<std::string>& steps, const std::vector<std::string>& others) {
  const std::set<std::string> known(others.begin(), others.end());
  const auto shared = std::count_if(steps.begin(), steps.end(), [&](const auto& step) { return known.contains(step); });
  const bool is_marked = shared * 3 >= static_cast<std::ptrdiff_t>(steps.size());
  const auto block = html.open("pre", {{"class", "steps"}});
  for (const std::string& step : steps)
    html.leaf("span", {{"class", is_marked && !known.contains(step) ? "other" : "same"}}, step);
  if (steps.empty()) html.text("no steps: the naive program as it is");
}

/// Shows one thing of both kernels side by side; only once if they are one.
template <typename Write>
void write_pair(HtmlWriter& html, const ReportTask& task, Write write) {
  const bool is_same = task.default_text.candidate == task.chosen_text.candidate;
  const auto pair = html.open("div", {{"class", is_same ? "pair one" : "pair"}});
  {
    const auto side = html.open("figure");
    html.leaf("figcaption", is_same ? "default, and in use" : "default");
    write(task.default_text, task.chosen_text);
  }
  if (is_same) return;
  const auto side = html.open("figure");
  html.leaf("figcaption", {{"class", std::string(to_string(task.origin))}},
            fmt::format("in use: {}", to_string(task.origin)));
  write(task.chosen_text, task.default_text);
}

void write_failures(HtmlWriter& html, const ReportTask& task) {
  if (task.failures.empty()) return;
  html.leaf("h4", "Failed trials");
  const auto list = html.open("ul", {{"class", "failures"}});
  for (const ReportFailure& failure : task.failures) {
    const auto item = html.open("li");
    html.leaf("b", fmt::format("{} {}", failure.count, failure.reason));
    if (!failure.message.empty()) html.text(", such as: " + failure.message);
  }
}

}  // namespace

void write_header(HtmlWriter& html, const Report& report) {
  const auto header = html.open("header");
  html.leaf("p", {{"class", "brand"}}, "hone report");
  html.leaf("h1", report.model);
  const auto facts = html.open("dl", {{"class", "facts"}});
  write_fact(html, "machine", report.machine);
  write_fact(html, "threads", fmt::format("{}", report.threads));
  write_fact(html, "made", date_text(report.made_ms));
  write_fact(html, "version", report.version);
  write_fact(html, "records", report.records_file.empty() ? "none" : report.records_file);
  write_fact(html, "target", report.target);
}

void write_notes(HtmlWriter& html, const Report& report) {
  const auto note = [&](const char* kind, const std::string& text) { html.leaf("p", {{"class", kind}}, text); };
  if (report.tasks.empty()) note("note", "This model has no kernels: nothing can be tuned.");
  if (!report.tasks.empty() && report.trials() == 0)
    note("note", fmt::format("There are no records of these tasks for this target: kernels are chosen by rules, or by "
                             "what was found for other shapes, and their times are {}. “hone tune MODEL” looks for "
                             "faster ones.",
                             report.is_measured ? "those of now" : "not known (“hone report --measure” times them)"));
  for (const auto& [target, trials] : report.other_targets)
    if (report.trials() == 0) note("note", fmt::format("There are {} trials for the target {}.", trials, target));
  if (const std::size_t timed = report.timed_tasks(); timed > 0 && timed < report.tasks.size())
    note("note", fmt::format("{} of {} tasks have no times in the records; sums and shares are those of the others. "
                             "“hone report --measure” times them all.",
                             report.tasks.size() - timed, report.tasks.size()));
}

void write_summary(HtmlWriter& html, const Report& report) {
  const auto cards = html.open("section", {{"class", "cards"}});
  std::int64_t calls = 0;
  std::map<Origin, std::int64_t> origins;
  for (const ReportTask& task : report.tasks) {
    calls += task.uses;
    ++origins[task.origin];
  }
  if (report.timed_tasks() > 0) {
    const auto card = html.open("div", {{"class", "card hero"}});
    html.leaf("div", {{"class", "card-name"}}, "time of all kernels in a run");
    {
      const auto number = html.open("div", {{"class", "card-number"}});
      html.leaf("span", {{"class", "muted"}}, duration_text(report.default_ns()));
      html.leaf("span", {{"class", "arrow"}}, " → ");
      html.leaf("span", duration_text(report.chosen_ns()));
    }
    html.leaf("div", {{"class", "card-note"}},
              fmt::format("{:.2f}× as fast as the default, {}", report.default_ns() / report.chosen_ns(),
                          report.is_measured ? "measured for this report" : "by the times in the records"));
  } else {
    write_card(html, "time of all kernels in a run", kUnknown, {"nothing was timed"});
  }
  std::vector<std::string> schedules;
  for (const auto& [origin, count] : origins) schedules.push_back(fmt::format("{} {}", count, to_string(origin)));
  write_card(html, "tasks", fmt::format("{}", report.tasks.size()),
             {fmt::format("{} kernel calls in a run", calls), fmt::format("{}", fmt::join(schedules, ", "))});
  std::vector<std::string> failures;
  for (const auto& [reason, count] : report.failures()) failures.push_back(fmt::format("{} {}", count, reason));
  write_card(html, "trials", fmt::format("{}", report.trials()),
             {failures.empty() ? "none failed" : fmt::format("failed: {}", fmt::join(failures, ", "))});
  if (report.trials() > 0)
    write_card(html, "tuning", clock_text(report.tuning_s),
               {fmt::format("{} to {}", date_text(report.first_ms), date_text(report.last_ms)), "pauses left out"});
  if (report.peak_gflops > 0) {
    std::vector<std::string> bandwidths;
    for (const ReportBandwidth& one : report.bandwidths)
      bandwidths.push_back(fmt::format("{} {:.0f} GB/s", one.memory, one.gbytes));
    write_card(html, "peak of the machine", fmt::format("{:.0f} GFLOP/s", report.peak_gflops),
               {fmt::format("{}", fmt::join(bandwidths, ", ")), "measured for this report"});
  }
}

void write_table(HtmlWriter& html, const Report& report) {
  if (report.tasks.empty()) return;
  struct Column {
    const char *name, *help;
  };
  constexpr Column columns[] = {
      {"#", "by the time that the default takes in a run"},
      {"task", "its operators, and the shapes of its parameters"},
      {"calls", "in one run of the model"},
      {"share", "of the time of all kernels by the default"},
      {"default µs", "a call of the kernel that rules choose"},
      {"now µs", "a call of the kernel that is compiled now"},
      {"speed-up", "default by now"},
      {"GFLOP/s", "operations of the direct algorithm, by the time now"},
      {"of peak", "GFLOP/s by the multiply-add peak of the machine"},
      {"schedule", "tuned for this task, for a compatible or the nearest shape, predicted, or the default"},
      {"trials", "candidates that were measured"},
      {"failed", "of them"},
  };
  const auto section = html.open("section");
  html.leaf("h2", "Tasks");
  const auto scroll = html.open("div", {{"class", "scroll"}});
  const auto table = html.open("table", {{"class", "tasks"}});
  {
    const auto head = html.open("thead");
    const auto row = html.open("tr");
    for (const Column& column : columns) html.leaf("th", {{"scope", "col"}, {"title", column.help}}, column.name);
  }
  const auto body = html.open("tbody");
  for (std::size_t i = 0; i < report.tasks.size(); ++i) write_row(html, report, i);
}

void write_task(HtmlWriter& html, const Report& report, std::size_t index) {
  const ReportTask& task = report.tasks[index];
  const auto details = html.open("details", {{"class", "task"}, {"id", fmt::format("task-{}", index + 1)}});
  {
    const auto summary = html.open("summary");
    html.leaf("span", {{"class", "task-number"}}, fmt::format("{}", index + 1));
    html.leaf("b", task.name);
    html.leaf("span", {{"class", "shapes"}}, shapes_label(task.shapes));
    html.leaf("span", {{"class", fmt::format("badge {}", to_string(task.origin))}}, to_string(task.origin));
    if (task.is_timed())
      html.leaf("span", {{"class", "times"}},
                fmt::format("{} → {}", duration_text(task.default_ns), duration_text(task.chosen_ns)));
  }
  {
    const auto facts = html.open("dl", {{"class", "facts"}});
    write_fact(html, "work", fmt::format("{}FLOP a call", count_text(task.flops)));
    write_fact(html, "parameters", bytes_text(task.bytes));
    write_fact(html, "intensity", fmt::format("{:.2f} FLOP/byte", task.intensity()));
    write_fact(html, "trials", fmt::format("{}, {} failed", task.trials, task.failed()));
    write_fact(html, "tuned for", shapes_label(task.near_shapes));
    if (task.is_decided_in_model) write_fact(html, "decided", "within the running model");
    write_fact(html, "key", task.key);
  }
  write_failures(html, task);
  html.leaf("h4", "Schedule");
  write_pair(html, task, [&](const KernelText& text, const KernelText& other) {
    html.leaf("p", {{"class", "candidate"}}, candidate_label(text.candidate));
    write_steps(html, text.steps, other.steps);
  });
  for (const auto& [title, member] :
       {std::pair{"Program", &KernelText::program}, std::pair{"Assembly", &KernelText::assembly}}) {
    const auto more = html.open("details");
    html.leaf("summary", title);
    write_pair(html, task,
               [&, part = member](const KernelText& text, const KernelText&) { html.leaf("pre", text.*part); });
  }
}

}  // namespace hone::command
