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
  bool is_bound(std::size_t slot) const { return values_[slot] || sums_[slot]; }
  void bind(std::size_t slot, const Expr& value) { values_[slot] = value; }
  void bind(std::size_t slot, Linear sum) { sums_[slot] = std::move(sum); }
  /// Forgets a binding.
  void unbind(std::size_t slot);
  /// The expression bound to a slot.
  const Expr& expr(std::size_t slot);
  /// Adds `scale` times what is bound to a slot.
  void add_to(Linear& sum, std::size_t slot, std::int64_t scale) const;

 private:
  std::array<Expr, kSlots> values_;
  std::array<std::optional<Linear>, kSlots> sums_;
};

/// Binds the variables of a pattern without sums so that it equals `e`; false if there is no way.
bool match(const Expr& pattern, const Expr& e, Match& found);

/// The value of a pattern that has only constants, under a match; nothing if it has variables or divides by zero.
std::optional<std::int64_t> constant_in(const Expr& pattern, const Match& found);

/// Calls `accept` for each way to group `sum` as `pattern`, which has the form p*c + y, until one is accepted.
/// `modulus` is the constant the rule compares or divides by.
bool match_sum(const Expr& pattern, const Linear& sum, std::int64_t modulus, Match& found,
               FunctionRef<bool(Match&)> accept);

/// Whether a pattern has the form p*c + y with `c` a constant's name.
bool is_sum_pattern(const Expr& pattern);

}  // namespace hone::ir
