// Tuning curves.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "charts.h"

namespace hone::command {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A trial at its place along the axis.
struct Point {
  double x, ns;
  bool is_adopted;
};

std::vector<Point> points_of(const ReportTask& task, Along along) {
  std::vector<Point> points;
  double trials = 0;
  for (const ReportTrial& trial : task.history) {
    if (!trial.is_adopted) ++trials;
    points.push_back({along == Along::Trials ? trials : trial.seconds, trial.ns, trial.is_adopted});
  }
  return points;
}

std::vector<std::pair<double, std::string>> x_ticks(const Scale& scale, int count, Along along) {
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick : ticks_of(scale, count))
    ticks.emplace_back(tick, along == Along::Trials ? tick_text(tick) : clock_text(tick));
  return ticks;
}

std::vector<std::pair<double, std::string>> duration_ticks(const Scale& scale, int count) {
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick : ticks_of(scale, count))
    ticks.emplace_back(tick, tick == 0 ? "0" : round_duration_text(tick));
  return ticks;
}

/// A path that keeps its height until the next point.
std::string stairs(const Frame& frame, const std::vector<std::pair<double, double>>& points, double end) {
  std::string path;
  for (const auto& [x, y] : points)
    path += path.empty() ? fmt::format("M{} {}", place(frame.x.at(x)), place(frame.y.at(y)))
                         : fmt::format("H{}V{}", place(frame.x.at(x)), place(frame.y.at(y)));
  if (!path.empty()) path += fmt::format("H{}", place(frame.x.at(end)));
  return path;
}

void write_level(HtmlWriter& html, const Frame& frame, double ns, const char* kind) {
  if (!std::isfinite(ns) || !frame.y.holds(ns)) return;
  html.leaf("line", {{"class", kind},
                     {"x1", place(frame.left())},
                     {"x2", place(frame.right())},
                     {"y1", place(frame.y.at(ns))},
                     {"y2", place(frame.y.at(ns))}});
}

/// At most so many of them, evenly spread: a chart shows no more.
template <typename T>
std::vector<T> thinned(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

void write_trials(HtmlWriter& html, const Frame& frame, const std::vector<Point>& points) {
  constexpr std::size_t kMostDots = 250;
  std::vector<Point> ok, failed;
  for (const Point& point : points) {
    if (point.is_adopted) continue;
    if (!std::isfinite(point.ns))
      failed.push_back(point);
    else if (frame.y.holds(point.ns))
      ok.push_back(point);
  }
  std::string dots, crosses;
  // A line of no length with a round end is a dot, and one path holds them all.
  for (const Point& point : thinned(ok, kMostDots))
    dots += fmt::format("M{} {}h0", place(frame.x.at(point.x)), place(frame.y.at(point.ns)));
  for (const Point& point : thinned(failed, kMostDots))
    crosses += fmt::format("M{} {}v-6", place(frame.x.at(point.x)), place(frame.bottom()));
  if (!dots.empty()) html.leaf("path", {{"class", "trials"}, {"d", dots}});
  if (!crosses.empty()) html.leaf("path", {{"class", "failed"}, {"d", crosses}});
}

}  // namespace

void write_model_curve(HtmlWriter& html, const Report& report, Along along) {
  constexpr double kWidth = 960, kHeight = 250;
  std::vector<std::pair<double, double>> points;
  double highest = 0;
  for (const ReportPoint& point : report.curve) {
    points.emplace_back(along == Along::Trials ? static_cast<double>(point.trials) : point.seconds, point.ns);
    highest = std::max(highest, point.ns);
  }
  const double end = points.back().first;
  Frame frame{{0, std::max(end, 1e-3), 64, kWidth - 16}, make_scale(0, highest * 1.04, kHeight - 26, 12)};
  const auto svg = html.open("svg", {{"class", along == Along::Trials ? "curve by-trials" : "curve by-time"},
                                     {"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
                                     {"role", "img"},
                                     {"aria-label", "the time of all kernels as tuning went on"}});
  write_grid(html, frame, x_ticks(frame.x, 8, along), duration_ticks(frame.y, 5));
  const std::string line = stairs(frame, points, end);
  html.leaf("path", {{"class", "area"},
                     {"d", fmt::format("{}V{}H{}Z", line, place(frame.bottom()), place(frame.x.at(points[0].first)))}});
  write_level(html, frame, points.front().second, "default");
  html.leaf("path", {{"class", "best"}, {"d", line}});
  for (const auto& [x, ns] : thinned(points, 400)) {
    const auto dot = html.open(
        "circle", {{"class", "step"}, {"cx", place(frame.x.at(x))}, {"cy", place(frame.y.at(ns))}, {"r", "2.5"}});
    html.leaf("title", fmt::format("{} after {}", duration_text(ns),
                                   along == Along::Trials ? fmt::format("{} trials", x) : clock_text(x)));
  }
}

void write_task_curve(HtmlWriter& html, const ReportTask& task, std::size_t number, Along along) {
  constexpr double kWidth = 260, kHeight = 124;
  const std::vector<Point> points = points_of(task, along);
  std::vector<double> times;
  for (const Point& point : points)
    if (std::isfinite(point.ns)) times.push_back(point.ns);
  std::sort(times.begin(), times.end());
  // What is far slower than the rest would leave no room for the rest.
  constexpr double kShown = 0.9;
  double low = kInfinity, high = 0;
  const auto show = [&](double ns) {
    if (!std::isfinite(ns)) return;
    low = std::min(low, ns);
    high = std::max(high, ns);
  };
  if (!times.empty()) {
    show(times.front());
    show(times[static_cast<std::size_t>(static_cast<double>(times.size() - 1) * kShown)]);
  }
  if (task.is_timed()) {
    show(task.default_ns);
    show(task.chosen_ns);
  }
  const bool is_empty = high == 0;
  if (is_empty) low = high = 1;
  const double end = points.empty() ? 1 : std::max(points.back().x, 1e-3);
  const Frame frame{{0, end, 52, kWidth - 8}, make_scale(low / 1.1, high * 1.1, kHeight - 20, 6, /*is_log=*/true)};
  const auto svg = html.open("svg", {{"class", along == Along::Trials ? "curve by-trials" : "curve by-time"},
                                     {"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
                                     {"role", "img"},
                                     {"aria-label", "trials of task " + task_label(task, number)}});
  write_grid(html, frame, x_ticks(frame.x, 3, along),
             is_empty ? std::vector<std::pair<double, std::string>>() : duration_ticks(frame.y, 3));
  write_level(html, frame, task.default_ns, "default");
  write_trials(html, frame, points);
  std::vector<std::pair<double, double>> best;
  for (const Point& point : points)
    if (!point.is_adopted && std::isfinite(point.ns) && (best.empty() || point.ns < best.back().second))
      best.emplace_back(point.x, std::min(point.ns, frame.y.high));
  if (!best.empty()) html.leaf("path", {{"class", "best"}, {"d", stairs(frame, best, end)}});
  for (const Point& point : points)
    if (point.is_adopted && frame.y.holds(point.ns)) {
      const auto mark = html.open(
          "path",
          {{"class", "adopted"},
           {"d", fmt::format("M{} {}l4 4l-4 4l-4-4Z", place(frame.x.at(point.x)), place(frame.y.at(point.ns) - 4))}});
      html.leaf("title", fmt::format("adopted: {}", duration_text(point.ns)));
    }
}

}  // namespace hone::command
