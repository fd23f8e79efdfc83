#include "hone/runtime/kernels/control.h"

#include <algorithm>
#include <limits>

#include "hone/runtime/interrupt.h"
#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/move.h"

namespace hone::runtime {
namespace {

Result<bool> condition_of(const Value& value) {
  const Tensor* tensor = value.tensor();
  if (!tensor || tensor->type() != ElementType::Bool || tensor->size() != 1)
    return error(ErrorCode::InvalidArgument, "the condition must be one bool, found {}", value.describe());
  return tensor->as<std::uint8_t>()[0] != 0;
}

/// The values of one output in all iterations, which become one tensor.
class Collected {
 public:
  Result<void> add(const Value& value) {
    const Tensor* tensor = value.tensor();
    if (!tensor) return error(ErrorCode::InvalidArgument, "a scan output must be a tensor, found {}", value.describe());
    tensors_.push_back(*tensor);
    return {};
  }

  /// All of them along a new axis, in reverse if `is_reversed`. Of no iterations only what is declared is known.
  Result<Tensor> stacked(const Body& body, std::size_t output, std::int64_t axis, bool is_reversed) {
    if (is_reversed) std::reverse(tensors_.begin(), tensors_.end());
    if (!tensors_.empty()) return stack(tensors_, axis);
    Body::Declared declared = body.declared(output);
    if (declared.type == ElementType::Undefined)
      return error(ErrorCode::InvalidArgument, "scan output {} of no iterations has no declared type", output);
    HONE_TRY(const std::size_t place, checked_axis(axis, declared.shape.size() + 1));
    declared.shape.insert(declared.shape.begin() + static_cast<std::ptrdiff_t>(place), 0);
    return Tensor::allocate(declared.type, std::move(declared.shape));
  }

 private:
  std::vector<Tensor> tensors_;
};

Result<void> check_results(std::size_t found, std::size_t wanted) {
  if (found < wanted)
    return error(ErrorCode::InvalidArgument, "the body gives {} values, {} are needed", found, wanted);
  return {};
}

/// What one scan reads and writes along which axes.
struct ScanPlan {
  std::size_t states = 0;
  std::vector<std::size_t> input_axes;
  std::vector<bool> input_reversed;
  std::vector<std::int64_t> output_axes;
  std::vector<bool> output_reversed;
  std::int64_t length = 0;
};

template <typename T>
T entry_or(const std::vector<std::int64_t>& list, std::size_t i, T fallback) {
  return i < list.size() ? static_cast<T>(list[i]) : fallback;
}

/// Reads the attributes. `inputs` are the states and then the scan inputs.
Result<ScanPlan> plan_scan(const HostCall& call, std::span<const Value> inputs) {
  ScanPlan plan;
  const std::int64_t scanned = call.attributes.integer("num_scan_inputs", 0);
  if (scanned < 1 || scanned > static_cast<std::int64_t>(inputs.size()))
    return error(ErrorCode::InvalidArgument, "num_scan_inputs is {}, allowed are 1 to {}", scanned, inputs.size());
  plan.states = inputs.size() - static_cast<std::size_t>(scanned);
  const auto axes = call.attributes.integers("scan_input_axes");
  auto directions = call.attributes.integers("scan_input_directions");
  if (directions.empty()) directions = call.attributes.integers("directions");
  for (std::size_t i = plan.states; i < inputs.size(); ++i) {
    const Tensor* tensor = inputs[i].tensor();
    if (!tensor)
      return error(ErrorCode::InvalidArgument, "scan input {} must be a tensor, found {}", i - plan.states,
                   inputs[i].describe());
    HONE_TRY(const std::size_t axis, checked_axis(entry_or<std::int64_t>(axes, i - plan.states, 0), tensor->rank()));
    if (i == plan.states) plan.length = tensor->extent(axis);
    if (tensor->extent(axis) != plan.length)
      return error(ErrorCode::InvalidArgument, "scan input {} has length {}, the first {}", i - plan.states,
                   tensor->extent(axis), plan.length);
    plan.input_axes.push_back(axis);
    plan.input_reversed.push_back(entry_or<bool>(directions, i - plan.states, false));
  }
  const auto output_axes = call.attributes.integers("scan_output_axes");
  const auto output_directions = call.attributes.integers("scan_output_directions");
  for (std::size_t i = plan.states; i < call.outputs.size(); ++i) {
    plan.output_axes.push_back(entry_or<std::int64_t>(output_axes, i - plan.states, 0));
    plan.output_reversed.push_back(entry_or<bool>(output_directions, i - plan.states, false));
  }
  return plan;
}

/// Runs a scan on `inputs`: the last states, then the scan outputs.
Result<std::vector<Value>> run_scan(const HostCall& call, const ScanPlan& plan, std::span<const Value> inputs) {
  HONE_TRY(const Body* const body, call.body(0));
  std::vector<Value> states(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(plan.states));
  std::vector<Collected> collected(plan.output_axes.size());
  for (std::int64_t step = 0; step < plan.length; ++step) {
    HONE_TRY(check_interrupt());
    std::vector<Value> arguments = states;
    for (std::size_t i = 0; i < plan.input_axes.size(); ++i) {
      const std::int64_t place = plan.input_reversed[i] ? plan.length - 1 - step : step;
      HONE_TRY(Tensor part, slice_axis(*inputs[plan.states + i].tensor(), plan.input_axes[i], place, 1));
      Shape shape = part.shape();
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(plan.input_axes[i]));
      arguments.emplace_back(part.reshaped(std::move(shape)));
    }
    HONE_TRY(const std::vector<Value> results, body->run(arguments));
    HONE_TRY(check_results(results.size(), plan.states + collected.size()));
    std::copy_n(results.begin(), plan.states, states.begin());
    for (std::size_t i = 0; i < collected.size(); ++i) HONE_TRY(collected[i].add(results[plan.states + i]));
  }
  std::vector<Value> outputs = std::move(states);
  for (std::size_t i = 0; i < collected.size(); ++i) {
    HONE_TRY(Tensor tensor, collected[i].stacked(*body, plan.states + i, plan.output_axes[i], plan.output_reversed[i]));
    outputs.emplace_back(std::move(tensor));
  }
  return outputs;
}

/// One element of a batch, without the batch's axis.
Result<Value> batch_element(const Value& value, std::int64_t place) {
  const Tensor* tensor = value.tensor();
  if (!tensor || tensor->rank() == 0 || place >= tensor->extent(0))
    return error(ErrorCode::InvalidArgument, "a batch has no element {}: {}", place, value.describe());
  HONE_TRY(const Tensor part, slice_axis(*tensor, 0, place, 1));
  return Value(part.reshaped(Shape(tensor->shape().begin() + 1, tensor->shape().end())));
}

/// Lengthens a tensor along its first axis by zeros.
Result<Value> padded(const Value& value, std::int64_t length) {
  const Tensor& tensor = *value.tensor();
  Shape shape = tensor.shape();
  shape[0] = length;
  HONE_TRY(Tensor longer, Tensor::allocate(tensor.type(), std::move(shape)));
  fill_zero(longer);
  copy_run(tensor, 0, longer, 0, tensor.size());
  return Value(longer);
}

/// Scan as opset 8 has it: a batch of sequences, the lengths of which are input 0.
Result<void> scan_batch(HostCall& call) {
  const std::span<const Value> inputs = call.inputs.subspan(1);
  const Tensor* last = inputs.empty() ? nullptr : inputs.back().tensor();
  if (!last || last->rank() < 2)
    return error(ErrorCode::InvalidArgument, "a scan input must be [batch, length, ...], found {}",
                 inputs.empty() ? "nothing" : inputs.back().describe());
  const std::int64_t batch = last->extent(0), longest = last->extent(1);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch), longest);
  if (call.has(0)) {
    HONE_TRY(const Tensor given, call.tensor(0));
    HONE_TRY(lengths, given.to_ints());
  }
  if (static_cast<std::int64_t>(lengths.size()) != batch)
    return error(ErrorCode::InvalidArgument, "{} sequence lengths for a batch of {}", lengths.size(), batch);

  std::vector<Collected> collected(call.outputs.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<Value> elements;
    for (const Value& input : inputs) { HONE_TRY(elements.emplace_back(), batch_element(input, b)); }
    HONE_TRY(ScanPlan plan, plan_scan(call, elements));
    const std::int64_t length = lengths[static_cast<std::size_t>(b)];
    if (length < 0 || length > plan.length)
      return error(ErrorCode::InvalidArgument, "sequence length {} is outside 0..{}", length, plan.length);
    plan.length = length;
    HONE_TRY(std::vector<Value> outputs, run_scan(call, plan, elements));
    for (std::size_t i = 0; i < collected.size(); ++i) {
      if (i >= plan.states && length < longest) { HONE_TRY(outputs[i], padded(outputs[i], longest)); }
      HONE_TRY(collected[i].add(outputs[i]));
    }
  }
  HONE_TRY(const Body* const body, call.body(0));
  for (std::size_t i = 0; i < collected.size(); ++i) {
    HONE_TRY(call.outputs[i], collected[i].stacked(*body, i, 0, false));
  }
  return {};
}

}  // namespace

Result<void> select_branch(HostCall& call) {
  HONE_TRY(const bool condition, condition_of(call.inputs[0]));
  // in the order of their names
  HONE_TRY(const Body* const else_branch, call.body(0));
  HONE_TRY(const Body* const then_branch, call.body(1));
  HONE_TRY(std::vector<Value> results, (condition ? then_branch : else_branch)->run({}));
  HONE_TRY(check_results(results.size(), call.outputs.size()));
  std::move(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(call.outputs.size()), call.outputs.begin());
  return {};
}

Result<void> loop(HostCall& call) {
  std::int64_t trips = std::numeric_limits<std::int64_t>::max();
  if (call.has(0)) {
    HONE_TRY(const Tensor count, call.tensor(0));
    HONE_TRY(trips, single_integer(count, "the trip count"));
  }
  bool goes_on = true;
  if (call.has(1)) { HONE_TRY(goes_on, condition_of(call.inputs[1])); }
  HONE_TRY(const Body* const body, call.body(0));
  const std::size_t states = call.inputs.size() < 2 ? 0 : call.inputs.size() - 2;
  std::vector<Value> carried(call.inputs.end() - static_cast<std::ptrdiff_t>(states), call.inputs.end());
  std::vector<Collected> collected(call.outputs.size() > states ? call.outputs.size() - states : 0);
  for (std::int64_t trip = 0; trip < trips && goes_on; ++trip) {
    HONE_TRY(check_interrupt());
    std::vector<Value> arguments = {Tensor::scalar(trip), Tensor::scalar(true)};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    carried.clear();
    HONE_TRY(std::vector<Value> results, body->run(arguments));
    HONE_TRY(check_results(results.size(), 1 + states + collected.size()));
    HONE_TRY(goes_on, condition_of(results[0]));
    for (std::size_t i = 0; i < collected.size(); ++i) HONE_TRY(collected[i].add(results[1 + states + i]));
    carried.assign(std::make_move_iterator(results.begin() + 1),
                   std::make_move_iterator(results.begin() + 1 + static_cast<std::ptrdiff_t>(states)));
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (i < states) {
      call.outputs[i] = std::move(carried[i]);
    } else {
      HONE_TRY(call.outputs[i], collected[i - states].stacked(*body, 1 + i, 0, false));
    }
  }
  return {};
}

Result<void> scan(HostCall& call) {
  if (call.opset < 9) return scan_batch(call);
  HONE_TRY(const ScanPlan plan, plan_scan(call, call.inputs));
  HONE_TRY(std::vector<Value> outputs, run_scan(call, plan, call.inputs));
  std::move(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(call.outputs.size()), call.outputs.begin());
  return {};
}

}  // namespace hone::runtime
