#include "hone/codegen/buffer_uses.h"

#include <algorithm>
#include <cstdlib>

#include "hone/codegen/conditions.h"
#include "hone/ir/affine.h"
#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

class Collector {
 public:
  explicit Collector(const Expr& buffer) : buffer_(buffer) {}

  void visit(const Stmt& s) {
    const std::size_t guards = here_.guards.size(), loops = here_.vars.size(), values = values_.size();
    if (const Block* block = s.as<Block>()) {
      visit_block(*block);
    } else if (const If* node = s.as<If>()) {
      visit(node->condition);
      add_guards(node->condition);
      visit(node->then);
      here_.guards.resize(guards);
      if (node->otherwise) {
        here_.guards.push_back(logical_not(seen_through(node->condition)));
        visit(node->otherwise);
      }
    } else {
      if (const For* loop = s.as<For>()) {
        here_.vars.push_back(loop->var);
        here_.extents.push_back(seen_through(loop->extent));
      }
      if (const Let* let = s.as<Let>()) values_.emplace_back(let->var, seen_through(let->value));
      if (!s.as<Seq>()) ++here_.order;
      for_each_child(s, [&](const Stmt& child) { visit(child); }, [&](const Expr& e) { visit(e); });
      const Store* store = s.as<Store>();
      if (store && store->buffer.is(buffer_)) record(true, store->indices, store->mask);
    }
    here_.guards.resize(guards);
    here_.vars.resize(loops);
    here_.extents.resize(loops);
    values_.resize(values);
  }

  std::vector<BufferUse> found;

 private:
  Expr seen_through(const Expr& e) const { return values_.empty() ? e : substitute(e, values_); }

  void add_guards(const Expr& condition) {
    for (const Expr& conjunct : conjuncts(condition)) here_.guards.push_back(seen_through(conjunct));
  }

  void visit_block(const Block& block) {
    std::vector<Expr> at_first;
    Substitution bindings;
    for (const Iter& iter : block.iters) {
      bindings.emplace_back(iter.var, seen_through(iter.binding));
      if (iter.kind == IterKind::Reduce) at_first.push_back(eq(bindings.back().second, 0));
    }
    values_.insert(values_.end(), bindings.begin(), bindings.end());
    add_guards(block.predicate);
    if (block.init) {
      const std::size_t guards = here_.guards.size();
      here_.guards.insert(here_.guards.end(), at_first.begin(), at_first.end());
      visit(block.init);
      here_.guards.resize(guards);
    }
    visit(block.body);
  }

  void visit(const Expr& e) {
    if (const Select* node = e.as<Select>()) {
      visit(node->condition);
      visit_under(node->condition, node->a);
      visit_under(logical_not(node->condition), node->b);
      return;
    }
    if (const And* node = e.as<And>()) return visit(node->a), visit_under(node->a, node->b);
    if (const Or* node = e.as<Or>()) return visit(node->a), visit_under(logical_not(node->a), node->b);
    for_each_child(e, [&](const Expr& child) { visit(child); });
    const Load* load = e.as<Load>();
    if (load && load->buffer.is(buffer_)) record(false, load->indices, load->mask);
  }

  void visit_under(const Expr& condition, const Expr& e) {
    const std::size_t guards = here_.guards.size();
    add_guards(condition);
    visit(e);
    here_.guards.resize(guards);
  }

  void record(bool is_write, const std::vector<Expr>& indices, const Expr& mask) {
    found.push_back(here_);
    BufferUse& use = found.back();
    use.is_write = is_write;
    for (const Expr& index : indices) use.indices.push_back(simplify(seen_through(index)));
    for (const Expr& conjunct : conjuncts(mask)) use.guards.push_back(seen_through(conjunct));
  }

  Expr buffer_;
  BufferUse here_{};     ///< guards and loops around the place being visited
  Substitution values_;  ///< of iteration variables and let-bound variables, over loop variables
};

/// Whether a guard only cuts off accesses outside of the buffer's shape.
bool is_bounds_check(const Expr& guard, const BufferUse& use, const Buffer& buffer) {
  const Expr slack = slack_of(guard);
  for (std::size_t axis = 0; slack && axis < use.indices.size(); ++axis) {
    const Expr& index = use.indices[axis];
    if (index.type() != slack.type()) continue;
    if (is_int(simplify(slack - (buffer.shape[axis] - index)), 0) || is_int(simplify(slack - index), 1)) return true;
  }
  return false;
}

/// Whether the guard holds in the first iteration of the loop over `var` if it holds in any.
bool holds_first(const Expr& guard, const Expr& var, const Bounds& bounds) {
  const Expr slack = slack_of(guard);
  return slack && can_prove(simplify(slack - substitute(slack, var, imm(0))) <= 0, bounds);
}

/// The index of the first lane, if the other lanes keep their distance to it in all iterations of the loop over `var`;
/// otherwise null.
Expr first_lane(const Expr& index, const Expr& var) {
  if (const Ramp* ramp = index.as<Ramp>()) return ir::uses(ramp->stride, var) ? Expr() : ramp->base;
  if (const Broadcast* same = index.as<Broadcast>()) return same->value;
  return index.type().is_vector() ? Expr() : index;
}

/// Whether the access reaches every element between its first and its last: each axis is a sum of inner variables of
/// its own, whose steps leave no gap.
bool is_dense(const BufferUse& use, const Bounds& inner) {
  std::vector<Expr> seen;
  for (const Expr& index : use.indices) {
    const std::optional<Affine> sum = to_affine(index);
    if (!sum) return false;
    for (const auto& [term, coefficient] : sum->terms) {
      if (!inner.has(term)) continue;
      if (std::any_of(seen.begin(), seen.end(), [&, &var = term](const Expr& other) { return other.is(var); }))
        return false;
      seen.push_back(term);
    }
    if (!leaves_no_gap(*sum, inner)) return false;
  }
  return true;
}

/// Whether one write before the read certainly writes all that the read reads, for fixed values of the loops outside.
bool is_covered(const BufferUse& read, const std::vector<BufferUse>& uses, const Buffer& buffer, const Expr& var,
                const Bounds& bounds) {
  const auto inside = [&](const BufferUse& use) {
    Bounds inner;
    auto i = static_cast<std::size_t>(
        std::find_if(use.vars.begin(), use.vars.end(), [&](const Expr& v) { return v.is(var); }) - use.vars.begin());
    for (++i; i < use.vars.size(); ++i) inner.add_extent(use.vars[i], use.extents[i]);
    return inner;
  };
  return std::any_of(uses.begin(), uses.end(), [&](const BufferUse& write) {
    if (!write.is_write || write.order >= read.order || !is_dense(write, inside(write))) return false;
    for (const Expr& guard : write.guards)
      if (!is_bounds_check(guard, write, buffer)) return false;
    for (std::size_t axis = 0; axis < read.indices.size(); ++axis) {
      if (read.indices[axis].type().is_vector() || write.indices[axis].type().is_vector()) return false;
      const Range r = range_of(read.indices[axis], inside(read)), w = range_of(write.indices[axis], inside(write));
      if (!as_int(r.extent) || !as_int(w.extent)) return false;
      const Expr ends_after = (w.min + w.extent) - (r.min + r.extent);
      if (!can_prove(simplify(r.min - w.min) >= 0, bounds) || !can_prove(simplify(ends_after) >= 0, bounds))
        return false;
    }
    return true;
  });
}

}  // namespace

std::vector<BufferUse> uses_of_buffer(const Stmt& s, const Expr& buffer) {
  Collector collector(buffer);
  collector.visit(s);
  return std::move(collector.found);
}

// Each iteration does what the first one does, moved by a distance in the buffer that all accesses share. The first
// iteration finds nothing written before it, so it writes all it reads; hence so does every other, as long as no guard
// makes it write less, or read more, than the first.
bool is_private_to_iteration(const std::vector<BufferUse>& uses, const Expr& buffer, const Expr& var,
                             const Bounds& bounds) {
  const Buffer& node = buffer.get<Buffer>();
  for (const BufferUse& use : uses) {
    for (const Expr& extent : use.extents)
      if (ir::uses(extent, var)) return false;
    for (std::size_t axis = 0; axis < use.indices.size(); ++axis) {
      if (has_load(use.indices[axis])) return false;
      const Expr here = first_lane(use.indices[axis], var), first = first_lane(uses.front().indices[axis], var);
      if (!here || !first || ir::uses(simplify(here - first), var)) return false;
    }
    bool is_uniform = true;
    for (const Expr& guard : use.guards) {
      if (!ir::uses(guard, var) && !has_load(guard)) continue;
      is_uniform = is_uniform && (use.is_write ? is_bounds_check(guard, use, node) : holds_first(guard, var, bounds));
    }
    if (!is_uniform && (use.is_write || !is_covered(use, uses, node, var, bounds))) return false;
  }
  return true;
}

}  // namespace hone::codegen
