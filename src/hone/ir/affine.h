/// Affine forms: index expressions as sums of variables times constants.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hone/ir/interval.h"
#include "hone/ir/region.h"
#include "hone/ir/stmt.h"

namespace hone::ir {

/// constant + Σ coefficient · variable; each variable once, no zero coefficient.
struct Affine {
  std::vector<std::pair<Expr, std::int64_t>> terms;
  std::int64_t constant = 0;

  /// 0 if the variable does not occur.
  std::int64_t coefficient(const Expr& var) const;
};

/// Whether the sum takes every value between its least and its greatest while the variables that `vars` knows run
/// through theirs and the others stand still.
bool leaves_no_gap(const Affine& sum, const Bounds& vars);

/// The affine form of an index expression, or nothing if it has none.
std::optional<Affine> to_affine(const Expr& e);
/// The expression, terms in the order that simplify gives them.
Expr to_expr(const Affine& affine);

}  // namespace hone::ir
