#include "hone/graph/operators/attention_parts.h"

#include <cmath>

#include "hone/tensor/shapes.h"

namespace hone::graph {

Attributes attributes_of(const std::vector<std::pair<std::string, Attribute>>& entries) {
  Attributes attributes;
  for (const auto& [name, value] : entries) attributes.set(name, value);
  return attributes;
}

Attributes permutation(std::vector<std::int64_t> order) { return attributes_of({{"perm", std::move(order)}}); }

Shaped Parts::input(std::size_t i) const { return op_.has(i) ? Shaped{op_.id(i), op_.shape(i)} : Shaped{}; }

Shaped Parts::reshape(const Shaped& x, Shape shape) {
  if (x.shape == shape) return x;
  const ValueId id =
      builder_.add("Reshape", {x.id, builder_.ints(shape)}, attributes_of({{"allowzero", std::int64_t{1}}}));
  return {id, std::move(shape)};
}

Shaped Parts::transpose(const Shaped& x, const std::vector<std::int64_t>& permutation) {
  Shape shape;
  for (const std::int64_t axis : permutation) shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  return {builder_.add("Transpose", {x.id}, attributes_of({{"perm", permutation}})), std::move(shape)};
}

Shaped Parts::concat(const Shaped& a, const Shaped& b, std::int64_t axis) {
  Shape shape = a.shape;
  shape[static_cast<std::size_t>(axis)] += b.shape[static_cast<std::size_t>(axis)];
  return {builder_.add("Concat", {a.id, b.id}, attributes_of({{"axis", axis}})), std::move(shape)};
}

Shaped Parts::slice(const Shaped& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  Shape shape = x.shape;
  shape[static_cast<std::size_t>(axis)] = end - begin;
  const ValueId id = builder_.add("Slice", {x.id, builder_.ints({begin}), builder_.ints({end}), builder_.ints({axis})});
  return {id, std::move(shape)};
}

Shaped Parts::cast(const Shaped& x, ElementType type) {
  return {builder_.add("Cast", {x.id}, attributes_of({{"to", static_cast<std::int64_t>(type)}})), x.shape};
}

Shaped Parts::map(const std::string& op, const Shaped& x, std::vector<ValueId> others) {
  others.insert(others.begin(), x.id);
  return {builder_.add(op, std::move(others)), x.shape};
}

Shaped Parts::split_heads(const Shaped& x, std::int64_t heads) {
  return transpose(reshape(x, {x.shape[0], x.shape[1], heads, x.shape[2] / heads}), {0, 2, 1, 3});
}

Shaped Parts::join_heads(const Shaped& x) {
  return reshape(transpose(x, {0, 2, 1, 3}), {x.shape[0], x.shape[2], x.shape[1] * x.shape[3]});
}

namespace {

Result<void> check_operands(const Application& op, const Shaped& q, const Shaped& k, const Shaped& v) {
  const auto show = [](const Shaped& x) { return tensor::show_shape(x.shape); };
  if (q.shape.size() != 4 || k.shape.size() != 4 || v.shape.size() != 4)
    return op.fail("query {}, key {} and value {} by heads, allowed are 4 axes each", show(q), show(k), show(v));
  if (q.shape[3] != k.shape[3]) return op.fail("heads of {} in the query and {} in the key", q.shape[3], k.shape[3]);
  if (k.shape[2] != v.shape[2]) return op.fail("{} keys and {} values", k.shape[2], v.shape[2]);
  if (q.shape[0] != k.shape[0] || q.shape[0] != v.shape[0])
    return op.fail("batches of {}, {} and {}", q.shape[0], k.shape[0], v.shape[0]);
  if (k.shape[1] != v.shape[1] || k.shape[1] < 1 || q.shape[1] % k.shape[1] != 0)
    return op.fail("{} heads with {} for keys and {} for values, allowed are multiples of equal counts", q.shape[1],
                   k.shape[1], v.shape[1]);
  return {};
}

/// Whether one kernel computes all of the attention: nothing but the result is wanted, and no step is rounded.
bool is_fused(const Application& op, const Shaped& q, const AttentionOptions& options) {
  const bool is_plain_type = options.softmax_type == ElementType::Undefined || options.softmax_type == ElementType::F32;
  return op.type(0) == ElementType::F32 && is_plain_type && !op.wants(3) && q.shape[2] >= kFewestFusedQueries;
}

}  // namespace

Result<Attended> attend(const Application& op, Parts& parts, Shaped q, const Shaped& k, const Shaped& v,
                        const Shaped& mask, const Shaped& lengths, const AttentionOptions& options) {
  HONE_TRY(check_operands(op, q, k, v));
  const std::int64_t batch = q.shape[0], heads = q.shape[1], queries = q.shape[2], keys = k.shape[2];
  const std::int64_t groups = k.shape[1], rows = heads / groups * queries;  // the queries of all heads that share keys
  Builder& builder = parts.builder();
  Attributes attributes = attributes_of({{"softcap", static_cast<float>(options.softcap)},
                                         {"is_causal", std::int64_t{options.is_causal}},
                                         {"past", options.past},
                                         {"left_window", options.left_window},
                                         {"right_window", options.right_window},
                                         {"plain_softmax", std::int64_t{options.is_plain}}});
  if (is_fused(op, q, options)) {
    attributes.set("scale", static_cast<float>(options.scale));
    const ValueId y = builder.add_node("hone", "FusedAttention",
                                       {q.id, k.id, v.id, mask.id, lengths.id, options.starts, options.sinks}, 1,
                                       std::move(attributes))[0];
    return Attended{{y, {batch, heads, queries, v.shape[3]}}, {}};
  }
  q = parts.reshape(q, {batch, groups, rows, q.shape[3]});
  Shaped key = k;
  double scale = options.scale;
  if (const ElementType type = op.type(0); runtime::bytes_of(type) == 2 && scale > 0) {
    // narrow types are scaled on both sides, so that the product does not overflow
    const ValueId root = builder.scalar(type, std::sqrt(scale));
    q = parts.map("Mul", q, {root});
    key = parts.map("Mul", key, {root});
    scale = 1;
  }
  const ValueId product =
      builder.add_node("com.microsoft", "FusedMatMul", {q.id, key.id}, 1,
                       attributes_of({{"transB", std::int64_t{1}}, {"alpha", static_cast<float>(scale)}}))[0];
  const Shaped scores = parts.reshape({product, {batch, groups, rows, keys}}, {batch, heads, queries, keys});

  attributes.set("shown", options.shown);
  attributes.set("softmax_type", static_cast<std::int64_t>(options.softmax_type));
  const bool shows_more = options.shown != 0;
  const std::vector<ValueId> weights =
      builder.add_node("hone", "AttentionWeights", {scores.id, mask.id, lengths.id, options.starts, options.sinks},
                       shows_more ? 2 : 1, std::move(attributes));
  const Shaped folded = parts.reshape({weights[0], scores.shape}, {batch, groups, rows, keys});
  const Shape result = {batch, groups, rows, v.shape[3]};
  const Shaped y{builder.add("MatMul", {folded.id, v.id}), result};
  return Attended{parts.reshape(y, {batch, heads, queries, v.shape[3]}),
                  shows_more ? Shaped{weights[1], scores.shape} : scores};
}

}  // namespace hone::graph
