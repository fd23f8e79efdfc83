// The roofline: how fast each task runs, and what the machine would allow.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "charts.h"

namespace hone::command {
namespace {

constexpr double kWidth = 960, kHeight = 460;

/// A task that can be shown: its time is known, and it computes something.
struct Dot {
  std::size_t number;
  const ReportTask* task;
  double intensity, gflops;
};

std::vector<Dot> dots_of(const Report& report) {
  std::vector<Dot> dots;
  for (std::size_t i = 0; i < report.tasks.size(); ++i)
    if (const ReportTask& task = report.tasks[i]; task.gflops() > 0 && task.intensity() > 0)
      dots.push_back({i + 1, &task, task.intensity(), task.gflops()});
  return dots;
}

Frame frame_of(const Report& report, const std::vector<Dot>& dots) {
  double left = 0.25, right = 64, low = 1, high = std::max(10.0, report.peak_gflops);
  if (!dots.empty()) {
    left = right = dots[0].intensity;
    low = dots[0].gflops;
  }
  for (const Dot& dot : dots) {
    left = std::min(left, dot.intensity);
    right = std::max(right, dot.intensity);
    low = std::min({low, dot.gflops, dot.task->is_timed() ? dot.task->flops / dot.task->default_ns : dot.gflops});
    high = std::max(high, dot.gflops);
  }
  // The ceilings are to be seen meeting.
  if (report.peak_gflops > 0)
    for (const ReportBandwidth& bandwidth : report.bandwidths) {
      left = std::min(left, report.peak_gflops / bandwidth.gbytes / 2);
      right = std::max(right, report.peak_gflops / bandwidth.gbytes * 2);
    }
  return {make_scale(left / 1.5, right * 1.5, 56, kWidth - 20, /*is_log=*/true),
          make_scale(low / 2, high * 1.6, kHeight - 40, 14, /*is_log=*/true)};
}

/// A line that no task can be above, and how it is called.
struct Ceiling {
  double x1, y1, x2, y2;
  std::string name;
  bool is_roof;
};

std::vector<Ceiling> ceilings_of(const Report& report, const Frame& frame) {
  std::vector<Ceiling> ceilings;
  if (report.peak_gflops <= 0) return ceilings;
  const double peak = report.peak_gflops, y = frame.y.at(peak);
  double corner = frame.x.high;  // where the first of the slopes meets the roof
  for (const ReportBandwidth& bandwidth : report.bandwidths) {
    const double meets = peak / bandwidth.gbytes;
    corner = std::min(corner, meets);
    const double begin = std::max(frame.x.low, frame.y.low / bandwidth.gbytes), end = std::min(meets, frame.x.high);
    if (begin >= end) continue;
    ceilings.push_back({frame.x.at(begin), frame.y.at(begin * bandwidth.gbytes), frame.x.at(end),
                        frame.y.at(end * bandwidth.gbytes),
                        fmt::format("{} {} GB/s", bandwidth.memory, tick_text(std::round(bandwidth.gbytes))), false});
  }
  ceilings.push_back({frame.x.at(std::max(corner, frame.x.low)), y, frame.right(), y,
                      fmt::format("multiply-add peak {} GFLOP/s", tick_text(std::round(peak))), true});
  return ceilings;
}

void write_ceiling_name(HtmlWriter& html, const Ceiling& line) {
  constexpr double kAbove = 5, kAlong = 0.08;
  if (line.is_roof)
    return html.leaf(
        "text",
        {{"class", "ceiling-name"}, {"x", place(line.x2 - 4)}, {"y", place(line.y2 - kAbove)}, {"text-anchor", "end"}},
        line.name);
  const double turn = std::atan2(line.y2 - line.y1, line.x2 - line.x1) * 180 / std::numbers::pi;
  html.leaf("text",
            {{"class", "ceiling-name"},
             {"transform", fmt::format("translate({} {}) rotate({})", place(line.x1 + (line.x2 - line.x1) * kAlong),
                                       place(line.y1 + (line.y2 - line.y1) * kAlong - kAbove), place(turn))}},
            line.name);
}

double radius_of(const Report& report, const ReportTask& task) {
  return std::clamp(3.5 + 2.2 * std::sqrt(share_of(report, task)), 4.0, 16.0);
}

void write_dot(HtmlWriter& html, const Report& report, const Frame& frame, const Dot& dot) {
  const ReportTask& task = *dot.task;
  const double x = frame.x.at(dot.intensity), y = frame.y.at(dot.gflops);
  const auto link = html.open(
      "a", {{"href", fmt::format("#task-{}", dot.number)}, {"class", fmt::format("dot {}", to_string(task.origin))}});
  const std::string of_peak =
      report.peak_gflops > 0 ? fmt::format(" ({:.0f} % of peak)", dot.gflops / report.peak_gflops * 100) : "";
  html.leaf("title", fmt::format("{}\n{:.1f} GFLOP/s{} at {:.2f} FLOP/byte\n{} a call, {:.1f} % of the time",
                                 task_label(task, dot.number), dot.gflops, of_peak, dot.intensity,
                                 duration_text(task.chosen_ns), share_of(report, task)));
  if (task.is_timed() && task.speedup() > 1.02) {
    const double before = frame.y.at(task.flops / task.default_ns);
    html.leaf("line", {{"x1", place(x)}, {"x2", place(x)}, {"y1", place(before)}, {"y2", place(y)}});
    html.leaf("circle", {{"class", "before"}, {"cx", place(x)}, {"cy", place(before)}, {"r", "3"}});
  }
  html.leaf("circle", {{"cx", place(x)}, {"cy", place(y)}, {"r", place(radius_of(report, task))}});
}

}  // namespace

void write_roofline(HtmlWriter& html, const Report& report) {
  constexpr std::size_t kNamed = 12;  // more would hide each other
  const std::vector<Dot> dots = dots_of(report);
  const Frame frame = frame_of(report, dots);
  const auto svg = html.open("svg", {{"class", "roofline"},
                                     {"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
                                     {"role", "img"},
                                     {"aria-label", "roofline of the tasks"}});
  std::vector<std::pair<double, std::string>> x_ticks, y_ticks;
  for (const double tick : ticks_of(frame.x, 8)) x_ticks.emplace_back(tick, tick_text(tick));
  for (const double tick : ticks_of(frame.y, 6)) y_ticks.emplace_back(tick, tick_text(tick));
  write_grid(html, frame, x_ticks, y_ticks);
  html.leaf("text", {{"class", "axis"}, {"x", place(frame.right())}, {"y", place(kHeight - 8)}, {"text-anchor", "end"}},
            "FLOP per byte of the task's parameters");
  html.leaf("text", {{"class", "axis"}, {"x", place(frame.left() + 6)}, {"y", place(frame.top() + 8)}}, "GFLOP/s");
  const std::vector<Ceiling> ceilings = ceilings_of(report, frame);
  for (const Ceiling& line : ceilings)
    html.leaf("line", {{"class", "ceiling"},
                       {"x1", place(line.x1)},
                       {"y1", place(line.y1)},
                       {"x2", place(line.x2)},
                       {"y2", place(line.y2)}});
  for (auto dot = dots.rbegin(); dot != dots.rend(); ++dot) write_dot(html, report, frame, *dot);
  for (std::size_t i = 0; i < std::min(kNamed, dots.size()); ++i) {
    const double radius = radius_of(report, *dots[i].task);
    const bool is_inside = radius >= 8;
    html.leaf("text",
              {{"class", is_inside ? "dot-name inside" : "dot-name"},
               {"x", place(frame.x.at(dots[i].intensity) + (is_inside ? 0 : radius + 2))},
               {"y", place(frame.y.at(dots[i].gflops) + 3.5)}},
              fmt::format("{}", dots[i].number));
  }
  for (const Ceiling& line : ceilings) write_ceiling_name(html, line);
}

}  // namespace hone::command
