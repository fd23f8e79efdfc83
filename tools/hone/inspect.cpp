// hone inspect: shows a model, and what it is compiled to.
#include <CLI/App.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "command.h"
#include "describe.h"
#include "kernels.h"
#include "model.h"

namespace hone::command {
namespace {

void show_ports(std::string_view title, const std::vector<Port>& ports) {
  fmt::print("{}\n", title);
  for (const Port& port : ports) fmt::print("  {}: {}\n", port.name, describe(port));
}

/// What stands in the file.
void show_model(const Session& session) {
  for (const auto& [key, note] : session.metadata())
    if (key == "producer" || key == "graph") fmt::print("{} {}\n", key, note);
  show_ports("inputs", session.inputs());
  show_ports("outputs", session.outputs());
  const Contents& contents = session.contents();
  fmt::print("parameters {} ({})\n", count_text(static_cast<double>(contents.parameters)),
             bytes_text(static_cast<double>(contents.parameter_bytes)));
  std::vector<std::pair<std::string, std::int64_t>> operators(contents.operators.begin(), contents.operators.end());
  std::sort(operators.begin(), operators.end(),
            [](const auto& a, const auto& b) { return std::tie(b.second, a.first) < std::tie(a.second, b.first); });
  std::int64_t total = 0;
  for (const auto& [name, count] : operators) total += count;
  fmt::print("operators {}\n", total);
  Table table({});
  for (const auto& [name, count] : operators) table.add({fmt::format("  {}", count), name});
  fmt::print("{}", table.text());
}

/// What becomes of it for these inputs.
void show_plans(const Session& session, std::span<const Value> inputs, std::span<const runtime::Plan* const> plans) {
  fmt::print("compiled for {}\n", session.target());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    fmt::print("  {}: {}\n", session.inputs()[i].name, inputs[i].describe());
  const auto infos = describe_steps(plans);
  double flops = 0, bytes = 0;
  std::size_t arena = 0, unshared = 0, constants = 0;
  std::set<std::string> kernels;
  for (const runtime::Plan* plan : plans) {
    arena = std::max(arena, plan->arena_bytes());
    unshared += plan->unshared_bytes();
    constants += plan->constant_bytes();
    for (const runtime::Step& step : plan->parts().steps) {
      flops += step.flops;
      bytes += step.bytes;
      if (infos.at(&step).kernel != "host") kernels.insert(infos.at(&step).kernel);
    }
  }
  fmt::print("FLOPs {}, in kernels that read and write {}\n", count_text(flops), bytes_text(bytes));
  fmt::print("memory {} for intermediate results at their peak ({} if none shared memory), {} for constants\n",
             bytes_text(static_cast<double>(arena)), bytes_text(static_cast<double>(unshared)),
             bytes_text(static_cast<double>(constants)));
  fmt::print("steps {} of {} kernels\n", infos.size(), kernels.size());
  Table table({"step", "kernel", "schedule", "FLOPs", "bytes", "output", "operators (first node)"});
  std::size_t number = 0;
  for (std::size_t stage = 0; stage < plans.size(); ++stage) {
    if (stage > 0) table.add({"", "", "", "", "", "", "— shapes below depend on what was computed above —"});
    for (const runtime::Step& step : plans[stage]->parts().steps)
      table.add({fmt::format("{}", ++number), infos.at(&step).kernel, step.origin,
                 step.flops > 0 ? count_text(step.flops) : "", step.bytes > 0 ? bytes_text(step.bytes) : "",
                 infos.at(&step).output, step.node.empty() ? step.name : fmt::format("{} ({})", step.name, step.node)});
  }
  fmt::print("{}", table.text());
}

Result<void> inspect(const ModelOptions& options) {
  HONE_TRY(const Session session, load_model(options));
  HONE_TRY(const std::vector<Value> inputs, make_inputs(session, options, Missing::Random));
  show_model(session);  // before compiling, which may fail for want of better shapes
  HONE_TRY(const std::vector<const runtime::Plan*> plans, session.plans(inputs));
  show_plans(session, inputs, plans);
  return {};
}

}  // namespace

Action add_inspect(CLI::App& parser) {
  const auto options = std::make_shared<ModelOptions>();
  options->add_to(parser);
  return [options] { return inspect(*options); };
}

}  // namespace hone::command
