#include "hone/session.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <mutex>

#include "hone/codegen/target.h"
#include "hone/first_choice.h"
#include "hone/frontend/import.h"
#include "hone/graph/optimize.h"
#include "hone/measure/records/records.h"
#include "hone/runner.h"
#include "hone/runtime/thread_pool.h"
#include "hone/tasks.h"

namespace hone {
namespace {

/// A type as ONNX Runtime writes it: without the shape.
std::string type_text(const graph::Type& type) {
  const auto content = [&] { return type.content ? type_text(*type.content) : std::string("?"); };
  switch (type.kind) {
    case graph::TypeKind::Tensor:
      return fmt::format("tensor({})", runtime::name_of(type.element));
    case graph::TypeKind::Sequence:
      return fmt::format("seq({})", content());
    case graph::TypeKind::Optional:
      return fmt::format("optional({})", content());
    case graph::TypeKind::Map:
      return fmt::format("map({},{})", runtime::name_of(type.element), content());
  }
  return "?";
}

Port port_of(const graph::Graph& graph, graph::ValueId id) {
  const graph::ValueInfo& value = graph.values[static_cast<std::size_t>(id)];
  Port port;
  port.name = value.name;
  port.type_text = type_text(value.type);
  port.is_optional = value.type.kind == graph::TypeKind::Optional;
  const graph::Type& type = port.is_optional && value.type.content ? *value.type.content : value.type;
  if (type.kind != graph::TypeKind::Tensor) return port;
  port.type = type.element;
  if (!type.dimensions) return port;
  port.has_shape = true;
  for (const graph::Dimension& dimension : *type.dimensions) {
    port.shape.push_back(dimension.extent.value_or(-1));
    port.symbols.push_back(dimension.extent ? "" : dimension.symbol);
  }
  return port;
}

/// Checks one input against its declaration: the error names the input, what it has and what it should have.
Result<void> check_input(const Port& port, const Value& value) {
  if (value.is_absent()) {
    if (port.is_optional) return {};
    return error(ErrorCode::InvalidArgument, "input '{}' is missing, expected {}", port.name, describe(port));
  }
  if (port.type == ElementType::Undefined) return {};
  const Tensor* tensor = value.tensor();
  if (!tensor || tensor->type() != port.type)
    return error(ErrorCode::InvalidArgument, "input '{}' is {}, expected {}", port.name, value.describe(),
                 describe(port));
  if (!port.has_shape) return {};
  bool fits = tensor->rank() == port.shape.size();
  for (std::size_t i = 0; fits && i < port.shape.size(); ++i)
    fits = port.shape[i] < 0 || port.shape[i] == tensor->extent(i);
  if (fits) return {};
  return error(ErrorCode::InvalidArgument, "input '{}' is {}, expected {}", port.name, value.describe(),
               describe(port));
}

Result<std::size_t> index_of(const std::vector<Port>& ports, std::string_view name, std::string_view what) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
    names.push_back(ports[i].name);
  }
  return error(ErrorCode::NotFound, "the model has no {} '{}', only: {}", what, name, fmt::join(names, ", "));
}

/// Adds what stands in the graph, and in those inside its nodes.
void add_contents(const graph::Graph& graph, Contents& contents) {
  for (const graph::Node& node : graph.nodes) {
    ++contents.operators[node.domain.empty() ? node.op : node.domain + "." + node.op];
    for (const auto& [name, subgraph] : node.subgraphs) add_contents(*subgraph.graph, contents);
  }
  for (const auto& [id, value] : graph.constants)
    if (const Tensor* tensor = value.tensor()) {
      contents.parameters += tensor->size();
      contents.parameter_bytes += tensor->bytes();
    }
}

}  // namespace

std::string describe(const Port& port) {
  if (!port.has_shape) return port.type_text;
  std::vector<std::string> extents;
  for (std::size_t i = 0; i < port.shape.size(); ++i)
    extents.push_back(port.shape[i] >= 0        ? std::to_string(port.shape[i])
                      : port.symbols[i].empty() ? "?"
                                                : port.symbols[i]);
  return fmt::format("{} of shape [{}]", port.type_text, fmt::join(extents, ", "));
}

struct Session::Impl {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<Port> inputs, outputs, overridable;
  Contents contents;
  std::string target;
  std::unique_ptr<Runner> runner;
  std::shared_ptr<RunnerContext> context;
  std::shared_ptr<runtime::ThreadPool> pool;
  std::unique_ptr<const graph::Graph> source;  ///< before any pass; only if something is overridable
  mutable std::mutex mutex;
  mutable std::map<std::vector<std::string>, Session> variants;  ///< by the initializers that became inputs
};

Result<Session> Session::load(const std::filesystem::path& file, const SessionOptions& options) {
  HONE_TRY(graph::Graph graph, frontend::import_onnx(file));
  return make(std::move(graph), options);
}

Result<Session> Session::parse(std::span<const std::byte> model, const SessionOptions& options,
                               const std::filesystem::path& folder) {
  HONE_TRY(graph::Graph graph, frontend::import_onnx(model, folder));
  return make(std::move(graph), options);
}

Result<Session> Session::make(graph::Graph graph, const SessionOptions& options) {
  if (options.threads < 0)
    return error(ErrorCode::InvalidArgument, "threads is {}, allowed are 0 (all cores) and more", options.threads);
  codegen::Target target = codegen::host_target();
  if (!options.target.empty()) { HONE_TRY(target, codegen::parse_target(options.target)); }
  if (options.threads > 0) target.threads = options.threads;
  Impl shared;
  shared.target = codegen::to_string(target);
  shared.pool = std::make_shared<runtime::ThreadPool>(std::max(1, target.threads));
  FirstChoice first;
  if (options.first_choice == "network") {
    HONE_TRY(first, FirstChoice::by_network(target));
  } else if (options.first_choice != "rules") {
    return error(ErrorCode::InvalidArgument, "first_choice is '{}', allowed are rules and network",
                 options.first_choice);
  }
  shared.context = std::make_shared<RunnerContext>(std::move(target), measure::records_file(options.records),
                                                   options.keeps_tasks, std::move(first));
  shared.context->max_specializations = std::max<std::size_t>(1, options.max_specializations);
  return make(std::move(graph), shared);
}

Result<Session> Session::make(graph::Graph graph, const Impl& shared) {
  auto impl = std::make_shared<Impl>();
  impl->pool = shared.pool;
  impl->context = shared.context;
  impl->target = shared.target;
  add_contents(graph, impl->contents);
  for (const graph::ValueId id : graph.inputs) impl->inputs.push_back(port_of(graph, id));
  for (const graph::ValueId id : graph.outputs) impl->outputs.push_back(port_of(graph, id));
  for (const graph::ValueId id : graph.overridable) impl->overridable.push_back(port_of(graph, id));
  if (!graph.overridable.empty()) impl->source = std::make_unique<const graph::Graph>(graph);
  graph.overridable.clear();
  std::vector<std::shared_ptr<runtime::BackedBytes>> backed = std::move(graph.backed);
  HONE_TRY(graph, graph::optimize(std::move(graph), folding_evaluator(impl->context)));
  std::erase_if(backed, [](const auto& memory) { return memory.use_count() == 1; });
  graph.backed = std::move(backed);
  impl->graph = std::make_shared<const graph::Graph>(std::move(graph));
  impl->runner = std::make_unique<Runner>(impl->graph, impl->context);
  return Session(std::move(impl));
}

Result<Session> Session::with_inputs(std::span<const std::string> initializers) const {
  if (initializers.empty()) return *this;
  const std::scoped_lock lock(impl_->mutex);
  const std::vector<std::string> key(initializers.begin(), initializers.end());
  if (const auto found = impl_->variants.find(key); found != impl_->variants.end()) return found->second;
  std::vector<graph::ValueId> ids;
  for (const std::string& name : initializers) {
    HONE_TRY(const std::size_t index, index_of(impl_->overridable, name, "overridable initializer"));
    ids.push_back(impl_->source->overridable[index]);
  }
  graph::Graph changed = *impl_->source;
  changed.overridable.clear();
  for (const graph::ValueId id : ids) {
    if (changed.constants.erase(id) == 0)
      return error(ErrorCode::InvalidArgument, "initializer '{}' is named twice", changed.name_of(id));
    changed.inputs.push_back(id);
  }
  HONE_TRY(Session variant, make(std::move(changed), *impl_));
  return impl_->variants.emplace(key, std::move(variant)).first->second;
}

Session Session::with_kernels(std::map<std::string, std::string> candidates) const {
  auto impl = std::make_shared<Impl>();
  impl->graph = impl_->graph;
  impl->inputs = impl_->inputs;
  impl->outputs = impl_->outputs;
  impl->contents = impl_->contents;
  impl->target = impl_->target;
  impl->pool = impl_->pool;
  impl->context = std::make_shared<RunnerContext>(*impl_->context, std::move(candidates));
  impl->runner = std::make_unique<Runner>(impl->graph, impl->context);
  return Session(std::move(impl));
}

const std::vector<Port>& Session::inputs() const { return impl_->inputs; }
const std::vector<Port>& Session::outputs() const { return impl_->outputs; }
const std::vector<Port>& Session::overridable() const { return impl_->overridable; }
const std::map<std::string, std::string>& Session::metadata() const { return impl_->graph->metadata; }
const graph::Graph& Session::graph() const { return *impl_->graph; }
const Contents& Session::contents() const { return impl_->contents; }
std::string Session::target() const { return impl_->target; }
int Session::threads() const { return impl_->pool->threads(); }

Result<std::vector<Value>> Session::run(std::span<const Value> inputs) const {
  std::vector<Value> outputs(impl_->outputs.size());
  HONE_TRY(run(inputs, outputs));
  return outputs;
}

Result<void> Session::check_inputs(std::span<const Value> inputs) const {
  if (inputs.size() != impl_->inputs.size())
    return error(ErrorCode::InvalidArgument, "{} inputs given, the model has {}", inputs.size(), impl_->inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) HONE_TRY(check_input(impl_->inputs[i], inputs[i]));
  return {};
}

Result<void> Session::run(std::span<const Value> inputs, std::span<Value> outputs, Profile* profile) const {
  HONE_TRY(check_inputs(inputs));
  if (outputs.size() != impl_->outputs.size())
    return error(ErrorCode::InvalidArgument, "{} outputs asked for, the model has {}", outputs.size(),
                 impl_->outputs.size());
  HONE_TRY(impl_->runner->run(inputs, outputs, impl_->pool.get(), profile));
  // An output that is an input, unchanged, gets memory of its own: callers may write to what they are given.
  for (Value& output : outputs) {
    Tensor* given = output.tensor();
    if (!given || given->type() == ElementType::String || given->bytes() == 0) continue;
    const auto is_input = [&](const Value& input) { return input.tensor() && input.tensor()->data() == given->data(); };
    if (std::none_of(inputs.begin(), inputs.end(), is_input)) continue;
    HONE_TRY(Tensor copy, Tensor::allocate(given->type(), given->shape()));
    std::memcpy(copy.data(), given->data(), given->bytes());
    output = std::move(copy);
  }
  return {};
}

Result<std::size_t> Session::input_index(std::string_view name) const { return index_of(impl_->inputs, name, "input"); }

Result<std::size_t> Session::output_index(std::string_view name) const {
  return index_of(impl_->outputs, name, "output");
}

Result<std::vector<const runtime::Plan*>> Session::plans(std::span<const Value> inputs) const {
  HONE_TRY(check_inputs(inputs));
  return impl_->runner->prepare(inputs, impl_->pool.get());
}

const FirstChoice& Session::first_choice() const { return impl_->context->kernels.first_choice(); }

Result<std::vector<TaskUse>> Session::tasks(std::span<const Value> inputs) const {
  HONE_TRY(const std::vector<const runtime::Plan*> all, plans(inputs));
  std::vector<TaskUse> tasks;
  std::map<const void*, std::size_t> known;
  for (const runtime::Plan* plan : all)
    for (const runtime::Step& step : plan->parts().steps) {
      const auto* call = std::get_if<runtime::KernelStep>(&step.call);
      const auto kernel = call ? impl_->context->kernels.find(call->entry) : nullptr;
      if (!kernel || !kernel->task) continue;
      const auto [place, is_new] = known.emplace(kernel.get(), tasks.size());
      if (is_new) tasks.push_back({kernel->task, step.name, 0});
      ++tasks[place->second].uses;
      tasks[place->second].steps.push_back(&step);
    }
  return tasks;
}

}  // namespace hone
