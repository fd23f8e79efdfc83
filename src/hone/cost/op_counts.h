/// How many operations of which sort an expression takes.
#pragma once

#include <array>

#include "hone/ir/expr.h"

namespace hone::cost {

/// Sorts of arithmetic, for floats and integers alike. A comparison is also a minimum or maximum.
enum class Op : std::uint8_t { MultiplyAdd, AddSub, Multiply, Divide, Compare, Math, Call };
inline constexpr std::size_t kOpSorts = 7;

struct OpCounts {
  std::array<double, kOpSorts> floats = {}, ints = {};
  double bools = 0, selects = 0;

  /// The work on tensors: a multiply-add is two operations. Of integers only products count, since sums and comparisons
  /// are mostly about indices.
  double arithmetic() const;
};

/// Adds the operations of evaluating `e` once, the arithmetic of indices excepted.
void count_ops(const ir::Expr& e, OpCounts& counts);

}  // namespace hone::cost
