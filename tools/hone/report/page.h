/// The page that `hone report` writes: one HTML file that needs nothing else, not even a script.
#pragma once

#include <string>

#include "hone/report.h"

namespace hone::command {

/// A report as a page. Without scripts it is complete; with them its table can be sorted, and links open what they
/// point at.
std::string report_page(const Report& report);

}  // namespace hone::command
