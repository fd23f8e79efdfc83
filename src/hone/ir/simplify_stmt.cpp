#include "hone/ir/fold.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplifier.h"

namespace hone::ir {

namespace {

bool is_nothing(const Stmt& s) { return s.as<Seq>() && s.get<Seq>().stmts.empty(); }
Stmt nothing() { return make(Seq{}); }

bool has_load(const Expr& e) {
  bool found = false;
  walk(e, [&](const Expr& node) { found = found || node.kind() == Kind::Load; });
  return found;
}

/// Simplifies statements, knowing more the deeper it goes.
class StmtSimplifier {
 public:
  StmtSimplifier(const Bounds& bounds, Evaluation evaluation) : exprs_(bounds, evaluation) {}

  Stmt visit(const Stmt& s) {
    switch (s.kind()) {
      case Kind::For:
        return visit_for(s);
      case Kind::Block:
        return visit_block(s);
      case Kind::If:
        return visit_if(s);
      case Kind::Let:
        return visit_let(s);
      case Kind::Seq:
        return visit_seq(s);
      case Kind::Store:
        return visit_store(s);
      case Kind::Allocate: {
        const Stmt visited = map_children(s, [&](const Stmt& child) { return visit(child); });
        return is_nothing(visited.get<Allocate>().body) ? nothing() : visited;
      }
      default:
        return map_children(
            s, [&](const Stmt& child) { return visit(child); }, [&](const Expr& e) { return exprs_.visit(e); });
    }
  }

 private:
  Stmt visit_for(const Stmt& s) {
    const For& loop = s.get<For>();
    const Expr extent = exprs_.visit(loop.extent);
    const Interval times = bounds_of(extent, exprs_.bounds());
    if (times.max <= 0) return nothing();
    const auto before = exprs_.mark();
    exprs_.learn(loop.var, {0, times.max == Interval::kNoMax ? times.max : times.max - 1});
    const Stmt body = visit(loop.body);
    exprs_.forget(before);
    if (is_nothing(body)) return nothing();
    if (extent.is(loop.extent) && body.is(loop.body)) return s;
    return make(For{loop.var, extent, loop.how, body, loop.annotations});
  }

  Stmt visit_block(const Stmt& s) {
    const Block& block = s.get<Block>();
    const auto before = exprs_.mark();
    std::vector<Iter> iters = block.iters;
    bool is_changed = false;
    for (Iter& iter : iters) {
      iter.extent = exprs_.visit(iter.extent);
      iter.binding = exprs_.visit(iter.binding);
    }
    Expr predicate = block.predicate ? exprs_.visit(block.predicate) : block.predicate;
    if (predicate && is_int(predicate, 1)) predicate = {};
    for (std::size_t i = 0; i < iters.size(); ++i) {
      is_changed |= !iters[i].extent.is(block.iters[i].extent) || !iters[i].binding.is(block.iters[i].binding);
      const Interval extent = bounds_of(iters[i].extent, exprs_.bounds());
      exprs_.learn(iters[i].var, {0, extent.max == Interval::kNoMax ? extent.max : extent.max - 1});
    }
    if (predicate) learn_lasting(predicate, /*holds=*/true);
    const Stmt init = block.init ? visit(block.init) : block.init;
    const Stmt body = visit(block.body);
    exprs_.forget(before);
    if (!is_changed && predicate.is(block.predicate) && init.is(block.init) && body.is(block.body)) return s;
    return make(Block{block.name, std::move(iters), predicate, init, body, block.annotations});
  }

  Stmt visit_if(const Stmt& s) {
    const If& node = s.get<If>();
    const Expr condition = exprs_.visit(node.condition);
    if (const auto known = as_int(condition)) {
      const Stmt& taken = *known ? node.then : node.otherwise;
      return taken ? visit(taken) : nothing();
    }
    const Stmt then = visit_branch(node.then, condition, /*holds=*/true);
    Stmt otherwise = node.otherwise ? visit_branch(node.otherwise, condition, /*holds=*/false) : node.otherwise;
    if (otherwise && is_nothing(otherwise)) otherwise = {};
    if (is_nothing(then)) {
      if (!otherwise) return nothing();
      return make(If{exprs_.visit(logical_not(condition)), otherwise});
    }
    if (condition.is(node.condition) && then.is(node.then) && otherwise.is(node.otherwise)) return s;
    return make(If{condition, then, otherwise});
  }

  Stmt visit_branch(const Stmt& s, const Expr& condition, bool holds) {
    const auto before = exprs_.mark();
    learn_lasting(condition, holds);
    Stmt visited = visit(s);
    exprs_.forget(before);
    return visited;
  }

  /// Learns what stays true whatever is stored meanwhile: nothing that depends on loads.
  void learn_lasting(const Expr& condition, bool holds) {
    if (!has_load(condition)) return exprs_.learn(condition, holds);
    if (condition.kind() != (holds ? Kind::And : Kind::Or)) return;
    learn_lasting(*operands_of(condition).a, holds);
    learn_lasting(*operands_of(condition).b, holds);
  }

  Stmt visit_let(const Stmt& s) {
    const Let& node = s.get<Let>();
    const Expr value = exprs_.visit(node.value);
    if (value.kind() == Kind::IntImm || value.kind() == Kind::FloatImm || value.kind() == Kind::Var)
      return visit(substitute(node.body, node.var, value));
    const auto before = exprs_.mark();
    if (value.type().is_integer()) exprs_.learn(node.var, bounds_of(value, exprs_.bounds()));
    const Stmt body = visit(node.body);
    exprs_.forget(before);
    if (is_nothing(body)) return nothing();
    return value.is(node.value) && body.is(node.body) ? s : make(Let{node.var, value, body});
  }

  Stmt visit_seq(const Stmt& s) {
    const Seq& node = s.get<Seq>();
    std::vector<Stmt> stmts;
    bool is_changed = false;
    for (const Stmt& child : node.stmts) {
      Stmt visited = visit(child);
      is_changed |= !visited.is(child) || visited.as<Seq>();
      if (!is_nothing(visited)) stmts.push_back(std::move(visited));
    }
    return is_changed ? seq(std::move(stmts)) : s;
  }

  Stmt visit_store(const Stmt& s) {
    const Stmt visited =
        map_children(s, [](const Stmt& child) { return child; }, [&](const Expr& e) { return exprs_.visit(e); });
    const Store& node = visited.get<Store>();
    const auto mask = node.mask ? int_constant(node.mask) : std::nullopt;
    if (!mask) return visited;
    return *mask ? store(node.buffer, node.indices, node.value) : nothing();
  }

  Simplifier exprs_;
};

}  // namespace

Stmt simplify(const Stmt& s, const Bounds& bounds, Evaluation evaluation) {
  return StmtSimplifier(bounds, evaluation).visit(s);
}

Stmt remove_trivial_loops(const Stmt& s) {
  const Stmt inner_done = map_children(s, [](const Stmt& child) { return remove_trivial_loops(child); });
  const For* loop = inner_done.as<For>();
  if (!loop || is_gpu_index(loop->how) || !is_int(loop->extent, 1)) return inner_done;
  return substitute(loop->body, loop->var, imm(0));
}

}  // namespace hone::ir
