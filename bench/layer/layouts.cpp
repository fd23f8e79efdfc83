#include "layouts.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "runnable.h"

#include "hone/compile.h"
#include "hone/frontend/import.h"
#include "hone/graph/optimize.h"
#include "hone/measure/records/task_key.h"
#include "hone/runner.h"
#include "hone/tuned.h"

namespace hone::bench {
namespace {

using graph::ValueId;

/// The first stage of a model at its usual shapes: symbolic extents are 1, sequences 128.
graph::Stage first_stage(const std::string& file) {
  constexpr std::int64_t kSequence = 128;
  graph::Graph graph = value(frontend::import_onnx(file));
  const graph::Evaluate evaluate = folding_evaluator(std::make_shared<RunnerContext>(codegen::host_target()));
  graph.overridable.clear();
  graph = value(graph::optimize(std::move(graph), evaluate));
  std::vector<graph::Given> given;
  for (const ValueId id : graph.inputs) {
    const graph::Type& type = graph.values[static_cast<std::size_t>(id)].type;
    graph::OutputSpec spec{type.element, {}};
    for (const graph::Dimension& dimension : *type.dimensions)
      spec.shape.push_back(dimension.extent.value_or(dimension.symbol == "sequence" ? kSequence : 1));
    given.emplace_back().spec = std::move(spec);
  }
  graph::Stage stage = value(graph::specialize(graph, given, evaluate));
  return value(graph::optimize(std::move(stage), given, evaluate));
}

std::string shapes_text(const graph::Stage& stage, const graph::Group& group) {
  std::vector<std::string> texts;
  for (const auto* ids : {&group.inputs, &group.outputs})
    for (const ValueId id : *ids) {
      const std::string text = fmt::format("{}", fmt::join(stage.specs[static_cast<std::size_t>(id)]->shape, "x"));
      texts.push_back(stage.graph.is_constant(id) ? "[" + text + "]" : text);
    }
  return fmt::format("{}", fmt::join(texts, " "));
}

/// A kernel in one combination of layouts.
struct Variant {
  std::vector<std::int64_t> blocks;
  Runnable kernel;
  double best_s, expected_cycles;
};

void time_in_turns(std::vector<Variant>& variants, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (Variant& variant : variants) {
      const double once = seconds(variant.kernel, nullptr, 1);
      const int calls = std::clamp(static_cast<int>(5e-4 / once), 1, 1000);
      variant.best_s = std::min(variant.best_s, seconds(variant.kernel, nullptr, calls));
    }
}

/// The values of a group that are no constants.
std::vector<ValueId> values_of(const graph::Stage& stage, const graph::Group& group) {
  std::vector<ValueId> values;
  for (const auto* ids : {&group.inputs, &group.outputs})
    for (const ValueId id : *ids)
      if (!stage.graph.is_constant(id)) values.push_back(id);
  return values;
}

/// All choices of one option for each value, of a few values if there are many.
std::vector<graph::ChannelBlocks> combinations(const graph::LayoutOptions& options, std::vector<ValueId> values) {
  constexpr std::size_t kMost = 3;
  std::erase_if(values, [&](ValueId id) { return options[static_cast<std::size_t>(id)].size() < 2; });
  if (values.size() > kMost) values.erase(values.begin() + 1, values.end() - (kMost - 1));
  std::vector<graph::ChannelBlocks> all = {graph::ChannelBlocks(options.size(), 0)};
  for (const ValueId id : values) {
    const std::size_t before = all.size();
    for (const std::int64_t block : options[static_cast<std::size_t>(id)])
      for (std::size_t i = 0; block > 0 && i < before; ++i) {
        all.push_back(all[i]);
        all.back()[static_cast<std::size_t>(id)] = block;
      }
  }
  return all;
}

Runnable compiled(const space::Task& task, const codegen::Target& target) {
  const Chosen chosen = default_choice(task, target);
  const schedule::Schedule made = value(chosen.space->build(chosen.candidate));
  return prepare(task.naive(), schedule::split_packing(made.program()), target);
}

}  // namespace

void time_layouts(const std::string& file, const std::string& only, int rounds) {
  const codegen::Target target = value(codegen::parse_target("cpu -threads=1"));
  const graph::Stage stage = first_stage(file);
  const StageTasks found = value(tasks_of(stage, target));
  const std::vector<graph::LayoutKernel> kernels = value(layout_kernels(stage, found.groups, target));
  const graph::LayoutMachine machine = layout_machine(target);
  const graph::LayoutOptions options = graph::layout_options(stage, found.groups, kernels, machine.lanes);
  std::set<std::string> known;
  std::size_t next = 0;
  for (const graph::Group& group : found.groups) {
    if (group.kind != graph::Group::Kind::Kernel) continue;
    const graph::LayoutKernel& kernel = kernels[next++];
    const std::vector<ValueId> values = values_of(stage, group);
    const std::vector<graph::ChannelBlocks> all = combinations(options, values);
    const std::string name = fmt::format("{}\t{}\t{}", std::filesystem::path(file).stem().string(),
                                         graph::describe(stage, group), shapes_text(stage, group));
    if (all.size() < 2 || name.find(only) == std::string::npos) continue;
    const space::Task plain = value(task_of(stage, group, kernel.program, all.front(), target));
    if (!known.insert(measure::task_key(plain.naive(), plain.constants).key).second) continue;
    std::vector<Variant> variants;
    for (const graph::ChannelBlocks& blocks : all) {
      std::vector<std::int64_t> shown;
      for (const ValueId id : values) shown.push_back(blocks[static_cast<std::size_t>(id)]);
      Runnable made = compiled(value(task_of(stage, group, kernel.program, blocks, target)), target);
      const double expected = graph::layout_cost(stage, group, kernel, blocks, machine);
      variants.push_back({shown, std::move(made), 1e30, expected});
    }
    time_in_turns(variants, rounds);
    for (const Variant& variant : variants)
      fmt::print("{}\t{}\t{:.0f}\t{:.0f}\n", name, fmt::join(variant.blocks, ","), variant.best_s * 1e9,
                 variant.expected_cycles);
    std::fflush(stdout);
  }
}

}  // namespace hone::bench
