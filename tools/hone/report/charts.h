/// The charts of a report, in SVG that needs no script.
#pragma once

#include "html.h"
#include "scale.h"

#include "hone/report.h"

namespace hone::command {

/// What the horizontal axis of a tuning curve is.
enum class Along { Trials, Time };

/// Where a chart's axes stand in its picture.
struct Frame {
  Scale x, y;

  double left() const { return x.from; }
  double right() const { return x.to; }
  double top() const { return y.to; }
  double bottom() const { return y.from; }
};

/// A number of the page, with one digit after the point.
std::string place(double value);
/// "3 Conv+Relu": how a task is called everywhere in the report. Numbers begin with 1.
std::string task_label(const ReportTask& task, std::size_t number);
/// "1×16×55×55 · 64×16×1×1": the shapes of the parameters.
std::string shapes_label(const std::vector<std::vector<std::int64_t>>& shapes);
/// Of a run of the model, in percent of all kernels by the default; nothing is known: 0.
double share_of(const Report& report, const ReportTask& task);

/// Grid lines and their numbers: those of the x axis below, those of the y axis to the left.
void write_grid(HtmlWriter& html, const Frame& frame, const std::vector<std::pair<double, std::string>>& x_ticks,
                const std::vector<std::pair<double, std::string>>& y_ticks);

/// What all kernels took together as tuning went on.
void write_model_curve(HtmlWriter& html, const Report& report, Along along);
/// The trials of a task: each one, the best so far, the default, and what was adopted.
void write_task_curve(HtmlWriter& html, const ReportTask& task, std::size_t number, Along along);
/// Tasks by intensity and speed, below the ceilings of the machine.
void write_roofline(HtmlWriter& html, const Report& report);
/// Which tasks the time of a run goes to, before and now.
void write_time_bars(HtmlWriter& html, const Report& report);

}  // namespace hone::command
