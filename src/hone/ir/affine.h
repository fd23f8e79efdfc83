/// Affine analysis: index expressions as sums of variables times constants, and the regions that accesses touch.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"

namespace hone::ir {

/// constant + Σ coefficient · variable; each variable once, no zero coefficient.
struct Affine {
  std::vector<std::pair<Expr, std::int64_t>> terms;
  std::int64_t constant = 0;

  /// 0 if the variable does not occur.
  std::int64_t coefficient(const Expr& var) const;
};

/// The affine form of an index expression, or nothing if it has none.
std::optional<Affine> to_affine(const Expr& e);
Expr to_expr(const Affine& affine);

/// The indices [min, min + extent) of one axis.
struct Range {
  Expr min, extent;
};
/// A box of elements: one range per axis of a buffer.
using Region = std::vector<Range>;

/// The smallest range known to contain `index` while the variables in `inner` take all their values and the others are
/// fixed: `min` is an expression over the others, `extent` is constant where possible.
Range range_of(const Expr& index, const Bounds& inner);

/// The smallest known box that contains both.
Region unite(const Region& a, const Region& b);

enum class Access { Read, Write, Any };

/// The box of `buffer` that `s` accesses while the variables outside `s` (and outside `inner`) are fixed; nothing if
/// `s` does not access it. Block bindings are seen through. Not clipped to the buffer's shape: a guarded access may
/// reach beyond it.
std::optional<Region> region_of(const Stmt& s, const Expr& buffer, Access access, const Bounds& inner = {});

/// The box clipped to the buffer's shape.
Region clip(const Region& region, const Expr& buffer);

}  // namespace hone::ir
