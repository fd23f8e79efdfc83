#include <cmath>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/microsoft.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

double scale_of(const Application& op, std::int64_t head_size) {
  const double stated = op.real("scale", 0);
  return stated != 0 ? stated : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(head_size, 1)));
}

/// The columns [begin, end) of a vector or of the last axis.
Shaped columns(Parts& parts, const Shaped& x, std::int64_t begin, std::int64_t end) {
  return parts.slice(x, static_cast<std::int64_t>(x.shape.size()) - 1, begin, end);
}

// Masks.

/// A mask of numbers, in any of the forms that are allowed, as what is added to scores [batch, 1, 1 or queries, keys]:
/// lengths [batch]; ends and starts [2 · batch]; 1 or 0 for each key [batch, keys] or query and key [batch, queries,
/// keys] or [batch, 1, all, all].
Result<std::vector<Tensor>> define_mask(const Application& op) {
  const Tensor& mask = op.tensor(0);
  const std::int64_t batch = op.integer("batch", 1), queries = op.integer("queries", 1), keys = op.integer("keys", 1);
  const auto type = ir_type(static_cast<ElementType>(op.integer("to", 1)));
  if (!type || !type->is_float()) return op.fail("type {}, allowed are float types", op.integer("to", 1));
  const double filter = op.real("mask_filter_value", -10000);
  const bool is_vector = mask.rank() == 1;
  const bool fits = (is_vector && (mask.extent(0) == batch || mask.extent(0) == 2 * batch)) ||
                    mask.shape() == tensor::Shape{batch, keys} || mask.shape() == tensor::Shape{batch, queries, keys} ||
                    (mask.rank() == 4 && mask.extent(0) == batch && mask.extent(1) == 1 && mask.extent(2) >= keys &&
                     mask.extent(3) >= keys);
  if (!fits)
    return op.fail("a mask of shape {} for a batch of {} with {} queries and {} keys", tensor::show_shape(mask.shape()),
                   batch, queries, keys);
  const std::int64_t rows = mask.rank() > 2 ? queries : 1;
  return std::vector<Tensor>{tensor::compute("mask_bias", {batch, 1, rows, keys}, [&](const Indices& i) {
    Expr is_seen;
    const auto at = [&](const Indices& indices) { return ir::cast(ir::kI64, mask(indices)); };
    if (is_vector) is_seen = i[3] < at({i[0]});
    if (is_vector && mask.extent(0) == 2 * batch && mask.extent(0) != batch)
      is_seen = ir::logical_and(is_seen, i[3] >= at({i[0] + batch}));
    if (mask.rank() == 2) is_seen = at({i[0], i[3]}) > ir::imm(0);
    if (mask.rank() == 3) is_seen = at({i[0], i[2], i[3]}) > ir::imm(0);
    if (mask.rank() == 4) is_seen = at({i[0], ir::imm(0), i[2] + (keys - queries), i[3]}) > ir::imm(0);
    return ir::select(is_seen, ir::constant(*type, 0.0), ir::constant(*type, filter));
  })};
}

/// The mask of input `i` as something to add; absent if there is none.
Shaped mask_of(const Application& op, Parts& parts, std::size_t i, ElementType type, std::int64_t batch,
               std::int64_t queries, std::int64_t keys) {
  if (!op.has(i)) return {};
  const Attributes attributes =
      attributes_of({{"batch", batch},
                     {"queries", queries},
                     {"keys", keys},
                     {"to", static_cast<std::int64_t>(type)},
                     {"mask_filter_value", static_cast<float>(op.real("mask_filter_value", -10000))}});
  const std::int64_t rows = op.rank(i) > 2 ? queries : 1;
  return {parts.builder().add_node("hone", "MaskBias", {op.id(i)}, 1, attributes)[0], {batch, 1, rows, keys}};
}

/// Both of two things to add.
Shaped sum_of(Parts& parts, const Shaped& a, const Shaped& b) {
  if (a.is_absent() || b.is_absent()) return a.is_absent() ? b : a;
  const auto shape = tensor::broadcast("mask", a.shape, b.shape);
  return {parts.builder().add("Add", {a.id, b.id}), shape ? *shape : a.shape};
}

// Attention and QAttention.

/// What both have: heads, widths of query, key and value, and where the inputs after the projection stand.
struct Packed {
  std::size_t mask, past, bias;
};

Result<std::vector<ValueId>> attend_packed(const Application& op, Parts& parts, const Shaped& qkv,
                                           const Packed& places) {
  const std::int64_t batch = qkv.shape[0], queries = qkv.shape[1], heads = op.integer("num_heads", 0);
  std::vector<std::int64_t> widths = op.integers("qkv_hidden_sizes");
  if (widths.empty()) widths.assign(3, qkv.shape[2] / 3);
  if (widths.size() != 3 || widths[0] + widths[1] + widths[2] != qkv.shape[2] || heads < 1 || widths[0] % heads != 0 ||
      widths[1] != widths[0] || widths[2] % heads != 0)
    return op.fail("num_heads {} and qkv_hidden_sizes {} do not fit {} columns", heads, tensor::show_shape(widths),
                   qkv.shape[2]);
  const auto part = [&](std::size_t n) {
    const std::int64_t begin = n == 0 ? 0 : n == 1 ? widths[0] : widths[0] + widths[1];
    return parts.split_heads(columns(parts, qkv, begin, begin + widths[n]), heads);
  };
  const Shaped q = part(0);
  Shaped k = part(1), v = part(2);
  std::int64_t past = 0;
  if (op.has(places.past)) {
    const Shaped both = parts.input(places.past);
    if (both.shape.size() != 5 || both.shape[0] != 2)
      return op.fail("a past of shape {}", tensor::show_shape(both.shape));
    past = both.shape[3];
    const Shape each(both.shape.begin() + 1, both.shape.end());
    k = parts.concat(parts.reshape(parts.slice(both, 0, 0, 1), each), k, 2);
    v = parts.concat(parts.reshape(parts.slice(both, 0, 1, 2), each), v, 2);
  }
  const ElementType type =
      ElementType::F32 == op.type(0) || !runtime::is_float(op.type(0)) ? ElementType::F32 : op.type(0);
  const Shaped mask = sum_of(parts, mask_of(op, parts, places.mask, type, batch, queries, k.shape[2]),
                             places.bias != 0 ? parts.input(places.bias) : Shaped{});
  const AttentionOptions options{
      .scale = scale_of(op, q.shape[3]), .is_causal = op.integer("unidirectional", 0) != 0, .past = past};
  HONE_TRY(const Attended attended, attend(op, parts, q, k, v, mask, {}, options));
  std::vector<ValueId> outputs = {parts.join_heads(attended.result).id};
  if (op.output_count() > 1) {
    const auto stacked = [&](const Shaped& x) {
      Shape shape = x.shape;
      shape.insert(shape.begin(), 1);
      return parts.reshape(x, shape);
    };
    outputs.push_back(parts.concat(stacked(k), stacked(v), 0).id);
  }
  return outputs;
}

Result<void> check_projection(const Application& op, std::size_t input, std::size_t weight) {
  if (op.rank(input) == 3 && op.rank(weight) == 2 && op.shape(weight)[0] == op.shape(input)[2]) return {};
  return op.fail("an input of shape {} and weights of shape {}", tensor::show_shape(op.shape(input)),
                 tensor::show_shape(op.shape(weight)));
}

/// input, weights, bias?, mask_index?, past?, attention_bias?
Result<std::vector<ValueId>> expand_microsoft_attention(const Application& op, Builder& builder) {
  HONE_TRY(check_projection(op, 0, 1));
  if (op.integer("do_rotary", 0) != 0) return op.unsupported("do_rotary 1, allowed is 0");
  Parts parts(op, builder);
  Shaped qkv{builder.add("MatMul", {op.id(0), op.id(1)}), {op.shape(0)[0], op.shape(0)[1], op.shape(1)[1]}};
  if (op.has(2)) qkv = parts.map("Add", qkv, {op.id(2)});
  return attend_packed(op, parts, qkv, {.mask = 3, .past = 4, .bias = 5});
}

/// input, weight, bias, input_scale, weight_scale, mask_index?, input_zero_point?, weight_zero_point?, past?
Result<std::vector<ValueId>> expand_quantized_attention(const Application& op, Builder& builder) {
  HONE_TRY(check_projection(op, 0, 1));
  if (op.integer("do_rotary", 0) != 0) return op.unsupported("do_rotary 1, allowed is 0");
  Parts parts(op, builder);
  const auto optional = [&](std::size_t i) { return op.has(i) ? op.id(i) : kAbsent; };
  const ValueId product =
      builder.add_node(std::string(kMicrosoft), "MatMulIntegerToFloat",
                       {op.id(0), op.id(1), op.id(3), op.id(4), optional(6), optional(7), op.id(2)}, 1)[0];
  return attend_packed(op, parts, {product, {op.shape(0)[0], op.shape(0)[1], op.shape(1)[1]}},
                       {.mask = 5, .past = 8, .bias = 0});
}

// MultiHeadAttention.

/// Query, key and value by heads.
struct Heads {
  Shaped q, k, v;
};

/// query, key?, value?, bias?: separate, or packed into the first one or two.
Result<Heads> heads_of(const Application& op, Parts& parts, std::int64_t heads) {
  Shaped query = parts.input(0), key = parts.input(1), value = parts.input(2), bias = parts.input(3);
  const auto unpack = [&](const Shaped& packed, std::int64_t n) {  // [batch, position, head, which, size]
    const Shaped one = parts.slice(packed, 3, n, n + 1);
    return parts.reshape(one, {packed.shape[0], packed.shape[1], packed.shape[2] * packed.shape[4]});
  };
  if (query.shape.size() == 5) {
    value = unpack(query, 2);
    key = unpack(query, 1);
    query = unpack(query, 0);
  } else if (key.shape.size() == 5) {
    value = unpack(key, 1);
    key = unpack(key, 0);
  }
  if (query.shape.size() != 3 || key.is_absent() || value.is_absent() || query.shape[2] % heads != 0)
    return op.fail("a query of shape {} with {} heads, and key and value", tensor::show_shape(query.shape), heads);
  const auto with_bias = [&](const Shaped& x, std::int64_t begin) {
    if (bias.is_absent()) return x;
    return parts.map("Add", x, {columns(parts, bias, begin, begin + x.shape[2]).id});
  };
  const std::int64_t width = query.shape[2];
  for (const Shaped& x : {key, value})
    if (x.shape.size() != 4 && (x.shape.size() != 3 || x.shape[2] % heads != 0))
      return op.fail("key or value of shape {} with {} heads", tensor::show_shape(x.shape), heads);
  if (!bias.is_absent() && bias.shape != Shape{2 * width + (value.shape.size() == 3 ? value.shape[2] : width)})
    return op.fail("a bias of shape {}", tensor::show_shape(bias.shape));
  const auto by_heads = [&](const Shaped& x, std::int64_t begin) {
    return x.shape.size() == 4 ? x : parts.split_heads(with_bias(x, begin), heads);
  };
  return Heads{by_heads(query, 0), by_heads(key, width), by_heads(value, 2 * width)};
}

/// …, key_padding_mask?, attention_bias?, past_key?, past_value?
Result<std::vector<ValueId>> expand_multi_head_attention(const Application& op, Builder& builder) {
  const std::int64_t heads = op.integer("num_heads", 0);
  if (heads < 1) return op.fail("num_heads {}, allowed is 1 and more", heads);
  Parts parts(op, builder);
  HONE_TRY(Heads all, heads_of(op, parts, heads));
  std::int64_t past = 0;
  if (op.has(6) != op.has(7)) return op.fail("past_key and past_value must come together");
  if (op.has(6) && (op.rank(6) != 4 || op.rank(7) != 4)) return op.fail("a past of {} axes, allowed are 4", op.rank(6));
  if (op.has(6) && op.rank(1) != 4) {
    past = op.shape(6)[2];
    all.k = parts.concat(parts.input(6), all.k, 2);
    all.v = parts.concat(parts.input(7), all.v, 2);
  }
  const Shaped mask =
      sum_of(parts, mask_of(op, parts, 4, op.type(0), all.q.shape[0], all.q.shape[2], all.k.shape[2]), parts.input(5));
  const AttentionOptions options{
      .scale = scale_of(op, all.q.shape[3]), .is_causal = op.integer("unidirectional", 0) != 0, .past = past};
  HONE_TRY(const Attended attended, attend(op, parts, all.q, all.k, all.v, mask, {}, options));
  std::vector<ValueId> outputs = {parts.join_heads(attended.result).id, all.k.id, all.v.id, attended.shown.id};
  for (std::size_t i = 1; i <= 2; ++i)
    if (op.wants(i) && outputs[i] == op.id(i)) outputs[i] = builder.add("Identity", {outputs[i]});
  outputs.resize(op.output_count());
  return outputs;
}

// GroupQueryAttention.

/// seqlens_k (keys in all, less 1) -> how many keys there are in all, how many before these queries, and positions.
Result<std::vector<Tensor>> define_key_counts(const Application& op) {
  const Tensor& last = op.tensor(0);
  const std::int64_t batch = op.integer("batch", 1), queries = op.integer("queries", 1);
  if (last.shape() != tensor::Shape{batch} && last.shape() != tensor::Shape{batch, 1})
    return op.fail("seqlens_k of shape {}, allowed is [{}]", tensor::show_shape(last.shape()), batch);
  const auto count = [&](const Expr& b) {
    return ir::cast(ir::kI64, last.rank() == 1 ? last(b) : last(b, ir::imm(0))) + 1;
  };
  const auto before = [&](const Expr& b) { return ir::max(count(b) - queries, ir::imm(0)); };
  return std::vector<Tensor>{
      tensor::compute("counts", {batch}, [&](const Indices& i) { return count(i[0]); }),
      tensor::compute("before", {batch}, [&](const Indices& i) { return before(i[0]); }),
      tensor::compute("positions", {batch, queries}, [&](const Indices& i) { return before(i[0]) + i[1]; })};
}

/// fresh, before, past?: the fresh keys behind those of the past, in a buffer of `keys`; zeros after them.
Result<std::vector<Tensor>> define_append(const Application& op) {
  const Tensor &fresh = op.tensor(0), &before = op.tensor(1);
  const std::int64_t keys = op.integer("keys", 1);
  if (fresh.rank() != 4 || (op.has(2) && op.rank(2) != 4))
    return op.fail("keys of {} axes, allowed are 4", fresh.rank());
  const tensor::Shape shape = {fresh.extent(0), fresh.extent(1), keys, fresh.extent(3)};
  if (keys < 0 || before.shape() != tensor::Shape{fresh.extent(0)})
    return op.fail("{} keys, and {} starts for a batch of {}", keys, before.shape().size(), fresh.extent(0));
  for (const std::size_t axis : {0, 1, 3})
    if (op.has(2) && op.shape(2)[axis] != shape[axis])
      return op.fail("a past of shape {} for {}", tensor::show_shape(op.shape(2)), tensor::show_shape(shape));
  return std::vector<Tensor>{tensor::compute("present", tensor::axes_of(shape), [&](const Indices& i) {
    const Expr start = before(i[0]), offset = i[2] - start, zero = ir::constant(fresh.type(), std::int64_t{0});
    const Expr is_fresh = ir::logical_and(offset >= 0, offset < fresh.extent(2));
    Expr old = zero;
    if (op.has(2))
      old = ir::select(ir::logical_and(i[2] < start, i[2] < op.tensor(2).extent(2)), op.tensor(2)(i), zero);
    return ir::select(is_fresh, fresh(i[0], i[1], offset, i[3]), old);
  })};
}

/// query (or all three packed), key?, value?, past_key?, past_value?, seqlens_k, total_sequence_length, cos?, sin?,
/// position_ids?, attention_bias?, head_sink?
Result<std::vector<ValueId>> expand_group_query_attention(const Application& op, Builder& builder) {
  const std::int64_t heads = op.integer("num_heads", 0), groups = op.integer("kv_num_heads", 0);
  Parts parts(op, builder);
  Shaped q = parts.input(0), k = parts.input(1), v = parts.input(2);
  if (heads < 1 || groups < 1 || heads % groups != 0 || q.shape.size() != 3)
    return op.fail("num_heads {} and kv_num_heads {} for a query of shape {}", heads, groups,
                   tensor::show_shape(q.shape));
  if (k.is_absent()) {
    const Shaped packed = q;
    if (packed.shape[2] % (heads + 2 * groups) != 0)
      return op.fail("{} columns for {} heads", packed.shape[2], heads + 2 * groups);
    const std::int64_t size = packed.shape[2] / (heads + 2 * groups);
    q = columns(parts, packed, 0, heads * size);
    k = columns(parts, packed, heads * size, (heads + groups) * size);
    v = columns(parts, packed, (heads + groups) * size, (heads + 2 * groups) * size);
  }
  if (v.is_absent() || k.shape.size() != 3 || v.shape.size() != 3)
    return op.fail("key and value of 3 axes are missing");
  HONE_TRY(const std::vector<std::int64_t> total, op.ints(6));
  if (total.size() != 1) return op.fail("total_sequence_length of {} elements, allowed is 1", total.size());
  for (const std::size_t past : {3, 4})
    if (op.has(past) && op.rank(past) != 4) return op.fail("a past of {} axes, allowed are 4", op.rank(past));
  if (k.shape[2] % groups != 0 || v.shape[2] % groups != 0 || q.shape[2] % heads != 0)
    return op.fail("{}, {} and {} columns for {} and {} heads", q.shape[2], k.shape[2], v.shape[2], heads, groups);
  q = parts.split_heads(q, heads);
  k = parts.split_heads(k, groups);
  v = parts.split_heads(v, groups);
  const std::int64_t batch = q.shape[0], queries = q.shape[2];
  const std::vector<ValueId> counts =
      builder.add_node("hone", "KeyCounts", {op.id(5)}, 3, attributes_of({{"batch", batch}, {"queries", queries}}));
  if (op.integer("do_rotary", 0) != 0) {
    if (!op.has(7) || !op.has(8)) return op.fail("do_rotary without cos_cache and sin_cache");
    const ValueId positions = op.has(9) ? op.id(9) : counts[2];
    const Attributes attributes = attributes_of(
        {{"interleaved", op.integer("rotary_interleaved", 0)}, {"rotary_embedding_dim", 2 * op.shape(7).back()}});
    const auto rotated = [&](const Shaped& x) {
      return Shaped{builder.add_node(std::string(kMicrosoft), "RotaryEmbedding", {x.id, positions, op.id(7), op.id(8)},
                                     1, attributes)[0],
                    x.shape};
    };
    q = rotated(q);
    k = rotated(k);
  }
  const std::int64_t room = op.has(3) ? op.shape(3)[2] : 0, keys = std::max(room, total[0]);
  const auto present = [&](const Shaped& fresh, std::size_t past) {
    return Shaped{builder.add_node("hone", "AppendKeys", {fresh.id, counts[1], op.has(past) ? op.id(past) : kAbsent}, 1,
                                   attributes_of({{"keys", keys}}))[0],
                  {batch, groups, keys, fresh.shape[3]}};
  };
  k = present(k, 3);
  v = present(v, 4);
  ValueId sinks = op.has(11) ? op.id(11) : kAbsent;
  if (sinks == kAbsent && op.integer("smooth_softmax", 0) > 0)  // a sink of score 0 for each head
    sinks = builder.constant(runtime::Tensor::of<float>({heads}, std::vector<float>(static_cast<std::size_t>(heads))));
  const std::int64_t window = op.integer("local_window_size", -1);
  const AttentionOptions options{.scale = scale_of(op, q.shape[3]),
                                 .softcap = op.real("softcap", 0),
                                 .is_causal = true,
                                 .left_window = window > 0 ? window - 1 : -1,
                                 .starts = counts[1],
                                 .sinks = sinks};
  HONE_TRY(const Attended attended, attend(op, parts, q, k, v, parts.input(10), {counts[0], {batch}}, options));
  std::vector<ValueId> outputs = {parts.join_heads(attended.result).id, k.id, v.id, attended.shown.id};
  outputs.resize(op.output_count());
  return outputs;
}

}  // namespace

std::span<const Operator> microsoft_attention_operators() {
  static const Operator entries[] = {
      microsoft(
          "Attention",
          "input: T, weights: T, bias?: T, mask_index?: int32, past?: T, attention_bias?: T, past_sequence_length?: "
          "int32 -> output: T, present?: T; do_rotary, mask_filter_value, num_heads, past_present_share_buffer, "
          "qkv_hidden_sizes, rotary_embedding_dim, scale, unidirectional; T: float",
          expand_microsoft_attention),
      microsoft("QAttention",
                "input: uint8|int8, weight: uint8|int8, bias: T, input_scale: T, weight_scale: T, mask_index?: int32, "
                "input_zero_point?: uint8|int8, weight_zero_point?: uint8|int8, past?: T -> output: T, present?: T; "
                "do_rotary, mask_filter_value, num_heads, past_present_share_buffer, scale, unidirectional; T: float",
                expand_quantized_attention),
      microsoft(
          "MultiHeadAttention",
          "query: T, key?: T, value?: T, bias?: T, key_padding_mask?: int32, attention_bias?: T, past_key?: T, "
          "past_value?: T, past_sequence_length?: int32, cache_indirection?: int32 -> output: T, present_key?: T, "
          "present_value?: T, qk?: T; mask_filter_value, num_heads, scale, unidirectional; T: float",
          expand_multi_head_attention),
      microsoft(
          "GroupQueryAttention",
          "query: T, key?: T, value?: T, past_key?: T, past_value?: T, seqlens_k: int32, total_sequence_length: "
          "int32, cos_cache?: T, sin_cache?: T, position_ids?: int64, attention_bias?: T, head_sink?: T -> output: "
          "T, present_key?: T, present_value?: T, output_qk?: T; do_rotary, k_quant_type, kv_cache_bit_width, "
          "kv_num_heads, local_window_size, num_heads, qk_output, rotary_interleaved, scale, smooth_softmax, "
          "softcap, v_quant_type; T: float",
          expand_group_query_attention),
      {.name = "MaskBias",
       .domain = "hone",
       .schema = "mask: index|bool -> bias; batch, keys, mask_filter_value, queries, to",
       .define = define_mask},
      {.name = "KeyCounts",
       .domain = "hone",
       .schema = "last: index -> counts, before, positions; batch, queries",
       .define = define_key_counts},
      {.name = "AppendKeys",
       .domain = "hone",
       .schema = "fresh: T, before: int64, past?: T -> present: T; keys; T: float",
       .define = define_append},
  };
  return entries;
}

}  // namespace hone::graph
