/// The simplifier at work: one visit of an expression, with what is known around it.
#pragma once

#include <memory>
#include <vector>

#include "hone/ir/binary.h"
#include "hone/ir/linear.h"
#include "hone/ir/pattern.h"
#include "hone/ir/simplify.h"

namespace hone::ir {

/// Simplifies expressions under bounds and conditions. Internal to the simplifier's source files.
class Simplifier {
 public:
  explicit Simplifier(const Bounds& bounds, Evaluation evaluation = Evaluation::Lazy)
      : bounds_(&bounds), evaluation_(evaluation) {}

  /// The simplified expression; the same node if nothing changes.
  Expr visit(const Expr& e);

  /// How much was known at some point.
  struct Mark {
    std::size_t inequalities, truths, learnt_bounds;
    const Bounds* bounds;
  };
  Mark mark() const { return {inequalities_.size(), truths_.size(), learnt_bounds_.size(), bounds_}; }
  /// Remembers that a simplified scalar condition holds, or fails if not `holds`.
  void learn(const Expr& condition, bool holds);
  /// Remembers the values of a variable.
  void learn(const Expr& var, Interval values);
  /// Forgets what was learnt since the mark.
  void forget(const Mark& mark);

  const Bounds& bounds() const { return *bounds_; }

 private:
  Expr visit_kind(const Expr& e);
  Expr visit_binary(const Expr& e);
  Expr visit_select(const Expr& e);
  Expr visit_load(const Expr& e);
  Expr visit_cast(const Expr& e);

  // Index sums.
  void collect(const Expr& e, std::int64_t scale, Linear& sum);
  Expr product(const Expr& a, const Expr& b);
  Expr finish(Linear sum);
  bool join_digits(Linear& sum);

  // Operations on simplified operands.
  Expr binary(Kind kind, const Expr& a, const Expr& b);
  /// As binary, but null if there is nothing better than the operation itself.
  Expr improve(Kind kind, const Expr& a, const Expr& b);
  Expr improve_division(Kind kind, const Expr& a, const Expr& b);
  Expr improve_comparison(Kind kind, const Expr& a, const Expr& b);
  Expr improve_order(Linear difference);
  Expr improve_equality(Kind kind, Linear difference);
  Expr improve_lanes(Kind kind, const Expr& a, const Expr& b);
  Expr negation(const Expr& a);
  Expr choice(const Expr& condition, const Expr& a, const Expr& b);

  // Rules.
  Expr apply_rules(Kind kind, const Expr& a, const Expr& b);
  Expr apply_rules(const Expr& e);
  Expr apply_rule(const Rule& rule, const Operands& pattern, const Expr& a, const Expr& b, DType type);
  Expr apply_sum_rule(const Rule& rule, const SumPattern& pattern, const Linear& sum, std::int64_t modulus);
  Expr finish_rule(const Rule& rule, Match& found, DType type);
  /// The condition itself, or a constant if it is known to hold or to fail.
  Expr recall(const Expr& condition);
  bool proves(const Expr& when, const Match& found) const;
  /// What bounds and inequalities say about a sum.
  Interval values_of(const Linear& sum) const;
  Expr build(const Expr& pattern, Match& found);
  void build_sum(const Expr& pattern, std::int64_t scale, Match& found, Linear& sum);

  void learn_inequality(Linear at_most_zero);

  const Bounds* bounds_;
  Evaluation evaluation_;
  std::vector<Linear> inequalities_;  ///< each is known to be <= 0
  std::vector<Expr> truths_;          ///< other conditions that are known to hold
  std::vector<std::unique_ptr<Bounds>> learnt_bounds_;
};

/// Whether an expression is a scalar of the index type, for which all rules hold.
inline bool is_index(const Expr& e) { return e.type() == kIndex; }

}  // namespace hone::ir
