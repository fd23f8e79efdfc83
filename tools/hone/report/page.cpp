#include "page.h"

#include <algorithm>
#include <fmt/format.h>

#include "charts.h"
#include "sections.h"

namespace hone::command {
namespace {

constexpr const char* kStyle =
#include "page.css.inc"
    ;
constexpr const char* kScript =
#include "page.js.inc"
    ;

void write_time_section(HtmlWriter& html, const Report& report) {
  if (report.timed_tasks() == 0) return;
  const auto section = html.open("section");
  html.leaf("h2", "Where the time goes");
  write_time_bars(html, report);
}

void write_roofline_section(HtmlWriter& html, const Report& report) {
  const auto has_speed = [](const ReportTask& task) { return task.gflops() > 0 && task.intensity() > 0; };
  if (std::none_of(report.tasks.begin(), report.tasks.end(), has_speed)) return;
  const auto section = html.open("section");
  html.leaf("h2", "Roofline");
  {
    const auto legend = html.open("p", {{"class", "legend"}});
    html.leaf("span", {{"class", "key tuned"}}, "tuned");
    html.leaf("span", {{"class", "key nearest"}}, "compatible or nearest");
    html.leaf("span", {{"class", "key default"}}, "predicted or default");
    html.leaf("span", {{"class", "key before"}}, "before tuning");
    html.leaf("span", {{"class", "muted"}}, "size: share of the time");
  }
  {
    const auto scroll = html.open("div", {{"class", "scroll"}});
    write_roofline(html, report);
  }
  html.leaf(
      "p", {{"class", "muted"}},
      "FLOPs are those of the direct algorithm, bytes those of all parameters, each read or written once. Kernels "
      "are timed with warm caches, so that they may be faster than memory is; Winograd's algorithm computes with "
      "fewer operations than are counted, and may be above the peak.");
}

void write_tuning_section(HtmlWriter& html, const Report& report) {
  if (report.trials() == 0) return;
  const auto section = html.open("section", {{"class", "tuning"}});
  html.leaf("h2", "Tuning");
  html.single("input", {{"type", "radio"}, {"name", "along"}, {"id", "along-trials"}, {"checked", ""}});
  html.single("input", {{"type", "radio"}, {"name", "along"}, {"id", "along-time"}});
  {
    const auto legend = html.open("p", {{"class", "legend"}});
    {
      const auto choice = html.open("span", {{"class", "choice"}});
      html.leaf("label", {{"for", "along-trials"}}, "by trials");
      html.leaf("label", {{"for", "along-time"}}, "by time");
    }
    html.leaf("span", {{"class", "key line best"}}, "best so far");
    html.leaf("span", {{"class", "key line default"}}, "default");
    html.leaf("span", {{"class", "key dots"}}, "trials");
    html.leaf("span", {{"class", "key failed"}}, "failed");
    html.leaf("span", {{"class", "key adopted"}}, "adopted after a comparison");
  }
  if (!report.curve.empty()) {
    html.leaf("h3", "All kernels");
    const auto scroll = html.open("div", {{"class", "scroll"}});
    for (const Along along : {Along::Trials, Along::Time}) write_model_curve(html, report, along);
  }
  html.leaf("h3", "Each task");
  const auto grid = html.open("div", {{"class", "curves"}});
  for (std::size_t i = 0; i < report.tasks.size(); ++i) {
    const ReportTask& task = report.tasks[i];
    if (task.history.empty()) continue;
    const auto figure = html.open("figure");
    {
      const auto caption = html.open("figcaption");
      html.leaf("a", {{"href", fmt::format("#task-{}", i + 1)}}, task_label(task, i + 1));
      html.leaf("span", {{"class", "muted"}}, task.is_timed() ? fmt::format("{:.2f}×", task.speedup()) : "");
    }
    for (const Along along : {Along::Trials, Along::Time}) write_task_curve(html, task, i + 1, along);
  }
}

void write_kernels_section(HtmlWriter& html, const Report& report) {
  if (report.tasks.empty()) return;
  const auto section = html.open("section", {{"class", "kernels"}});
  html.leaf("h2", "Kernels");
  html.leaf("p", {{"class", "muted"}},
            "The schedule, the program and the machine code of each task, as it is compiled now and by default. Long "
            "texts are cut, and say so.");
  for (std::size_t i = 0; i < report.tasks.size(); ++i) write_task(html, report, i);
}

}  // namespace

std::string report_page(const Report& report) {
  HtmlWriter html;
  html.raw("<!DOCTYPE html>\n");
  {
    const auto document = html.open("html", {{"lang", "en"}});
    {
      const auto head = html.open("head");
      html.single("meta", {{"charset", "utf-8"}});
      html.single("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
      html.single("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
      html.leaf("title", "hone report: " + report.model);
      const auto style = html.open("style");
      html.raw(kStyle);
    }
    const auto body = html.open("body");
    {
      const auto main = html.open("main");
      write_header(html, report);
      write_notes(html, report);
      write_summary(html, report);
      write_time_section(html, report);
      write_table(html, report);
      write_roofline_section(html, report);
      write_tuning_section(html, report);
      write_kernels_section(html, report);
    }
    const auto script = html.open("script");
    html.raw(kScript);
  }
  return html.document();
}

}  // namespace hone::command
