#include "chrome_trace.h"

#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels.h"

namespace hone::command {
namespace {

using nlohmann::ordered_json;

/// An event with a duration; times are in microseconds.
ordered_json event(const std::string& name, const char* category, std::int64_t begin_ns, std::int64_t end_ns) {
  return {{"name", name},
          {"cat", category},
          {"ph", "X"},
          {"ts", static_cast<double>(begin_ns) * 1e-3},
          {"dur", static_cast<double>(end_ns - begin_ns) * 1e-3},
          {"pid", 1},
          {"tid", 1}};
}

}  // namespace

Result<void> write_chrome_trace(const std::filesystem::path& file, std::span<const runtime::Profile> runs) {
  ordered_json events = ordered_json::array();
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "hone"}}}});
  std::int64_t start = 0;
  if (!runs.empty() && !runs.front().entries.empty()) start = runs.front().entries.front().time.begin_ns;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto& entries = runs[run].entries;
    if (entries.empty()) continue;
    const auto infos = describe_steps(runs[run].plans);
    events.push_back(event(fmt::format("run {}", run + 1), "run", entries.front().time.begin_ns - start,
                           entries.back().time.end_ns - start));
    for (const runtime::Profile::Entry& entry : entries) {
      const StepInfo& info = infos.at(entry.step);
      events.push_back(event(entry.step->name, info.kernel == "host" ? "host" : "kernel", entry.time.begin_ns - start,
                             entry.time.end_ns - start));
      events.back()["args"] = {{"kernel", info.kernel},
                               {"node", entry.step->node},
                               {"output", info.output},
                               {"flops", entry.step->flops},
                               {"bytes", entry.step->bytes}};
    }
  }
  std::ofstream out(file);
  // Names from models may be any bytes; those that are no UTF-8 are replaced.
  out << ordered_json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}.dump(
             -1, ' ', false, ordered_json::error_handler_t::replace)
      << '\n';
  out.close();
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}': {}", file.string(), std::strerror(errno));
  return {};
}

}  // namespace hone::command
