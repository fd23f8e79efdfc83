#include "hone/codegen/widen.h"

#include <algorithm>

#include "hone/codegen/conditions.h"
#include "hone/codegen/vector_ops.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

class Widener {
 public:
  Widener(const Expr& var, const Expr& base, int lanes, const Bounds& bounds)
      : var_(var), base_(base), lanes_(lanes), bounds_(bounds) {
    wide_.emplace_back(var, make(Ramp{base, imm(1)}, lanes));
  }

  bool has_failed() const { return failed_; }

  Stmt widen(const Stmt& s) {
    switch (s.kind()) {
      case Kind::Store:
        return widen_store(s.get<Store>());
      case Kind::If:
        return widen_if(s.get<If>());
      case Kind::For:
        return widen_for(s);
      case Kind::Let:
        return widen_let(s.get<Let>());
      case Kind::Evaluate:
        return widen_evaluate(s);
      case Kind::Seq:
      case Kind::Barrier:
        return map_children(s, [&](const Stmt& child) { return widen(child); });
      default:
        return fail(s);  // an allocation would have to exist once per lane
    }
  }

 private:
  template <typename Node>
  Node fail(const Node& unchanged) {
    failed_ = true;
    return unchanged;
  }

  /// The expression in all lanes; a scalar if all lanes agree.
  Expr widen(const Expr& e) {
    switch (e.kind()) {
      case Kind::IntImm:
      case Kind::FloatImm:
      case Kind::Buffer:
        return e;
      case Kind::Var:
        for (const auto& [scalar, vector] : wide_)
          if (scalar.is(e)) return vector;
        return e;
      case Kind::Load:
        return widen_load(e);
      case Kind::Add:
        return e.type() == kIndex ? add(widen(e.get<Add>().a), widen(e.get<Add>().b)) : widen_elementwise(e);
      case Kind::Sub:
        return e.type() == kIndex ? subtract(widen(e.get<Sub>().a), widen(e.get<Sub>().b)) : widen_elementwise(e);
      case Kind::Mul:
        return e.type() == kIndex ? multiply(widen(e.get<Mul>().a), widen(e.get<Mul>().b)) : widen_elementwise(e);
      case Kind::Div:
        return widen_division<Div>(e);
      case Kind::FloorDiv:
        return widen_division<FloorDiv>(e);
      case Kind::FloorMod:
        return widen_division<FloorMod>(e);
      case Kind::Call:
        return widen_call(e);
      default:
        return widen_elementwise(e);
    }
  }

  /// Nodes whose lanes do not mix: operands are broadcast where one of them is a vector.
  Expr widen_elementwise(const Expr& e) {
    bool is_wide = false;
    std::vector<Expr> operands;
    for_each_child(e, [&](const Expr& child) {
      operands.push_back(widen(child));
      is_wide |= !operands.back().is(child) && operands.back().type().is_vector();
    });
    if (is_wide && e.type().is_vector()) return fail(e);  // vectors of vectors
    std::size_t next = 0;
    const bool is_select = e.kind() == Kind::Select;
    return map_children(e, [&](const Expr&) {
      const Expr operand = operands[next++];
      const bool stays_scalar = !is_wide || (is_select && next == 1);
      return stays_scalar ? operand : with_lanes(operand, lanes_);
    });
  }

  Expr widen_call(const Expr& e) {
    switch (e.get<Call>().function) {
      case Intrinsic::ReduceAdd:
      case Intrinsic::ReduceMul:
      case Intrinsic::ReduceMin:
      case Intrinsic::ReduceMax:
      case Intrinsic::Dot2:
      case Intrinsic::Dot4:
      case Intrinsic::Prefetch:
      case Intrinsic::PrefetchL2:
        return depends_on_lane(e) ? fail(e) : e;
      case Intrinsic::Fmod:
        return widen_fmod(e);
      default:
        return widen_elementwise(e);
    }
  }

  /// Lanes that are masked off must not divide by zero.
  Expr safe_divisor(const Expr& divisor) {
    if (!mask_ || !divisor.type().is_integer() || as_int(divisor)) return divisor;
    const DType type = divisor.type().with_lanes(lanes_);
    return select(mask_, with_lanes(divisor, lanes_), constant(type, std::int64_t{1}));
  }

  template <typename Node>
  Expr widen_division(const Expr& e) {
    const Node& node = e.get<Node>();
    const Expr a = widen(node.a), b = safe_divisor(widen(node.b));
    if (a.is(node.a) && b.is(node.b)) return e;
    const int lanes = std::max(a.type().lanes, b.type().lanes);
    const Expr wide = make(Node{with_lanes(a, lanes), with_lanes(b, lanes)});
    if (e.type() != kIndex || !as_int(b)) return wide;
    const std::optional<Expr> ramp = as_ramp(e);
    return ramp ? *ramp : wide;
  }

  Expr widen_fmod(const Expr& e) {
    const Call& node = e.get<Call>();
    const Expr a = widen(node.args[0]), b = safe_divisor(widen(node.args[1]));
    if (a.is(node.args[0]) && b.is(node.args[1])) return e;
    const int lanes = std::max(a.type().lanes, b.type().lanes);
    return call(Intrinsic::Fmod, {with_lanes(a, lanes), with_lanes(b, lanes)});
  }

  /// An index that grows by a constant from lane to lane (perhaps 0), as the simplifier can show.
  std::optional<Expr> as_ramp(const Expr& e) {
    if (wide_.size() > 1) return std::nullopt;  // let-bound vectors have no scalar value to put in
    const Expr lane = var("lane");
    Bounds bounds = bounds_;
    bounds.add(lane, {0, lanes_ - 2});
    const Expr here = substitute(e, var_, base_ + lane), next = substitute(e, var_, base_ + lane + 1);
    const auto stride = as_int(simplify(next - here, bounds));
    if (!stride) return std::nullopt;
    const Expr first = simplify(substitute(e, var_, base_), bounds_);
    return *stride == 0 ? first : make(Ramp{first, imm(*stride)}, lanes_);
  }

  bool depends_on_lane(const Expr& e) const {
    return std::any_of(wide_.begin(), wide_.end(), [&](const auto& entry) { return uses(e, entry.first); });
  }

  Expr widen_load(const Expr& e) {
    if (!depends_on_lane(e)) return e;  // the guards around hold for some lane, so the load is legal
    if (e.type().is_vector()) return fail(e);
    const Load& node = e.get<Load>();
    const Expr index = widen(node.indices.at(0));
    const Expr own_mask = node.mask ? widen(node.mask) : node.mask;
    if (!index.type().is_vector() && !(own_mask && own_mask.type().is_vector()))
      return make(Load{node.buffer, {index}, own_mask});
    const Expr mask = both(mask_, own_mask);
    return make(Load{node.buffer, {with_lanes(index, lanes_)}, mask ? with_lanes(mask, lanes_) : mask});
  }

  Stmt widen_store(const Store& node) {
    const Expr index = widen(node.indices.at(0)), value = widen(node.value);
    const Expr mask = both(mask_, node.mask ? widen(node.mask) : node.mask);
    if (node.value.type().is_vector() || node.indices[0].type().is_vector()) failed_ = true;
    if (!index.type().is_vector()) failed_ = true;
    if (failed_) return make(Store(node));
    return make(Store{node.buffer, {index}, with_lanes(value, lanes_), mask ? with_lanes(mask, lanes_) : mask});
  }

  /// The conjunct at the lane where it holds if it holds for any, provided there is such a lane.
  std::optional<Expr> for_any_lane(const Expr& conjunct) {
    const Lt* lt = conjunct.as<Lt>();
    const Le* le = conjunct.as<Le>();
    if (!lt && !le) return std::nullopt;
    const Expr slack = subtract(widen(lt ? lt->b : le->b), widen(lt ? lt->a : le->a));
    const Ramp* ramp = slack.as<Ramp>();
    const auto slope = ramp ? as_int(ramp->stride) : std::nullopt;
    if (!slope) return std::nullopt;
    const int lane = *slope < 0 ? 0 : lanes_ - 1;
    return substitute(conjunct, var_, base_ + lane);
  }

  Stmt widen_if(const If& node) {
    std::vector<Expr> for_all, for_some, by_lane;
    for (const Expr& conjunct : conjuncts(node.condition)) {
      const Expr wide = widen(conjunct);
      if (!wide.type().is_vector()) {
        for_all.push_back(wide);
        continue;
      }
      const std::optional<Expr> any = for_any_lane(conjunct);
      if (!any || wide_.size() > 1) return fail(make(If(node)));
      by_lane.push_back(wide);
      if (!can_prove(*any, bounds_)) for_some.push_back(simplify(*any, bounds_));
    }
    if (by_lane.empty())
      return make(If{node.condition, widen(node.then), node.otherwise ? widen(node.otherwise) : Stmt()});
    if (node.otherwise) return fail(make(If(node)));

    const Expr outer_mask = mask_;
    mask_ = both(mask_, conjunction(by_lane));
    const Stmt then = widen(node.then);
    mask_ = outer_mask;
    return guarded(both(conjunction(for_all), conjunction(for_some)), then);
  }

  Stmt widen_for(const Stmt& s) {
    const For& node = s.get<For>();
    if (depends_on_lane(node.extent)) return fail(s);
    const Bounds outer = bounds_;
    bounds_.add_extent(node.var, node.extent);
    const Stmt result = map_children(s, [&](const Stmt& child) { return widen(child); });
    bounds_ = outer;
    return result;
  }

  Stmt widen_let(const Let& node) {
    const Expr value = widen(node.value);
    if (!value.type().is_vector() || node.value.type().is_vector()) return make(Let{node.var, value, widen(node.body)});
    const Expr wide = var(name_of(node.var), value.type());
    wide_.emplace_back(node.var, wide);
    const Stmt body = widen(node.body);
    wide_.pop_back();
    return make(Let{wide, value, body});
  }

  /// A prefetch of the first lane's address stands for all lanes.
  Stmt widen_evaluate(const Stmt& s) { return wide_.size() > 1 ? fail(s) : substitute(s, var_, base_); }

  Expr var_, base_;
  int lanes_;
  Bounds bounds_;
  Substitution wide_;  ///< variables that differ between lanes, and their vectors
  Expr mask_;          ///< the lanes for which the guards around hold; null: all
  bool failed_ = false;
};

}  // namespace

std::optional<Stmt> widen(const Stmt& s, const Expr& var, const Expr& base, int lanes, const Bounds& bounds) {
  Widener widener(var, base, lanes, bounds);
  Stmt result = widener.widen(s);
  if (widener.has_failed()) return std::nullopt;
  return result;
}

}  // namespace hone::codegen
