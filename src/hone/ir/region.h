/// Access regions: the boxes of elements that statements touch, and whether iterations touch different ones.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"

namespace hone::ir {

/// The indices [min, min + extent) of one axis; both are null if nothing is known.
struct Range {
  Expr min, extent;
  bool is_known() const { return static_cast<bool>(min); }
};
/// A box of elements: one range per axis of a buffer.
using Region = std::vector<Range>;

/// The smallest range known to contain `index` (in every lane) while the variables in `inner` take all their values and
/// the others are fixed: `min` is an expression over the others, `extent` is constant where possible. `outer` may bound
/// the others, which helps to find a constant. Not known if there is no bound, as for a loaded index of 64 bits.
Range range_of(const Expr& index, const Bounds& inner, const Bounds& outer = {});

/// The smallest known box that contains both.
Region unite(const Region& a, const Region& b, const Bounds& outer = {});

enum class Access { Read, Write, Any };

/// The box of `buffer` that `s` accesses while the variables outside `s` (and outside `inner`) are fixed; nothing if
/// `s` does not access it. Block bindings and Lets are seen through; predicates, conditions and masks are taken to
/// hold. Not clipped to the buffer's shape: a guarded access may reach beyond it. An axis whose index is unknown
/// (loaded from memory, or over a loop of symbolic extent) is whole.
std::optional<Region> region_of(const Stmt& s, const Expr& buffer, Access access, const Bounds& inner = {},
                                const Bounds& outer = {});

/// The box clipped to the buffer's shape. Where neither `min` nor `extent` is constant and `outer` does not help, the
/// clipped range holds min and max expressions.
Region clip(const Region& region, const Expr& buffer, const Bounds& outer = {});

/// Whether distinct values of the variables in `vars` surely give distinct index tuples, all other variables being
/// fixed. Sees affine indices that are numbers in mixed radix, as fused, split and strided loops make them; false means
/// "not known".
bool is_injective(std::span<const Expr> indices, const Bounds& vars);

/// Whether two iterations of the loop over `var` surely touch no common element at `indices`, whatever the values of
/// the variables in `inner` (loops inside) in either of them; variables in neither are fixed. `values` are those of
/// `var`. False means "not known". A parallel loop may write so.
bool is_disjoint(std::span<const Expr> indices, const Expr& var, Interval values, const Bounds& inner);

}  // namespace hone::ir
