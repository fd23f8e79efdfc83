/// Patterns: how rewrite rules are matched against simplified expressions.
///
/// A pattern is an ordinary expression over the variables below. A sum `p*c0 + y` matches any grouping of a sum's
/// terms: if `p` is a variable, all terms divisible by a candidate for c0 on one side and the rest on the other; else
/// one term whose atom matches `p` and the rest.
#pragma once

#include <array>
#include <optional>

#include "hone/ir/linear.h"
#include "hone/support/function_ref.h"

namespace hone::ir {

/// The variables of patterns.
struct PatternVars {
  Expr x, y, z;         ///< any index expression
  Expr v, w;            ///< any expression of any type
  Expr n;               ///< any expression of any integer type
  Expr p, q;            ///< any bool expression
  Expr c0, c1, c2, c3;  ///< any index constant
};
const PatternVars& pattern_vars();

/// The place of a pattern variable in a Match, in the order of PatternVars; nothing for another expression.
std::optional<std::size_t> slot_of(const Expr& variable);
inline constexpr std::size_t kFirstConstant = 8, kSlots = 12;

/// What the variables of a pattern stand for.
class Match {
 public:
  bool is_bound(std::size_t slot) const { return values_[slot] || is_sum(slot); }
  void bind(std::size_t slot, const Expr& value) { values_[slot] = value; }
  /// Binds one of `x`, `y`, `z` to a sum, in place of what it was bound to.
  void bind(std::size_t slot, Linear sum);
  /// The expression bound to a slot.
  const Expr& expr(std::size_t slot);
  /// The value of a constant's slot; nothing for other or unbound slots.
  std::optional<std::int64_t> constant(std::size_t slot) const;
  /// Adds `scale` times what is bound to a slot.
  void add_to(Linear& sum, std::size_t slot, std::int64_t scale) const;

 private:
  static constexpr std::size_t kSums = 3;
  bool is_sum(std::size_t slot) const { return slot < kSums && is_sum_[slot]; }

  std::array<Expr, kSlots> values_;
  std::array<Linear, kSums> sums_;
  std::array<bool, kSums> is_sum_ = {};
};

/// Binds the variables of a pattern without sums so that it equals `e`; false if there is no way.
bool match(const Expr& pattern, const Expr& e, Match& found);

/// A quick test that rules out most patterns before match().
bool may_match(const Expr& pattern, const Expr& e);

/// The value of a pattern that has only constants, under a match; nothing if it has variables or divides by zero.
std::optional<std::int64_t> constant_in(const Expr& pattern, const Match& found);

/// A pattern of the form p*c + y, where `c` is a constant's slot and `y` that of a variable.
struct SumPattern {
  Expr factor;
  std::size_t coefficient, rest;
};
std::optional<SumPattern> to_sum_pattern(const Expr& pattern);

/// Calls `accept` for each way to group `sum` as the pattern until one is accepted. `modulus` is the constant the rule
/// compares or divides by.
bool match_sum(const SumPattern& pattern, const Linear& sum, std::int64_t modulus, Match& found,
               FunctionRef<bool(Match&)> accept);

}  // namespace hone::ir
