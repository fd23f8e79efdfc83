#include "hone/model_tasks.h"

#include <charconv>

#include "hone/compile.h"
#include "hone/frontend/import.h"
#include "hone/graph/optimize.h"
#include "hone/measure/records/task_key.h"
#include "hone/runner.h"

namespace hone {
namespace {

constexpr std::int64_t kLargestExtent = 1 << 20;

/// What is known of the inputs of a graph at these shapes.
Result<std::vector<graph::Given>> given_inputs(const graph::Graph& graph, const ModelShape& shape) {
  constexpr std::size_t kImageRank = 4;
  std::vector<graph::Given> all;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Type& type = graph.values[static_cast<std::size_t>(id)].type;
    graph::Given& given = all.emplace_back();
    if (type.kind != graph::TypeKind::Tensor) continue;
    if (!type.dimensions)
      return error(ErrorCode::Unsupported, "input '{}' has no shape: its tasks are not known", graph.name_of(id));
    graph::OutputSpec spec{type.element, {}};
    for (const graph::Dimension& dimension : *type.dimensions) {
      const auto chosen = shape.dims.find(dimension.symbol);
      spec.shape.push_back(dimension.extent.value_or(chosen == shape.dims.end() ? 1 : chosen->second));
    }
    if (shape.image > 0 && spec.shape.size() == kImageRank) spec.shape[2] = spec.shape[3] = shape.image;
    given.spec = std::move(spec);
  }
  return all;
}

/// The same of inputs that are there.
Result<std::vector<graph::Given>> given_inputs(const graph::Graph& graph, std::span<const runtime::Value> inputs) {
  if (inputs.size() != graph.inputs.size())
    return error(ErrorCode::InvalidArgument, "{} inputs given, the model has {}", inputs.size(), graph.inputs.size());
  std::vector<graph::Given> all(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const runtime::Tensor* tensor = inputs[i].tensor())
      all[i].spec = graph::OutputSpec{tensor->type(), tensor->shape()};
  return all;
}

/// `inputs` is a ModelShape, or values.
template <typename Inputs>
Result<std::vector<TaskUse>> tasks_at(const graph::Graph& graph, const codegen::Target& target, const Inputs& inputs,
                                      const graph::Evaluate& evaluate) {
  HONE_TRY(const std::vector<graph::Given> given, given_inputs(graph, inputs));
  HONE_TRY(graph::Stage stage, graph::specialize(graph, given, evaluate));
  HONE_TRY(stage, graph::optimize(std::move(stage), given, evaluate));
  HONE_TRY(StageTasks found, tasks_of(stage, target));
  std::vector<TaskUse> uses;
  std::map<std::string, std::size_t> known;
  std::size_t next = 0;
  for (const graph::Group& group : found.groups) {
    if (group.kind != graph::Group::Kind::Kernel) continue;
    space::Task& task = found.tasks[next++];
    const auto [place, is_new] = known.emplace(measure::task_key(task.naive(), task.constants).key, uses.size());
    if (is_new)
      uses.push_back({std::make_shared<const space::Task>(std::move(task)), graph::describe(stage, group), 0});
    ++uses[place->second].uses;
  }
  return uses;
}

/// Folds on this machine, whatever the target.
graph::Evaluate evaluator() { return folding_evaluator(std::make_shared<RunnerContext>(codegen::host_target())); }

Result<graph::Graph> optimized(const std::filesystem::path& file, const graph::Evaluate& evaluate) {
  HONE_TRY(graph::Graph graph, frontend::import_onnx(file));
  graph.overridable.clear();
  return graph::optimize(std::move(graph), evaluate);
}

}  // namespace

Result<ModelShape> parse_model_shape(const std::string& text) {
  ModelShape shape{.name = text, .dims = {}};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t middle = part.find('=');
    std::int64_t extent = 0;
    const char* digits = part.data() + std::min(middle, part.size() - 1) + 1;
    const auto [stop, status] = std::from_chars(digits, part.data() + part.size(), extent);
    if (middle == std::string::npos || middle == 0 || status != std::errc() || stop != part.data() + part.size() ||
        extent < 1 || extent > kLargestExtent)
      return error(ErrorCode::InvalidArgument, "'{}' is no shape, expected NAME=EXTENT with an extent in 1..{}", part,
                   kLargestExtent);
    const std::string name = part.substr(0, middle);
    if (name == "image")
      shape.image = extent;
    else
      shape.dims[name] = extent;
    begin = end + 1;
  }
  return shape;
}

Result<std::vector<Result<std::vector<TaskUse>>>> model_tasks(const std::filesystem::path& file,
                                                              const codegen::Target& target,
                                                              const std::vector<ModelShape>& shapes) {
  const graph::Evaluate evaluate = evaluator();
  HONE_TRY(const graph::Graph graph, optimized(file, evaluate));
  std::vector<Result<std::vector<TaskUse>>> all;
  for (const ModelShape& shape : shapes) all.push_back(tasks_at(graph, target, shape, evaluate));
  return all;
}

Result<std::vector<TaskUse>> model_tasks(const std::filesystem::path& file, const codegen::Target& target,
                                         std::span<const runtime::Value> inputs) {
  const graph::Evaluate evaluate = evaluator();
  HONE_TRY(const graph::Graph graph, optimized(file, evaluate));
  return tasks_at(graph, target, inputs, evaluate);
}

}  // namespace hone
