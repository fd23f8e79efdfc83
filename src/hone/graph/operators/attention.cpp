#include <cmath>
#include <limits>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using ir::Intrinsic;
using tensor::Indices;
using tensor::Tensor;

namespace {

// From scores to weights.

/// Whether query i[2] may see key i[3] as far as order, windows and lengths are concerned; null if nothing forbids it.
Expr visible(const Application& op, const Indices& i) {
  const std::int64_t left = op.integer("left_window", -1), right = op.integer("right_window", -1);
  const bool is_causal = op.integer("is_causal", 0) != 0;
  Expr position = i[2] + op.integer("past", 0);  // of the query among the keys
  Expr allowed;
  const auto require = [&](const Expr& condition) {
    allowed = allowed ? ir::logical_and(allowed, condition) : condition;
  };
  if (op.has(2)) {
    const Expr length = ir::cast(ir::kI64, op.tensor(2)(i[0]));
    if (!op.has(3)) position = i[2] + (length - op.shape(0)[2]);
    require(i[3] < length);
  }
  if (op.has(3)) position = i[2] + ir::cast(ir::kI64, op.tensor(3)(i[0]));
  if (is_causal) require(i[3] <= position);
  if (left >= 0) require(position - left <= i[3]);
  if (right >= 0) require(i[3] <= position + right);
  return allowed;
}

/// What the mask adds, or null without one.
Expr mask_bias(const Application& op, const Indices& i, ir::DType type) {
  if (!op.has(1)) return {};
  const Tensor& mask = op.tensor(1);
  const Expr entry = tensor::broadcast_at(mask, i), none = tensor::lowest(type);
  const Expr bias = mask.type().is_bool() ? ir::select(entry, real_constant(type, 0), none) : ir::cast(type, entry);
  const std::int64_t known = mask.rank() == 0 ? 1 : mask.shape().back();
  return known == 1 || known == op.shape(0)[3] ? bias : ir::select(i[3] < known, bias, none);
}

Result<void> check_mask(const Application& op) {
  if (op.rank(0) != 4) return op.fail("scores of {} axes, allowed are 4", op.rank(0));
  for (const std::size_t input : {2, 3})
    if (op.has(input) && op.shape(input) != tensor::Shape{op.shape(0)[0]})
      return op.fail("input {} of shape {}, allowed is [{}]", input, tensor::show_shape(op.shape(input)),
                     op.shape(0)[0]);
  if (op.has(4) && op.shape(4) != tensor::Shape{op.shape(0)[1]})
    return op.fail("sinks of shape {}, allowed is [{}]", tensor::show_shape(op.shape(4)), op.shape(0)[1]);
  if (!op.has(1)) return {};
  tensor::Shape shape = op.shape(1);
  if (!shape.empty() && shape.back() < op.shape(0)[3]) shape.back() = op.shape(0)[3];  // the rest is not seen
  const auto result = tensor::broadcast(op.op(), shape, op.shape(0));
  if (result && *result == op.shape(0)) return {};
  return op.fail("a mask of shape {} for scores of shape {}", tensor::show_shape(op.shape(1)),
                 tensor::show_shape(op.shape(0)));
}

/// scores, mask?, lengths?, starts?, sinks? -> weights, shown?
Result<std::vector<Tensor>> define_weights(const Application& op) {
  HONE_TRY(check_mask(op));
  const Tensor& scores = op.tensor(0);
  const auto wanted = ir_type(static_cast<ElementType>(op.integer("softmax_type", 0)));
  const ir::DType softmax_type = wanted && wanted->is_float() ? *wanted : scores.type();
  const ir::DType type = softmax_type == ir::kF64 ? ir::kF64 : accumulator_type(scores.type());
  // each step is rounded to the type it is defined in, sums are added in `type`
  const auto rounded = [&](const Expr& e) { return rounded_to(softmax_type, e); };
  const double cap = op.real("softcap", 0);
  const std::vector<tensor::Axis> axes = tensor::axes_of(scores.shape());
  const auto capped = [&](const Indices& i) {
    const Expr score = ir::cast(type, scores(i));
    if (cap <= 0) return score;
    return real_constant(type, cap) * ir::call(Intrinsic::Tanh, {score / real_constant(type, cap)});
  };
  const Tensor biased = tensor::compute("biased", axes, [&](const Indices& i) {
    const Expr bias = mask_bias(op, i, type), allowed = visible(op, i);
    const Expr score = ir::cast(scores.type(), bias ? capped(i) + bias : capped(i));
    return allowed ? ir::select(allowed, score, tensor::lowest(scores.type())) : score;
  });
  const ReducePlan plan(scores.shape(), {3}, /*keep=*/true);
  const Tensor largest = tensor::compute("max", tensor::axes_of(plan.kept()), [&](const Indices& i) {
    return tensor::reduce_max(plan.reduced(), [&](const Indices& r) { return biased(plan.element(i, r)); });
  });
  const bool is_plain = op.integer("plain_softmax", 0) != 0;
  const auto sink = [&](const Indices& i) { return ir::cast(type, op.tensor(4)(i[1])); };
  const Tensor base = tensor::compute("base", tensor::axes_of(plan.kept()), [&](const Indices& i) {
    const Expr e = largest(i);
    if (op.has(4)) return ir::max(ir::cast(type, e), sink(i));
    if (is_plain) return ir::cast(type, e);
    return ir::select(ir::eq(e, tensor::lowest(scores.type())), real_constant(type, 0), ir::cast(type, e));
  });
  const Tensor exponential = tensor::compute("exp", axes, [&](const Indices& i) {
    return rounded(ir::call(Intrinsic::Exp, {rounded(ir::cast(type, biased(i)) - base(plan.row(i)))}));
  });
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) { return exponential(i); });
  const Tensor weights = tensor::compute("weights", axes, [&](const Indices& i) {
    Expr total = rounded_sum(softmax_type, sum(plan.row(i)), plan.count());
    if (op.has(4)) total = total + rounded(ir::call(Intrinsic::Exp, {sink(i) - base(plan.row(i))}));
    if (is_plain) return ir::cast(scores.type(), rounded(exponential(i) / total));
    const Expr zero = real_constant(type, 0);
    return ir::cast(scores.type(), rounded(ir::select(ir::eq(total, zero), zero, exponential(i) / total)));
  });
  const std::int64_t shown = op.integer("shown", 0);
  if (shown == 1)
    return std::vector<Tensor>{
        weights, tensor::compute("capped", axes, [&](const Indices& i) { return ir::cast(scores.type(), capped(i)); })};
  if (shown == 2) return std::vector<Tensor>{weights, biased};
  if (shown == 3 && op.output_count() > 1)
    return std::vector<Tensor>{weights, tensor::map("shown", weights, [](const Expr& e) { return e; })};
  return std::vector<Tensor>{weights};
}

// ai.onnx Attention.

Result<AttentionOptions> options_of(const Application& op, std::int64_t head_size, std::int64_t past) {
  AttentionOptions options{
      .scale = op.real("scale", 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(head_size, 1)))),
      .softcap = op.real("softcap", 0),
      .is_causal = op.integer("is_causal", 0) != 0,
      .past = past,
      .left_window = op.integer("left_window_size", -1),
      .right_window = op.integer("right_window_size", -1),
      .shown = op.wants(3) ? op.integer("qk_matmul_output_mode", 0) : 0,
      .softmax_type = static_cast<ElementType>(op.integer("softmax_precision", 0)),
      .is_plain = op.integer("plain_softmax", 0) != 0};
  if (options.left_window < -1 || options.right_window < -1)
    return op.fail("windows {} and {}, allowed is -1 and more", options.left_window, options.right_window);
  if (options.shown < 0 || options.shown > 3)
    return op.fail("qk_matmul_output_mode {}, allowed are 0..3", options.shown);
  return options;
}

/// Q, K, V, attn_mask?, past_key?, past_value?, nonpad_kv_seqlen?
Result<std::vector<ValueId>> expand_attention(const Application& op, Builder& builder) {
  Parts parts(op, builder);
  Shaped q = parts.input(0), k = parts.input(1), v = parts.input(2);
  const bool is_flat = q.shape.size() == 3;
  if (k.shape.size() != q.shape.size() || v.shape.size() != q.shape.size() || (!is_flat && q.shape.size() != 4))
    return op.fail("inputs of {}, {} and {} axes, allowed are 3 or 4 each", q.shape.size(), k.shape.size(),
                   v.shape.size());
  if (is_flat) {
    const std::int64_t heads = op.integer("q_num_heads", 0), groups = op.integer("kv_num_heads", 0);
    if (heads < 1 || groups < 1 || q.shape[2] % heads != 0 || k.shape[2] % groups != 0 || v.shape[2] % groups != 0)
      return op.fail("q_num_heads {} and kv_num_heads {}, allowed are divisors of {}, {} and {}", heads, groups,
                     q.shape[2], k.shape[2], v.shape[2]);
    q = parts.split_heads(q, heads);
    k = parts.split_heads(k, groups);
    v = parts.split_heads(v, groups);
  }
  if (op.has(4) != op.has(5)) return op.fail("past_key and past_value must come together");
  std::int64_t past = 0;
  if (op.has(4)) {
    if (op.rank(4) != 4 || op.rank(5) != 4) return op.fail("a past of {} axes, allowed are 4", op.rank(4));
    past = op.shape(4)[2];
    k = parts.concat(parts.input(4), k, 2);
    v = parts.concat(parts.input(5), v, 2);
  }
  HONE_TRY(const AttentionOptions options, options_of(op, q.shape[3], past));
  HONE_TRY(const Attended attended, attend(op, parts, q, k, v, parts.input(3), parts.input(6), options));
  std::vector<ValueId> outputs = {is_flat ? parts.join_heads(attended.result).id : attended.result.id, k.id, v.id,
                                  attended.shown.id};
  // outputs that are an input as it came get values of their own
  for (std::size_t i = 1; i <= 2; ++i)
    if (op.wants(i) && outputs[i] == op.id(i)) outputs[i] = builder.add("Identity", {outputs[i]});
  outputs.resize(op.output_count());
  return outputs;
}

}  // namespace

std::span<const Operator> attention_operators() {
  static const Operator entries[] = {
      {.name = "Attention",
       .schema = "Q: T, K: T, V: U, attn_mask?: any, past_key?: T, past_value?: U, nonpad_kv_seqlen?: int64 -> Y: T, "
                 "present_key?: T, present_value?: U, qk_matmul_output?: T; is_causal, kv_num_heads, left_window_size, "
                 "plain_softmax, q_num_heads, qk_matmul_output_mode, right_window_size, scale, softcap, "
                 "softmax_precision; T: float, U: "
                 "float",
       .expand = expand_attention},
      {.name = "AttentionWeights",
       .domain = "hone",
       .schema = "scores: T, mask?: any, lengths?: index, starts?: index, sinks?: float -> weights: T, shown?: T; "
                 "is_causal, left_window, past, plain_softmax, right_window, shown, softcap, softmax_type; T: float",
       .define = define_weights},
  };
  return entries;
}

}  // namespace hone::graph
