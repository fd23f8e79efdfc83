#include "charts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::command {

std::string place(double value) { return fmt::format("{:.1f}", value); }

std::string task_label(const ReportTask& task, std::size_t number) { return fmt::format("{} {}", number, task.name); }

std::string shapes_label(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<std::string> texts;
  for (const std::vector<std::int64_t>& shape : shapes)
    texts.push_back(shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "×")));
  return fmt::format("{}", fmt::join(texts, " · "));
}

double share_of(const Report& report, const ReportTask& task) {
  const double all = report.default_ns();
  return task.is_timed() && all > 0 ? task.default_ns * static_cast<double>(task.uses) / all * 100 : 0;
}

void write_grid(HtmlWriter& html, const Frame& frame, const std::vector<std::pair<double, std::string>>& x_ticks,
                const std::vector<std::pair<double, std::string>>& y_ticks) {
  constexpr double kBelow = 15, kBeside = 6, kBaseline = 3.5;
  const auto group = html.open("g", {{"class", "grid"}});
  for (const auto& [value, label] : x_ticks) {
    const std::string x = place(frame.x.at(value));
    html.leaf("line", {{"x1", x}, {"x2", x}, {"y1", place(frame.bottom())}, {"y2", place(frame.top())}});
    html.leaf("text", {{"x", x}, {"y", place(frame.bottom() + kBelow)}, {"text-anchor", "middle"}}, label);
  }
  for (const auto& [value, label] : y_ticks) {
    const double y = frame.y.at(value);
    html.leaf("line", {{"x1", place(frame.left())}, {"x2", place(frame.right())}, {"y1", place(y)}, {"y2", place(y)}});
    html.leaf("text", {{"x", place(frame.left() - kBeside)}, {"y", place(y + kBaseline)}, {"text-anchor", "end"}},
              label);
  }
}

void write_time_bars(HtmlWriter& html, const Report& report) {
  constexpr std::size_t kColours = 8;  // the others are grey
  constexpr double kSmallest = 1;      // percent: thinner ones are one segment together
  constexpr double kNamed = 2.2;       // percent of the longer bar: there is room for a number
  const double all = std::max(report.default_ns(), report.chosen_ns());
  const auto bars = html.open("div", {{"class", "bars"}});
  for (const bool is_default : {true, false}) {
    const double total = is_default ? report.default_ns() : report.chosen_ns();
    html.leaf("div", {{"class", "bar-name"}}, is_default ? "default" : "now");
    const auto track = html.open("div", {{"class", "bar-track"}});
    {
      const auto bar = html.open("div", {{"class", "bar"}, {"style", fmt::format("width:{:.2f}%", total / all * 88)}});
      double rest = 0;
      for (std::size_t i = 0; i < report.tasks.size(); ++i) {
        const ReportTask& task = report.tasks[i];
        if (!task.is_timed()) continue;
        const double ns = (is_default ? task.default_ns : task.chosen_ns) * static_cast<double>(task.uses);
        const double percent = ns / total * 100;
        if (percent < kSmallest) {
          rest += percent;
          continue;
        }
        html.leaf("a",
                  {{"class", i < kColours ? fmt::format("c{}", i) : "c-other"},
                   {"href", fmt::format("#task-{}", i + 1)},
                   {"style", fmt::format("flex-grow:{:.2f}", percent)},
                   {"title", fmt::format("{}: {} in {} calls, {:.1f} %", task_label(task, i + 1), duration_text(ns),
                                         task.uses, percent)}},
                  ns / all * 100 > kNamed ? fmt::format("{}", i + 1) : "");
      }
      if (rest > 0)
        html.leaf("span", {{"class", "c-other"},
                           {"style", fmt::format("flex-grow:{:.2f}", rest)},
                           {"title", fmt::format("all others: {:.1f} %", rest)}});
    }
    html.leaf("div", {{"class", "bar-total"}}, duration_text(total));
  }
}

}  // namespace hone::command
