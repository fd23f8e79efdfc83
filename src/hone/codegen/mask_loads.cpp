#include "hone/codegen/mask_loads.h"

#include <algorithm>

#include "hone/codegen/conditions.h"
#include "hone/codegen/vector_ops.h"
#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// An element that is accessed in any case.
struct Element {
  Expr buffer, index;
};

/// Rewrites expressions under a condition (null: none) that says when the original would be evaluated.
class Masker {
 public:
  /// `touched`: elements known to lie inside their buffers; those that an expression loads in any case are added.
  Masker(const Bounds& bounds, std::vector<Element>& touched) : bounds_(bounds), touched_(touched) {}

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

  /// A mask that is there already is left as it is: what it loads is safe wherever the load itself may stand.
  Expr mask_load(const Expr& e, const Expr& condition) const {
    const Expr& old_mask = e.get<Load>().mask;
    const Expr mapped =
        map_children(e, [&](const Expr& child) { return child.is(old_mask) ? child : mask(child, condition); });
    const Load& node = mapped.get<Load>();
    if (!condition) {
      if (!node.mask && !has_load(node.indices.at(0))) touched_.push_back({node.buffer, node.indices[0]});
      return mapped;
    }
    const Expr added = missing_from(node.mask, condition);
    if (!added || is_inside(node)) return mapped;
    return make(Load{node.buffer, node.indices, with_lanes(both(node.mask, added), mapped.type().lanes)});
  }

  /// The conjuncts of `condition` that the mask does not ask already.
  static Expr missing_from(const Expr& mask, const Expr& condition) {
    const std::vector<Expr> asked = conjuncts(mask);
    std::vector<Expr> missing = conjuncts(condition);
    std::erase_if(missing, [&](const Expr& conjunct) {
      return std::any_of(asked.begin(), asked.end(), [&](const Expr& known) { return is_same(known, conjunct); });
    });
    return conjunction(missing);
  }

  /// Whether the conditions are equal, one of them perhaps in all lanes.
  static bool is_same(const Expr& a, const Expr& b) {
    const Broadcast *x = a.as<Broadcast>(), *y = b.as<Broadcast>();
    return equal(x && !y ? x->value : a, y && !x ? y->value : b);
  }

  bool is_inside(const Load& load) const {
    const auto size = as_int(load.buffer.get<Buffer>().shape.at(0));
    const Interval index = bounds_of(load.indices.at(0), bounds_);
    if (size && index.min >= 0 && index.max < *size) return true;
    return std::any_of(touched_.begin(), touched_.end(), [&](const Element& element) {
      return element.buffer.is(load.buffer) && equal(element.index, load.indices[0]);
    });
  }

  Expr safe_divisor(const Expr& divisor, const Expr& condition) const {
    if (!condition || !divisor.type().is_integer() || !may_be_zero(divisor)) return divisor;
    return select(condition, divisor, constant(divisor.type(), std::int64_t{1}));
  }

  bool may_be_zero(const Expr& divisor) const {
    const Interval values = bounds_of(divisor, bounds_);
    return values.min <= 0 && values.max >= 0;
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
  std::vector<Element>& touched_;
};

/// What a guard says about single variables.
void learn(const Expr& condition, Bounds& bounds) {
  for (const Expr& conjunct : conjuncts(condition)) {
    const Lt* lt = conjunct.as<Lt>();
    const Le* le = conjunct.as<Le>();
    if (!lt && !le) continue;
    const Expr &a = lt ? lt->a : le->a, &b = lt ? lt->b : le->b;
    const std::int64_t strict = lt ? 1 : 0;
    if (a.as<Var>() && as_int(b)) bounds.add(a, {bounds.of(a).min, std::min(bounds.of(a).max, *as_int(b) - strict)});
    if (b.as<Var>() && as_int(a)) bounds.add(b, {std::max(bounds.of(b).min, *as_int(a) + strict), bounds.of(b).max});
  }
}

Stmt mask_below(const Stmt& s, const Bounds& bounds, std::vector<Element> touched) {
  Bounds inner = bounds;
  if (const For* loop = s.as<For>()) inner.add_extent(loop->var, loop->extent);
  if (const Store* store = s.as<Store>(); store && !store->mask) touched.push_back({store->buffer, store->indices[0]});
  const If* branch = s.as<If>();
  if (branch) learn(branch->condition, inner);
  return map_children(
      s,
      [&](const Stmt& child) {
        const bool is_otherwise = branch && child.is(branch->otherwise);
        return mask_below(child, is_otherwise ? bounds : inner, touched);
      },
      [&](const Expr& e) { return Masker(bounds, touched).mask(e, {}); });
}

}  // namespace

Function mask_loads(const Function& function) {
  return {function.name, function.params, mask_below(function.body, {}, {})};
}

}  // namespace hone::codegen
