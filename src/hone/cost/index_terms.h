/// Index expressions as sums of loops: how far each loop moves an access.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/ir/expr.h"

namespace hone::cost {

/// coefficient · ((loop / divisor) mod modulus), rounded down; no modulus if it is 0. Fused loops have divisors and
/// moduli, plain ones neither.
struct IndexTerm {
  std::int32_t loop;
  std::int64_t coefficient, divisor = 1, modulus = 0;

  /// How many values the term takes while its loop runs through `extent` iterations.
  std::int64_t values(std::int64_t extent) const;
};

/// constant + Σ terms. What is no such sum (an index loaded from memory, a minimum) is taken to move with the loops it
/// depends on.
struct IndexSum {
  std::vector<IndexTerm> terms;
  std::int64_t constant = 0;
};

/// What variables stand for, inner ones last.
class IndexScope {
 public:
  void clear() { entries_.clear(); }
  void add_loop(const ir::Expr& var, std::int32_t loop);
  void add_sum(const ir::Expr& var, IndexSum sum);
  void remove_last() { entries_.pop_back(); }

  /// Adds the terms of `scale` times an index expression; `lane_loop` is the loop that the lanes of vectors are taken
  /// for, -1 if there is none. Terms of one loop are merged where they can be.
  void add_terms(const ir::Expr& index, std::int64_t scale, std::int32_t lane_loop, IndexSum& sum) const;

 private:
  struct Entry {
    const void* var;
    std::int32_t loop;  // -1: `sum` counts
    IndexSum sum;
  };

  std::vector<Entry> entries_;
};

}  // namespace hone::cost
