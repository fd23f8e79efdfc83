/// Writes profiles as traces that Chrome (chrome://tracing) and Perfetto show.
#pragma once

#include <filesystem>
#include <span>

#include "hone/runtime/plan.h"

namespace hone::command {

/// Writes runs one after the other: an event per run, and below it one per step, with its kernel, work and output.
Result<void> write_chrome_trace(const std::filesystem::path& file, std::span<const runtime::Profile> runs);

}  // namespace hone::command
