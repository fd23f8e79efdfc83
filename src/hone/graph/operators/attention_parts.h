/// The pieces that all attention operators are expanded into.
#pragma once

#include "hone/graph/operator.h"

namespace hone::graph {

/// Attributes from a list of names and values.
Attributes attributes_of(const std::vector<std::pair<std::string, Attribute>>& entries);
/// The attributes of a Transpose.
Attributes permutation(std::vector<std::int64_t> order);

/// With fewer queries, the one kernel of a fused attention, which brings keys into another order, costs more than it
/// saves.
inline constexpr std::int64_t kFewestFusedQueries = 8;

/// A value with its extents, which expansions keep track of.
struct Shaped {
  ValueId id = kAbsent;
  Shape shape = {};

  bool is_absent() const { return id == kAbsent; }
};

/// Adds nodes, and knows the shapes of what they give.
class Parts {
 public:
  Parts(const Application& op, Builder& builder) : op_(op), builder_(builder) {}

  Builder& builder() { return builder_; }
  /// Input `i`; absent if it is.
  Shaped input(std::size_t i) const;
  Shaped reshape(const Shaped& x, Shape shape);
  Shaped transpose(const Shaped& x, const std::vector<std::int64_t>& permutation);
  Shaped concat(const Shaped& a, const Shaped& b, std::int64_t axis);
  /// Entries [begin, end) of an axis.
  Shaped slice(const Shaped& x, std::int64_t axis, std::int64_t begin, std::int64_t end);
  Shaped cast(const Shaped& x, ElementType type);
  /// A node that keeps the shape of its first input.
  Shaped map(const std::string& op, const Shaped& x, std::vector<ValueId> others = {});

  /// [batch, position, heads · size] as [batch, heads, position, size], and back.
  Shaped split_heads(const Shaped& x, std::int64_t heads);
  Shaped join_heads(const Shaped& x);

 private:
  const Application& op_;
  Builder& builder_;
};

/// What becomes of scores before they are weights.
struct AttentionOptions {
  double scale = 1;
  double softcap = 0;
  bool is_causal = false;
  std::int64_t past = 0;  ///< keys before the first query's own position
  std::int64_t left_window = -1, right_window = -1;
  std::int64_t shown = 0;  ///< what the second result is: 0 scores, 1 capped, 2 with bias, 3 weights
  ElementType softmax_type = ElementType::Undefined;
  bool is_plain = false;     ///< a query that sees no key gives what Softmax makes of that, not zeros
  ValueId starts = kAbsent;  ///< per batch entry, keys before the first query's own position; takes the place of `past`
  ValueId sinks = kAbsent;   ///< per head, the score of a key without a value, which takes its part of the weights
};

/// The result of an attention, and the intermediate that `shown` names.
struct Attended {
  Shaped result, shown;
};

/// softmax(q · kᵀ · scale + bias) · v, heads apart: q[batch, heads, queries, size], k and v[batch, groups, keys, …],
/// where heads are a multiple of groups. `mask` broadcasts to [batch, heads, queries, keys], bools that say what may be
/// seen or numbers that are added; its last axis may be shorter than the keys. `lengths`[batch] counts the keys that
/// are there. A query that sees no key gives zeros.
Result<Attended> attend(const Application& op, Parts& parts, Shaped q, const Shaped& k, const Shaped& v,
                        const Shaped& mask, const Shaped& lengths, const AttentionOptions& options);

}  // namespace hone::graph
