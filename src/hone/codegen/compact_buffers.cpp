#include "hone/codegen/compact_buffers.h"

#include <algorithm>

#include "hone/codegen/buffer_uses.h"
#include "hone/codegen/vector_ops.h"
#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// Finds the place of one buffer's allocation and makes the smaller buffer.
class Compactor {
 public:
  Compactor(const Expr& buffer, const Stmt& scope) : buffer_(buffer), uses_(uses_of_buffer(scope, buffer)) {}

  /// `s`, which contains all accesses, with the allocation at its best place inside.
  Stmt place(const Stmt& s, const Bounds& bounds) {
    if (const Seq* sequence = s.as<Seq>()) return place_in(*sequence, bounds);
    if (const For* loop = s.as<For>()) {
      Bounds inner = bounds;
      inner.add_extent(loop->var, loop->extent);
      const bool can_enter = loop->how != ForKind::Vectorized && !uses(loop->extent, buffer_) &&
                             is_private_to_iteration(uses_, buffer_, loop->var, inner);
      if (!can_enter) return allocate(s);
      outer_.push_back(loop->var);
      return map_children(s, [&](const Stmt& child) { return place(child, inner); });
    }
    if (const If* node = s.as<If>(); node && !node->otherwise && !uses(node->condition, buffer_))
      return make(If{.condition = node->condition, .then = place(node->then, bounds)});
    if (const Allocate* node = s.as<Allocate>()) return make(Allocate{node->buffer, place(node->body, bounds)});
    return allocate(s);
  }

 private:
  Stmt place_in(const Seq& sequence, const Bounds& bounds) {
    const auto accesses = [&](const Stmt& s) { return uses(s, buffer_); };
    const auto first = std::find_if(sequence.stmts.begin(), sequence.stmts.end(), accesses);
    const auto last = std::find_if(sequence.stmts.rbegin(), sequence.stmts.rend(), accesses).base();
    std::vector<Stmt> result(sequence.stmts.begin(), first);
    result.push_back(last - first == 1 ? place(*first, bounds) : allocate(seq({first, last})));
    result.insert(result.end(), last, sequence.stmts.end());
    return seq(std::move(result));
  }

  /// The elements of one axis that are touched while the loops outside of the allocation are fixed.
  Range touched(std::size_t axis) const {
    const Expr& shape = buffer_.get<Buffer>().shape[axis];
    const Range whole{imm(0), shape};
    Expr origin;
    std::int64_t low = 0, high = 0;
    for (const BufferUse& use : uses_) {
      const Range range = range_of(use.indices[axis], inner_bounds(use));
      const auto extent = range.extent ? as_int(range.extent) : std::nullopt;
      if (!extent || !is_over_outer(range.min)) return whole;
      if (!origin) origin = range.min;
      const auto distance = as_int(simplify(range.min - origin));
      if (!distance) return whole;
      low = std::min(low, *distance);
      high = std::max(high, *distance + *extent);
    }
    return clipped({simplify(origin + low), imm(high - low)}, shape);
  }

  static Range clipped(const Range& range, const Expr& shape) {
    const auto size = as_int(shape), min = as_int(range.min);
    const std::int64_t extent = constant_value(range.extent);
    if (!size) return range;
    if (!min) return extent >= *size ? Range{imm(0), shape} : range;
    const std::int64_t begin = std::clamp<std::int64_t>(*min, 0, *size);
    const std::int64_t end = std::clamp<std::int64_t>(*min + extent, begin, *size);
    return {imm(begin), imm(end - begin)};
  }

  Bounds inner_bounds(const BufferUse& use) const {
    Bounds inner;
    for (std::size_t i = 0; i < use.vars.size(); ++i)
      if (!is_outer(use.vars[i])) inner.add_extent(use.vars[i], use.extents[i]);
    return inner;
  }

  bool is_outer(const Expr& var) const {
    return std::any_of(outer_.begin(), outer_.end(), [&](const Expr& o) { return o.is(var); });
  }

  bool is_over_outer(const Expr& e) const {
    bool result = true;
    walk(e, [&](const Expr& part) { result = result && !part.as<Load>() && (!part.as<Var>() || is_outer(part)); });
    return result;
  }

  Stmt allocate(const Stmt& s) const {
    Buffer smaller = buffer_.get<Buffer>();
    std::vector<Expr> origin;
    for (std::size_t axis = 0; axis < smaller.shape.size(); ++axis) {
      const Range range = touched(axis);
      origin.push_back(range.min);
      smaller.shape[axis] = range.extent;
    }
    const Expr after = make(std::move(smaller), buffer_.type());
    return make(Allocate{after, rebase(s, after, origin)});
  }

  /// `s` with the buffer replaced by the smaller one.
  Stmt rebase(const Stmt& s, const Expr& after, const std::vector<Expr>& origin) const {
    const auto moved = [&](std::vector<Expr> indices) {
      for (std::size_t axis = 0; axis < indices.size(); ++axis)
        if (!is_int(origin[axis], 0)) indices[axis] = subtract(indices[axis], origin[axis]);
      return indices;
    };
    const auto on_expr = [&](const Expr& e) {
      const Load* load = e.as<Load>();
      if (!load || !load->buffer.is(buffer_)) return e;
      return make(Load{after, moved(load->indices), load->mask});
    };
    const auto on_stmt = [&](const Stmt& part) {
      const Store* store = part.as<Store>();
      if (!store || !store->buffer.is(buffer_)) return part;
      return make(Store{after, moved(store->indices), store->value, store->mask});
    };
    return transform(s, on_stmt, on_expr);
  }

  Expr buffer_;
  std::vector<BufferUse> uses_;
  std::vector<Expr> outer_;  ///< variables of the loops outside of the allocation, within its original scope
};

Stmt compact(const Stmt& s, const Bounds& bounds) {
  Bounds inner = bounds;
  if (const For* loop = s.as<For>()) inner.add_extent(loop->var, loop->extent);
  const Allocate* allocation = s.as<Allocate>();
  if (!allocation) return map_children(s, [&](const Stmt& child) { return compact(child, inner); });
  const Stmt body = compact(allocation->body, bounds);
  if (!uses(body, allocation->buffer)) return body;
  return Compactor(allocation->buffer, body).place(body, bounds);
}

}  // namespace

Function compact_buffers(const Function& function) {
  return {function.name, function.params, compact(function.body, {})};
}

}  // namespace hone::codegen
