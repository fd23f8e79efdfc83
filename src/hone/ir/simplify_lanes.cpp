#include "hone/ir/binary.h"
#include "hone/ir/fold.h"
#include "hone/ir/order.h"
#include "hone/ir/simplifier.h"

namespace hone::ir {

namespace {

/// A vector whose lane number l is base + l · stride.
struct Lanes {
  Expr base, stride;
};

std::optional<Lanes> lanes_of(const Expr& e) {
  if (const Ramp* node = e.as<Ramp>()) return Lanes{node->base, node->stride};
  if (const Broadcast* node = e.as<Broadcast>())
    return Lanes{node->value, constant(e.type().element(), std::int64_t{0})};
  return std::nullopt;
}

Expr to_vector(const Lanes& lanes, int count) {
  if (is_int(lanes.stride, 0)) return make(Broadcast{lanes.base}, count);
  return make(Ramp{lanes.base, lanes.stride}, count);
}

}  // namespace

/// Vectors of equal or evenly spaced lanes are computed as scalars.
Expr Simplifier::improve_lanes(Kind kind, const Expr& a, const Expr& b) {
  const int count = a.type().lanes;
  const Broadcast *left = a.as<Broadcast>(), *right = b.as<Broadcast>();
  if (left && right) return make(Broadcast{binary(kind, left->value, right->value)}, count);
  if (a.type().element() != kIndex) return {};
  const auto x = lanes_of(a), y = lanes_of(b);
  if (!x || !y) return {};

  const auto both = [&](Kind k) {
    return to_vector({binary(k, x->base, y->base), binary(k, x->stride, y->stride)}, count);
  };
  if (kind == Kind::Add || kind == Kind::Sub) return both(kind);
  if (kind == Kind::Mul && (left || right)) {
    const Lanes& ramp = left ? *y : *x;
    const Expr& factor = left ? left->value : right->value;
    return to_vector({binary(kind, ramp.base, factor), binary(kind, ramp.stride, factor)}, count);
  }

  const auto last = [&](const Lanes& lanes) {
    return binary(Kind::Add, lanes.base, binary(Kind::Mul, lanes.stride, imm(count - 1)));
  };
  if (kind == Kind::Lt || kind == Kind::Le) {
    // The difference of two ramps rises or falls all the way, so lanes between two equal answers have that answer.
    const Expr first = binary(kind, x->base, y->base);
    if (same(first, binary(kind, last(*x), last(*y)))) return make(Broadcast{first}, count);
  }
  if (kind == Kind::Min || kind == Kind::Max) {
    const Kind order = Kind::Le;
    const Expr first = binary(order, x->base, y->base);
    const auto known = as_int(first);
    if (known && same(first, binary(order, last(*x), last(*y)))) return (*known == 1) == (kind == Kind::Min) ? a : b;
  }
  const auto divisor = right ? as_int(right->value) : std::nullopt;
  if (!divisor || *divisor <= 0 || (kind != Kind::FloorDiv && kind != Kind::FloorMod)) return {};
  const auto stride = as_int(x->stride);
  if (stride && *stride % *divisor == 0) {
    const Expr first = binary(kind, x->base, right->value);
    return to_vector({first, imm(kind == Kind::FloorDiv ? *stride / *divisor : 0)}, count);
  }
  const Expr first = binary(Kind::FloorDiv, x->base, right->value);
  if (!same(first, binary(Kind::FloorDiv, last(*x), right->value))) return {};
  if (kind == Kind::FloorDiv) return make(Broadcast{first}, count);
  return to_vector({binary(Kind::FloorMod, x->base, right->value), x->stride}, count);
}

}  // namespace hone::ir
