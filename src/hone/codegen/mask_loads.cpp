#include "hone/codegen/mask_loads.h"

#include "hone/codegen/conditions.h"
#include "hone/codegen/vector_ops.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// Rewrites expressions under a condition (null: none) that says when the original would be evaluated.
class Masker {
 public:
  explicit Masker(const Bounds& bounds) : bounds_(bounds) {}

  Expr mask(const Expr& e, const Expr& condition) const {
    switch (e.kind()) {
      case Kind::Var:
      case Kind::Buffer:
      case Kind::IntImm:
      case Kind::FloatImm:
        return e;
      case Kind::Select:
        return mask_select(e, condition);
      case Kind::And:
        return mask_logic<And>(e, condition);
      case Kind::Or:
        return mask_logic<Or>(e, condition);
      case Kind::Load:
        return mask_load(e, condition);
      case Kind::Div:
        return mask_division<Div>(e, condition);
      case Kind::FloorDiv:
        return mask_division<FloorDiv>(e, condition);
      case Kind::FloorMod:
        return mask_division<FloorMod>(e, condition);
      case Kind::Call:
        return mask_call(e, condition);
      default:
        return map_children(e, [&](const Expr& child) { return mask(child, condition); });
    }
  }

 private:
  Expr mask_select(const Expr& e, const Expr& condition) const {
    const Select& node = e.get<Select>();
    const Expr chosen = mask(node.condition, condition);
    const Expr a = mask(node.a, both(condition, chosen));
    const Expr b = mask(node.b, both(condition, negate(chosen)));
    if (chosen.is(node.condition) && a.is(node.a) && b.is(node.b)) return e;
    return select(chosen, a, b);
  }

  template <typename Node>
  Expr mask_logic(const Expr& e, const Expr& condition) const {
    const Node& node = e.get<Node>();
    const Expr a = mask(node.a, condition);
    const Expr b = mask(node.b, both(condition, kind_of<Node> == Kind::And ? a : negate(a)));
    return a.is(node.a) && b.is(node.b) ? e : make(Node{a, b});
  }

  static Expr negate(const Expr& condition) {
    if (const Not* node = condition.as<Not>()) return node->a;
    if (const Lt* node = condition.as<Lt>(); node && !node->a.type().is_float()) return make(Le{node->b, node->a});
    if (const Le* node = condition.as<Le>(); node && !node->a.type().is_float()) return make(Lt{node->b, node->a});
    return logical_not(condition);
  }

  Expr mask_load(const Expr& e, const Expr& condition) const {
    const Expr mapped = map_children(e, [&](const Expr& child) { return mask(child, condition); });
    if (!condition) return mapped;
    const Load& node = mapped.get<Load>();
    if (is_inside(node)) return mapped;
    return make(Load{node.buffer, node.indices, with_lanes(both(node.mask, condition), mapped.type().lanes)});
  }

  bool is_inside(const Load& load) const {
    const auto size = as_int(load.buffer.get<Buffer>().shape.at(0));
    const Interval index = bounds_of(load.indices.at(0), bounds_);
    return size && index.min >= 0 && index.max < *size;
  }

  Expr safe_divisor(const Expr& divisor, const Expr& condition) const {
    if (!condition || !divisor.type().is_integer() || as_int(divisor)) return divisor;
    return select(condition, divisor, constant(divisor.type(), std::int64_t{1}));
  }

  template <typename Node>
  Expr mask_division(const Expr& e, const Expr& condition) const {
    const Node& node = e.get<Node>();
    const Expr a = mask(node.a, condition), b = safe_divisor(mask(node.b, condition), condition);
    return a.is(node.a) && b.is(node.b) ? e : make(Node{a, b});
  }

  Expr mask_call(const Expr& e, const Expr& condition) const {
    const Expr mapped = map_children(e, [&](const Expr& child) { return mask(child, condition); });
    const Call& node = mapped.get<Call>();
    if (node.function != Intrinsic::Fmod) return mapped;
    return call(Intrinsic::Fmod, {node.args[0], safe_divisor(node.args[1], condition)});
  }

  const Bounds& bounds_;
};

Stmt mask_below(const Stmt& s, const Bounds& bounds) {
  Bounds inner = bounds;
  if (const For* loop = s.as<For>()) inner.add_extent(loop->var, loop->extent);
  return map_children(
      s, [&](const Stmt& child) { return mask_below(child, inner); },
      [&](const Expr& e) { return Masker(bounds).mask(e, {}); });
}

}  // namespace

Function mask_loads(const Function& function) {
  return {function.name, function.params, mask_below(function.body, {})};
}

}  // namespace hone::codegen
