#include <cmath>
#include <functional>
#include <limits>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/attention_weights.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/key_blocks.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// scores, mask?, lengths?, starts?, sinks? -> weights, shown?
Result<std::vector<Tensor>> define_weights(const Application& op) {
  if (op.rank(0) != 4) return op.fail("scores of {} axes, allowed are 4", op.rank(0));
  const Tensor& scores = op.tensor(0);
  const Weighing weighing(op, /*first=*/1, scores);
  HONE_TRY(weighing.check());
  const std::vector<tensor::Axis> axes = tensor::axes_of(scores.shape());
  const Tensor biased = weighing.biased();
  const Weighing::Row row = weighing.weigh(biased);
  const bool is_plain = op.integer("plain_softmax", 0) != 0;
  const Tensor weights = tensor::compute("weights", axes, [&](const Indices& i) {
    const Expr total = row.total(i), weight = row.exponential(i) / total;
    const Expr zero = real_constant(total.type(), 0);
    const Expr held = is_plain ? weight : ir::select(ir::eq(total, zero), zero, weight);
    return ir::cast(scores.type(), weighing.rounded(held));
  });
  const std::int64_t shown = op.integer("shown", 0);
  if (shown == 1)
    return std::vector<Tensor>{weights, tensor::compute("capped", axes, [&](const Indices& i) {
                                 return ir::cast(scores.type(), weighing.capped(i));
                               })};
  if (shown == 2) return std::vector<Tensor>{weights, biased};
  if (shown == 3 && op.output_count() > 1)
    return std::vector<Tensor>{weights, tensor::map("shown", weights, [](const Expr& e) { return e; })};
  return std::vector<Tensor>{weights};
}

// softmax(q · kᵀ) · v in one expression.

/// How a tensor by heads is stored: [batch, heads, position, size], or positions before heads.
class ByHeads {
 public:
  ByHeads(const Tensor& x, bool has_positions_first) : x_(x), is_swapped_(has_positions_first) {}

  std::int64_t heads() const { return x_.extent(is_swapped_ ? 2 : 1); }
  std::int64_t positions() const { return x_.extent(is_swapped_ ? 1 : 2); }
  Expr operator()(const Expr& batch, const Expr& head, const Expr& position, const Expr& e) const {
    return is_swapped_ ? x_(batch, position, head, e) : x_(batch, head, position, e);
  }

 private:
  Tensor x_;
  bool is_swapped_;
};

/// What weighs the values, and their sum with these weights, before it is divided by the total.
struct Weighed {
  Tensor sums;
  std::function<Expr(const Indices& element)> total;
};

/// q, k, v, mask?, lengths?, starts?, sinks? -> y
Result<std::vector<Tensor>> define_fused(const Application& op) {
  for (const std::size_t input : {0, 1, 2})
    if (op.rank(input) != 4) return op.fail("input {} of {} axes, allowed are 4", input, op.rank(input));
  const auto is_swapped = [&](std::int64_t operand) { return (op.integer("positions_first", 0) >> operand & 1) != 0; };
  const ByHeads q(op.tensor(0), is_swapped(0)), k(op.tensor(1), is_swapped(1)), v(op.tensor(2), is_swapped(2));
  const std::int64_t batch = op.shape(0)[0], size = op.shape(0)[3], columns = op.shape(2)[3];
  if (op.shape(1)[0] != batch || op.shape(2)[0] != batch || op.shape(1)[3] != size || k.heads() != v.heads() ||
      k.positions() != v.positions() || k.heads() < 1 || q.heads() % k.heads() != 0)
    return op.fail("query {}, key {} and value {} do not fit together", tensor::show_shape(op.shape(0)),
                   tensor::show_shape(op.shape(1)), tensor::show_shape(op.shape(2)));
  const std::int64_t heads = q.heads(), each = heads / k.heads(), queries = q.positions(), keys = k.positions();
  const auto group = [&](const Expr& head) { return each == 1 ? head : ir::floor_div(head, each); };

  const Tensor scores =
      tensor::compute("scores", tensor::axes_of({batch, heads, queries, keys}), [&](const Indices& i) {
        return tensor::reduce_sum(
            {size}, [&](const Indices& r) { return q(i[0], i[1], i[2], r[0]) * k(i[0], group(i[1]), i[3], r[0]); });
      });
  const Weighing weighing(op, /*first=*/3, scores);
  HONE_TRY(weighing.check());
  const auto value = [&](const Indices& i, const Expr& key, const Expr& column) {
    return v(i[0], group(i[1]), key, column);
  };
  const auto in_blocks = [&]() -> Weighed {
    const tensor::KeyBlocks blocks(weighing.biased(), op.algorithm().key_block, columns, value);
    const Tensor base = weighing.base(blocks.largest());
    const auto [total, attended] = blocks.sums(base);
    return {attended, [&weighing, base, sum = total](const Indices& i) { return weighing.total(sum, base, i); }};
  };
  const auto at_once = [&]() -> Weighed {
    const Weighing::Row row = weighing.weigh(weighing.biased());
    const auto axes = tensor::axes_of({batch, heads, queries, columns});
    return {tensor::compute("attended", axes,
                            [&](const Indices& i) {
                              return tensor::reduce_sum({keys}, [&](const Indices& r) {
                                return row.exponential(i[0], i[1], i[2], r[0]) * value(i, r[0], i[3]);
                              });
                            }),
            row.total};
  };
  const bool has_blocks = op.algorithm().key_block > 0 && scores.type() == ir::kF32;
  const Weighed weighed = has_blocks ? in_blocks() : at_once();
  const bool is_plain = op.integer("plain_softmax", 0) != 0;
  const Tensor factor = tensor::compute("factor", tensor::axes_of({batch, heads, queries, 1}), [&](const Indices& i) {
    const Expr total = weighed.total(i), one = real_constant(total.type(), 1), zero = real_constant(total.type(), 0);
    return is_plain ? one / total : ir::select(ir::eq(total, zero), zero, one / total);
  });
  const bool is_result_swapped = is_swapped(3);
  const tensor::Shape shape = is_result_swapped ? tensor::Shape{batch, queries, heads, columns} : weighed.sums.shape();
  return std::vector<Tensor>{tensor::compute("attention", tensor::axes_of(shape), [&](const Indices& i) {
    const Expr &head = i[is_result_swapped ? 2 : 1], &query = i[is_result_swapped ? 1 : 2];
    return weighed.sums(i[0], head, query, i[3]) * factor(i[0], head, query, ir::imm(0));
  })};
}

// ai.onnx Attention.

Result<AttentionOptions> attention_options(const Application& op, std::int64_t head_size, std::int64_t past) {
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
  HONE_TRY(const AttentionOptions options, attention_options(op, q.shape[3], past));
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
      {.name = "FusedAttention",
       .domain = "hone",
       .schema = "q: T, k: T, v: T, mask?: any, lengths?: index, starts?: index, sinks?: float -> y: T; is_causal, "
                 "left_window, past, plain_softmax, positions_first, right_window, scale, softcap; T: float",
       .define = define_fused},
  };
  return entries;
}

}  // namespace hone::graph
