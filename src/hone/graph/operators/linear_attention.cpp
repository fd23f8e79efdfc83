#include "hone/runtime/kernels/linear_attention.h"

#include <cmath>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/convolution.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// query, key, value, past_state?, decay?, beta?: the recurrence runs in f32.
Result<std::vector<ValueId>> expand_linear_attention(const Application& op, Builder& builder) {
  Parts parts(op, builder);
  const std::int64_t heads = op.integer("q_num_heads", 0), groups = op.integer("kv_num_heads", 0);
  if (op.rank(0) != 3 || op.rank(1) != 3 || op.rank(2) != 3)
    return op.fail("inputs of {}, {} and {} axes, allowed are 3", op.rank(0), op.rank(1), op.rank(2));
  if (groups < 1 || heads < 1 || heads % groups != 0 || op.shape(0)[2] % heads != 0 || op.shape(2)[2] % groups != 0)
    return op.fail("q_num_heads {} and kv_num_heads {} do not fit {} and {} columns", heads, groups, op.shape(0)[2],
                   op.shape(2)[2]);
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < 6; ++i) {
    const Shaped x = parts.input(i);
    inputs.push_back(x.is_absent() || op.type(i) == ElementType::F32 ? x.id : parts.cast(x, ElementType::F32).id);
  }
  Attributes attributes = op.attributes();
  attributes.remove("chunk_size");
  std::vector<ValueId> outputs =
      builder.add_node("hone", "LinearAttention", std::move(inputs), 2, std::move(attributes));
  const ElementType state = op.has(3) ? op.type(3) : op.type(0);
  if (op.type(0) != ElementType::F32) outputs[0] = parts.cast({outputs[0]}, op.type(0)).id;
  if (state != ElementType::F32) outputs[1] = parts.cast({outputs[1]}, state).id;
  outputs.resize(op.output_count());
  return outputs;
}

Result<std::vector<OutputSpec>> infer_linear_attention(const Application& op) {
  const std::int64_t heads = op.integer("q_num_heads", 1), groups = op.integer("kv_num_heads", 1);
  if (op.rank(0) != 3 || op.rank(2) != 3 || heads < 1 || groups < 1)
    return op.fail("{} and {} heads, allowed is 1 and more", heads, groups);
  const std::int64_t key = op.shape(0)[2] / heads, value = op.shape(2)[2] / groups;
  return std::vector<OutputSpec>{{ElementType::F32, {op.shape(0)[0], op.shape(0)[1], heads * value}},
                                 {ElementType::F32, {op.shape(0)[0], groups, key, value}}};
}

/// input, weight, bias?, past_state?: a depthwise convolution over the past and the input.
Result<std::vector<Tensor>> define_causal_conv(const Application& op) {
  const Tensor &x = op.tensor(0), &weight = op.tensor(1);
  if (x.rank() != 3 || weight.rank() != 3 || weight.extent(0) != x.extent(1) || weight.extent(1) != 1 ||
      weight.extent(2) < 1)
    return op.fail("an input of shape {} and a weight of shape {}, allowed are [n, c, length] and [c, 1, k]",
                   tensor::show_shape(x.shape()), tensor::show_shape(weight.shape()));
  const std::int64_t past = weight.extent(2) - 1;
  const tensor::Shape state = {x.extent(0), x.extent(1), past};
  if (op.has(3) && op.shape(3) != state)
    return op.fail("a past_state of shape {}, allowed is {}", tensor::show_shape(op.shape(3)),
                   tensor::show_shape(state));
  const std::string activation = op.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return op.fail("activation '{}', allowed are none, silu and swish", activation);

  const Tensor whole = tensor::compute("whole", {x.extent(0), x.extent(1), past + x.extent(2)}, [&](const Indices& i) {
    const Expr before = op.has(3) ? op.tensor(3)(i) : ir::constant(x.type(), std::int64_t{0});
    if (past == 0) return x(i);
    return ir::select(i[2] < past, before, x(i[0], i[1], i[2] - past));
  });
  const ir::DType type = accumulator_type(x.type());
  HONE_TRY(const Tensor product, tensor::depthwise_conv(whole, weight, {.result = type}));
  HONE_TRY(const Tensor sum, with_bias(op, product, 2));
  const Tensor y = tensor::map("causal_conv", sum, [&](const Expr& e) {
    return ir::cast(x.type(), activation == "none" ? e : e * ir::call(ir::Intrinsic::Sigmoid, {e}));
  });
  const Tensor present = tensor::compute("present", tensor::axes_of(state),
                                         [&](const Indices& i) { return whole(i[0], i[1], i[2] + x.extent(2)); });
  return std::vector<Tensor>{y, present};
}

}  // namespace

std::span<const Operator> linear_attention_operators() {
  static const Operator entries[] = {
      {.name = "LinearAttention",
       .schema = "query: T, key: T, value: T, past_state?: S, decay?: T, beta?: T -> output: T, present_state?; "
                 "chunk_size, kv_num_heads, q_num_heads, scale, update_rule; T: float, S: float",
       .expand = expand_linear_attention},
      {.name = "LinearAttention",
       .domain = "hone",
       .schema = "query: T, key: T, value: T, past_state?: T, decay?: T, beta?: T -> output: T, present_state: T; "
                 "kv_num_heads, q_num_heads, scale, update_rule; T: float32",
       .host = runtime::run_linear_attention,
       .infer = infer_linear_attention},
      {.name = "CausalConvWithState",
       .schema = "input: T, weight: T, bias?: T, past_state?: T -> output: T, present_state?: T; activation; T: float",
       .define = define_causal_conv},
  };
  return entries;
}

}  // namespace hone::graph
