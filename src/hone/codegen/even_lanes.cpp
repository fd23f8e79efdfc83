#include "hone/codegen/even_lanes.h"

#include "hone/ir/affine.h"
#include "hone/ir/binary.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// The value of lane number `lane`, or null if it does not follow from arithmetic on ramps and broadcasts.
Expr value_in_lane(const Expr& e, const Expr& lane) {
  if (const Ramp* node = e.as<Ramp>()) return node->base + node->stride * lane;
  if (const Broadcast* node = e.as<Broadcast>()) return node->value;
  const Operands operands = operands_of(e);
  if (!operands || e.type().element() != kIndex) return {};
  const Expr a = value_in_lane(*operands.a, lane), b = value_in_lane(*operands.b, lane);
  return a && b ? make_binary(e.kind(), a, b) : Expr();
}

}  // namespace

Expr even_lanes(const Expr& index, const Bounds& bounds) {
  if (!index.type().is_vector() || index.as<Ramp>() || index.as<Broadcast>()) return index;
  const int lanes = index.type().lanes;
  const Expr lane = var("lane");
  const Expr value = value_in_lane(index, lane);
  if (!value) return index;
  Bounds with_lane = bounds;
  with_lane.add_extent(lane, imm(lanes));
  const Expr simple = simplify(value, with_lane);
  const Expr first = simplify(substitute(simple, lane, imm(0)), bounds);
  const std::optional<Affine> rest = to_affine(simplify(simple - first, with_lane));
  if (!rest || rest->constant != 0) return index;
  if (rest->terms.empty()) return make(Broadcast{first}, lanes);
  if (rest->terms.size() != 1 || !rest->terms[0].first.is(lane)) return index;
  return make(Ramp{first, imm(rest->terms[0].second)}, lanes);
}

}  // namespace hone::codegen
