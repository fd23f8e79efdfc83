/// The sections of a report, in the order in which the page shows them.
#pragma once

#include "html.h"

#include "hone/report.h"

namespace hone::command {

/// Which model, where, when.
void write_header(HtmlWriter& html, const Report& report);
/// What is missing for a full report, if anything is.
void write_notes(HtmlWriter& html, const Report& report);
/// The whole in a few numbers.
void write_summary(HtmlWriter& html, const Report& report);
/// A row for each task.
void write_table(HtmlWriter& html, const Report& report);
/// The kernels of a task, the present one beside the default.
void write_task(HtmlWriter& html, const Report& report, std::size_t index);

}  // namespace hone::command
