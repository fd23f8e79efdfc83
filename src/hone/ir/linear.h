/// Linear forms: index expressions as a constant plus coefficients times atoms, the working form of the simplifier.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/ir/interval.h"

namespace hone::ir {

/// One coefficient times an expression that is not itself a sum, a constant or a multiple.
struct Term {
  Expr atom;
  std::int64_t coefficient;
};

/// constant + Σ coefficient · atom. Each atom occurs once; a coefficient may become zero on the way.
struct Linear {
  std::vector<Term> terms;
  std::int64_t constant = 0;

  /// Adds `scale` times an atom.
  void add(const Expr& atom, std::int64_t scale);
  /// Adds `scale` times another form.
  void add(const Linear& other, std::int64_t scale);
  /// Adds `scale` times an index expression, looking through sums and constant factors.
  void add_sum(const Expr& e, std::int64_t scale);
  /// Adds `scale`.
  void add_constant(std::int64_t scale);

  /// Forgets atoms whose coefficient is zero.
  void drop_zeros();
  bool is_constant() const;
  bool is_zero() const { return constant == 0 && is_constant(); }
};

/// The linear form of an index expression.
Linear linear_of(const Expr& e);

/// The expression, its terms in a canonical order: positive coefficients first, large ones first, then by structure.
Expr to_expr(Linear form);

/// The values the form takes.
Interval bounds_of(const Linear& form, const Bounds& bounds);

/// Arithmetic that wraps instead of overflowing; for coefficients, which stay small in any program that runs.
std::int64_t wrapping_add(std::int64_t a, std::int64_t b);
std::int64_t wrapping_mul(std::int64_t a, std::int64_t b);

}  // namespace hone::ir
