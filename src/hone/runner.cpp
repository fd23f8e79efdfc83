#include "hone/runner.h"

#include <algorithm>
#include <cstring>
#include <malloc.h>
#include <map>

#include "hone/codegen/compile.h"
#include "hone/graph/evaluate.h"
#include "hone/graph/operator.h"
#include "hone/graph/optimize.h"

namespace hone {
namespace {

using runtime::Tensor;
using runtime::Value;

bool is_same(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  if (a.type() == runtime::ElementType::String) return std::ranges::equal(a.strings(), b.strings());
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

/// A tensor with memory of its own: what is built into code must not change with the caller's.
Result<Value> own_copy(const Value& value) {
  const Tensor* tensor = value.tensor();
  if (!tensor || tensor->type() == runtime::ElementType::String) return value;
  HONE_TRY(Tensor made, Tensor::allocate(tensor->type(), tensor->shape()));
  if (tensor->bytes() > 0) std::memcpy(made.data(), tensor->data(), tensor->bytes());
  return Value(std::move(made));
}

/// Gives back what compiling used, and the memory of constants that nothing but the graph holds: kernels have packed
/// copies of their own. Those are read again for other shapes.
void give_back_memory(const graph::Graph& graph) {
  std::map<const void*, long> held;
  for (const auto& [id, value] : graph.constants)
    if (const Tensor* tensor = value.tensor(); tensor && tensor->owner()) ++held[tensor->owner().get()];
  for (const std::shared_ptr<runtime::BackedBytes>& memory : graph.backed)
    if (memory.use_count() == 1 + held[memory.get()]) memory->give_back();
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
  codegen::release_compiler_pages();
}

}  // namespace

/// The graph compiled for certain inputs, and a runner for what comes after its first stage.
struct Runner::Specialization {
  std::vector<graph::Given> given;
  std::unique_ptr<runtime::Plan> plan;
  std::unique_ptr<Runner> next;
};

Runner::Runner(std::shared_ptr<const graph::Graph> graph, std::shared_ptr<RunnerContext> context,
               std::vector<bool> wants_content)
    : graph_(std::move(graph)), context_(std::move(context)), wants_content_(std::move(wants_content)) {
  wants_content_.resize(graph_->inputs.size() + graph_->captured.size());
}

Runner::~Runner() = default;

runtime::Body::Declared Runner::declared(std::size_t output) const { return graph::declared_output(*graph_, output); }

bool Runner::fits(const Specialization& specialization, std::span<const Value> inputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const graph::Given& given = specialization.given[i];
    const Tensor* tensor = inputs[i].tensor();
    if (given.spec.has_value() != (tensor != nullptr)) return false;
    if (!tensor) continue;
    if (tensor->type() != given.spec->type || tensor->shape() != given.spec->shape) return false;
    if (wants_content_[i] && !is_same(*given.content->tensor(), *tensor)) return false;
  }
  return true;
}

Result<std::shared_ptr<const Runner::Specialization>> Runner::find_or_make(std::span<const Value> inputs) const {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = specializations_.size(); i-- > 0;) {
    if (!fits(*specializations_[i], inputs)) continue;
    std::rotate(specializations_.begin() + static_cast<std::ptrdiff_t>(i),
                specializations_.begin() + static_cast<std::ptrdiff_t>(i) + 1, specializations_.end());
    return specializations_.back();
  }
  Result<std::shared_ptr<const Specialization>> made = make(inputs);
  give_back_memory(*graph_);
  if (!made) return made;
  if (specializations_.size() >= context_->max_specializations) specializations_.erase(specializations_.begin());
  specializations_.push_back(*made);
  return made;
}

Result<std::shared_ptr<const Runner::Specialization>> Runner::make(std::span<const Value> inputs) const {
  auto made = std::make_shared<Specialization>();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    graph::Given given;
    if (const Tensor* tensor = inputs[i].tensor()) {
      given.spec = graph::OutputSpec{tensor->type(), tensor->shape()};
      if (wants_content_[i]) { HONE_TRY(given.content, own_copy(inputs[i])); }
    }
    made->given.push_back(std::move(given));
  }
  for (const std::shared_ptr<runtime::BackedBytes>& memory : graph_->backed) HONE_TRY(memory->restore());
  const graph::Evaluate evaluate = folding_evaluator(context_);
  HONE_TRY(graph::Stage stage, graph::specialize(*graph_, made->given, evaluate));
  HONE_TRY(stage, graph::optimize(std::move(stage), made->given, evaluate));
  const std::shared_ptr<RunnerContext> context = context_;
  const MakeBody make_body = [context](std::shared_ptr<const graph::Graph> body) {
    return std::make_shared<const Runner>(std::move(body), context);
  };
  HONE_TRY(made->plan, compile(stage, context_->kernels, make_body));
  if (stage.rest) made->next = std::make_unique<Runner>(stage.rest, context_, stage.wants_content);
  return made;
}

Result<void> Runner::run(std::span<const Value> inputs, std::span<Value> outputs, runtime::ThreadPool* pool,
                         runtime::Profile* profile) const {
  HONE_CHECK(inputs.size() == wants_content_.size(), "{} inputs for {}", inputs.size(), wants_content_.size());
  HONE_TRY(const std::shared_ptr<const Specialization> specialization, find_or_make(inputs));
  const runtime::Plan& plan = *specialization->plan;
  std::vector<runtime::StepTime> times;
  std::vector<Value> between;
  if (specialization->next) between.resize(plan.parts().outputs.size());
  HONE_TRY(plan.run(inputs, specialization->next ? between : outputs, pool, profile ? &times : nullptr));
  for (std::size_t i = 0; i < times.size(); ++i) profile->entries.push_back({&plan.parts().steps[i], times[i]});
  if (profile) profile->plans.push_back(&plan);
  if (!specialization->next) return {};
  return specialization->next->run(between, outputs, pool, profile);
}

Result<std::vector<Value>> Runner::call(std::span<const Value> inputs, std::span<const Value> captured,
                                        runtime::ThreadPool* pool) const {
  if (inputs.size() != graph_->inputs.size())
    return error(ErrorCode::InvalidArgument, "a body of {} inputs is called with {}", graph_->inputs.size(),
                 inputs.size());
  std::vector<Value> all(inputs.begin(), inputs.end());
  all.insert(all.end(), captured.begin(), captured.end());
  std::vector<Value> outputs(graph_->outputs.size());
  HONE_TRY(run(all, outputs, pool));
  return outputs;
}

Result<std::vector<const runtime::Plan*>> Runner::prepare(std::span<const Value> inputs,
                                                          runtime::ThreadPool* pool) const {
  HONE_TRY(const std::shared_ptr<const Specialization> specialization, find_or_make(inputs));
  if (!specialization->next) return std::vector<const runtime::Plan*>{specialization->plan.get()};
  runtime::Profile profile;
  std::vector<Value> outputs(graph_->outputs.size());
  HONE_TRY(run(inputs, outputs, pool, &profile));
  return std::move(profile.plans);
}

graph::Evaluate folding_evaluator(std::shared_ptr<RunnerContext> context) {
  /// Interpreting this much takes about as long as compiling.
  constexpr std::size_t kInterpretedBytes = std::size_t{1} << 14;
  return [context = std::move(context)](const graph::Graph& graph, const graph::Node& node,
                                        std::span<const Value> inputs) -> Result<std::vector<Value>> {
    std::size_t bytes = 0;
    for (const Value& input : inputs)
      if (const Tensor* tensor = input.tensor(); tensor && tensor->data()) bytes += tensor->bytes();
    const graph::Operator* entry = graph::find_operator(node.domain, node.op);
    if (bytes <= kInterpretedBytes || (entry && !entry->define && !entry->expand))
      return graph::evaluate(graph, node, inputs);

    // A graph of this node alone.
    graph::Graph single;
    graph::Node copy = node;
    std::vector<Value> present;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (node.inputs[i] == graph::kAbsent) continue;
      copy.inputs[i] = single.add_value("input");
      single.inputs.push_back(copy.inputs[i]);
      present.push_back(inputs[i]);
    }
    std::vector<std::size_t> made;
    for (std::size_t i = 0; i < copy.outputs.size(); ++i) {
      if (node.outputs[i] == graph::kAbsent) continue;
      copy.outputs[i] = single.add_value("output");
      single.outputs.push_back(copy.outputs[i]);
      made.push_back(i);
    }
    single.nodes.push_back(std::move(copy));
    const Runner runner(std::make_shared<const graph::Graph>(std::move(single)), context);
    std::vector<Value> results(made.size());
    HONE_TRY(runner.run(present, results, nullptr));
    std::vector<Value> outputs(node.outputs.size());
    for (std::size_t i = 0; i < made.size(); ++i) outputs[made[i]] = std::move(results[i]);
    return outputs;
  };
}

}  // namespace hone
