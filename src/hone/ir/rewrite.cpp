#include "hone/ir/rewrite.h"

namespace hone::ir {

namespace {

/// Maps a list; `changed` is set when any element is another node than before.
std::vector<Expr> map_list(const std::vector<Expr>& list, ExprFn f, bool& changed) {
  std::vector<Expr> result;
  result.reserve(list.size());
  for (const Expr& e : list) {
    result.push_back(f(e));
    changed |= !result.back().is(e);
  }
  return result;
}

Expr map_optional(const Expr& e, ExprFn f, bool& changed) {
  if (!e) return e;
  Expr result = f(e);
  changed |= !result.is(e);
  return result;
}

template <typename Node>
Expr map_binary(const Expr& e, ExprFn f) {
  const Node& node = e.get<Node>();
  Expr a = f(node.a);
  Expr b = f(node.b);
  return a.is(node.a) && b.is(node.b) ? e : make(Node{std::move(a), std::move(b)});
}

Expr map_select(const Expr& e, ExprFn f) {
  const Select& node = e.get<Select>();
  Expr condition = f(node.condition), a = f(node.a), b = f(node.b);
  if (condition.is(node.condition) && a.is(node.a) && b.is(node.b)) return e;
  return make(Select{std::move(condition), std::move(a), std::move(b)});
}

Expr map_load(const Expr& e, ExprFn f) {
  const Load& node = e.get<Load>();
  bool changed = false;
  Expr buffer = map_optional(node.buffer, f, changed);
  std::vector<Expr> indices = map_list(node.indices, f, changed);
  Expr mask = map_optional(node.mask, f, changed);
  return changed ? make(Load{std::move(buffer), std::move(indices), std::move(mask)}) : e;
}

/// How many lanes a Cast or Call has after its operands changed theirs.
DType with_lanes_of(DType type, DType before, DType after) {
  return before.lanes == after.lanes ? type : type.with_lanes(after.lanes);
}

}  // namespace

Expr map_children(const Expr& e, ExprFn f) {
  switch (e.kind()) {
    case Kind::IntImm:
    case Kind::FloatImm:
    case Kind::Var:
    case Kind::Buffer:
      return e;
    case Kind::Add:
      return map_binary<Add>(e, f);
    case Kind::Sub:
      return map_binary<Sub>(e, f);
    case Kind::Mul:
      return map_binary<Mul>(e, f);
    case Kind::Div:
      return map_binary<Div>(e, f);
    case Kind::FloorDiv:
      return map_binary<FloorDiv>(e, f);
    case Kind::FloorMod:
      return map_binary<FloorMod>(e, f);
    case Kind::Min:
      return map_binary<Min>(e, f);
    case Kind::Max:
      return map_binary<Max>(e, f);
    case Kind::Eq:
      return map_binary<Eq>(e, f);
    case Kind::Ne:
      return map_binary<Ne>(e, f);
    case Kind::Lt:
      return map_binary<Lt>(e, f);
    case Kind::Le:
      return map_binary<Le>(e, f);
    case Kind::And:
      return map_binary<And>(e, f);
    case Kind::Or:
      return map_binary<Or>(e, f);
    case Kind::Not: {
      const Expr& a = e.get<Not>().a;
      Expr mapped = f(a);
      return mapped.is(a) ? e : make(Not{std::move(mapped)});
    }
    case Kind::Select:
      return map_select(e, f);
    case Kind::Cast: {
      const Expr& value = e.get<Cast>().value;
      Expr mapped = f(value);
      if (mapped.is(value)) return e;
      const DType type = with_lanes_of(e.type(), value.type(), mapped.type());
      return make(Cast{std::move(mapped)}, type);
    }
    case Kind::Load:
      return map_load(e, f);
    case Kind::Call: {
      const Call& node = e.get<Call>();
      bool changed = false;
      std::vector<Expr> args = map_list(node.args, f, changed);
      if (!changed) return e;
      const DType type = with_lanes_of(e.type(), node.args[0].type(), args[0].type());
      return make(Call{node.function, std::move(args)}, type);
    }
    case Kind::Ramp: {
      const Ramp& node = e.get<Ramp>();
      Expr base = f(node.base), stride = f(node.stride);
      if (base.is(node.base) && stride.is(node.stride)) return e;
      return make(Ramp{std::move(base), std::move(stride)}, e.type().lanes);
    }
    case Kind::Broadcast: {
      const Expr& value = e.get<Broadcast>().value;
      Expr mapped = f(value);
      return mapped.is(value) ? e : make(Broadcast{std::move(mapped)}, e.type().lanes);
    }
    case Kind::For:
    case Kind::Block:
    case Kind::Store:
    case Kind::If:
    case Kind::Seq:
    case Kind::Allocate:
    case Kind::Let:
    case Kind::Evaluate:
    case Kind::Barrier:
      break;
  }
  HONE_CHECK(false, "{} is not an expression", to_string(e.kind()));
  return e;
}

namespace {

Stmt map_for(const Stmt& s, StmtFn on_stmt, ExprFn on_expr) {
  const For& node = s.get<For>();
  Expr var = on_expr(node.var), extent = on_expr(node.extent);
  Stmt body = on_stmt(node.body);
  if (var.is(node.var) && extent.is(node.extent) && body.is(node.body)) return s;
  return make(For{std::move(var), std::move(extent), node.how, std::move(body), node.annotations});
}

Stmt map_block(const Stmt& s, StmtFn on_stmt, ExprFn on_expr) {
  const Block& node = s.get<Block>();
  bool changed = false;
  std::vector<Iter> iters;
  iters.reserve(node.iters.size());
  for (const Iter& iter : node.iters) {
    Expr var = map_optional(iter.var, on_expr, changed);
    Expr extent = map_optional(iter.extent, on_expr, changed);
    Expr binding = map_optional(iter.binding, on_expr, changed);
    iters.push_back({std::move(var), std::move(extent), iter.kind, std::move(binding)});
  }
  Expr predicate = map_optional(node.predicate, on_expr, changed);
  Stmt init = node.init ? on_stmt(node.init) : node.init;
  Stmt body = on_stmt(node.body);
  if (!changed && init.is(node.init) && body.is(node.body)) return s;
  return make(
      Block{node.name, std::move(iters), std::move(predicate), std::move(init), std::move(body), node.annotations});
}

Stmt map_store(const Stmt& s, ExprFn on_expr) {
  const Store& node = s.get<Store>();
  bool changed = false;
  Expr buffer = map_optional(node.buffer, on_expr, changed);
  std::vector<Expr> indices = map_list(node.indices, on_expr, changed);
  Expr value = map_optional(node.value, on_expr, changed);
  Expr mask = map_optional(node.mask, on_expr, changed);
  return changed ? make(Store{std::move(buffer), std::move(indices), std::move(value), std::move(mask)}) : s;
}

Stmt map_seq(const Stmt& s, StmtFn on_stmt) {
  const Seq& node = s.get<Seq>();
  bool changed = false;
  std::vector<Stmt> stmts;
  stmts.reserve(node.stmts.size());
  for (const Stmt& child : node.stmts) {
    stmts.push_back(on_stmt(child));
    changed |= !stmts.back().is(child);
  }
  return changed ? make(Seq{std::move(stmts)}) : s;
}

}  // namespace

Stmt map_children(const Stmt& s, StmtFn on_stmt, ExprFn on_expr) {
  switch (s.kind()) {
    case Kind::For:
      return map_for(s, on_stmt, on_expr);
    case Kind::Block:
      return map_block(s, on_stmt, on_expr);
    case Kind::Store:
      return map_store(s, on_expr);
    case Kind::Seq:
      return map_seq(s, on_stmt);
    case Kind::If: {
      const If& node = s.get<If>();
      Expr condition = on_expr(node.condition);
      Stmt then = on_stmt(node.then);
      Stmt otherwise = node.otherwise ? on_stmt(node.otherwise) : node.otherwise;
      if (condition.is(node.condition) && then.is(node.then) && otherwise.is(node.otherwise)) return s;
      return make(If{std::move(condition), std::move(then), std::move(otherwise)});
    }
    case Kind::Allocate: {
      const Allocate& node = s.get<Allocate>();
      Expr buffer = on_expr(node.buffer);
      Stmt body = on_stmt(node.body);
      if (buffer.is(node.buffer) && body.is(node.body)) return s;
      return make(Allocate{std::move(buffer), std::move(body)});
    }
    case Kind::Let: {
      const Let& node = s.get<Let>();
      Expr var = on_expr(node.var), value = on_expr(node.value);
      Stmt body = on_stmt(node.body);
      if (var.is(node.var) && value.is(node.value) && body.is(node.body)) return s;
      return make(Let{std::move(var), std::move(value), std::move(body)});
    }
    case Kind::Evaluate: {
      const Expr& value = s.get<Evaluate>().value;
      Expr mapped = on_expr(value);
      return mapped.is(value) ? s : make(Evaluate{std::move(mapped)});
    }
    case Kind::Barrier:
      return s;
    default:
      break;
  }
  HONE_CHECK(false, "{} is not a statement", to_string(s.kind()));
  return s;
}

Stmt map_children(const Stmt& s, StmtFn on_stmt) {
  return map_children(s, on_stmt, [](const Expr& e) { return e; });
}

namespace {

template <typename Node>
void visit_binary(const Expr& e, FunctionRef<void(const Expr&)> f) {
  const Node& node = e.get<Node>();
  f(node.a);
  f(node.b);
}

void visit_optional(const Expr& e, FunctionRef<void(const Expr&)> f) {
  if (e) f(e);
}

void visit_list(const std::vector<Expr>& list, FunctionRef<void(const Expr&)> f) {
  for (const Expr& e : list) f(e);
}

}  // namespace

// Analyses visit far more often than passes rebuild, so the visitors have switches of their own and allocate nothing.
void for_each_child(const Expr& e, FunctionRef<void(const Expr&)> f) {
  switch (e.kind()) {
    case Kind::IntImm:
    case Kind::FloatImm:
    case Kind::Var:
    case Kind::Buffer:
      return;
    case Kind::Add:
      return visit_binary<Add>(e, f);
    case Kind::Sub:
      return visit_binary<Sub>(e, f);
    case Kind::Mul:
      return visit_binary<Mul>(e, f);
    case Kind::Div:
      return visit_binary<Div>(e, f);
    case Kind::FloorDiv:
      return visit_binary<FloorDiv>(e, f);
    case Kind::FloorMod:
      return visit_binary<FloorMod>(e, f);
    case Kind::Min:
      return visit_binary<Min>(e, f);
    case Kind::Max:
      return visit_binary<Max>(e, f);
    case Kind::Eq:
      return visit_binary<Eq>(e, f);
    case Kind::Ne:
      return visit_binary<Ne>(e, f);
    case Kind::Lt:
      return visit_binary<Lt>(e, f);
    case Kind::Le:
      return visit_binary<Le>(e, f);
    case Kind::And:
      return visit_binary<And>(e, f);
    case Kind::Or:
      return visit_binary<Or>(e, f);
    case Kind::Not:
      return f(e.get<Not>().a);
    case Kind::Cast:
      return f(e.get<Cast>().value);
    case Kind::Broadcast:
      return f(e.get<Broadcast>().value);
    case Kind::Call:
      return visit_list(e.get<Call>().args, f);
    case Kind::Select: {
      const Select& node = e.get<Select>();
      f(node.condition);
      f(node.a);
      return f(node.b);
    }
    case Kind::Load: {
      const Load& node = e.get<Load>();
      f(node.buffer);
      visit_list(node.indices, f);
      return visit_optional(node.mask, f);
    }
    case Kind::Ramp: {
      const Ramp& node = e.get<Ramp>();
      f(node.base);
      return f(node.stride);
    }
    case Kind::For:
    case Kind::Block:
    case Kind::Store:
    case Kind::If:
    case Kind::Seq:
    case Kind::Allocate:
    case Kind::Let:
    case Kind::Evaluate:
    case Kind::Barrier:
      break;
  }
  HONE_CHECK(false, "{} is not an expression", to_string(e.kind()));
}

void for_each_child(const Stmt& s, FunctionRef<void(const Stmt&)> on_stmt, FunctionRef<void(const Expr&)> on_expr) {
  if (const For* loop = s.as<For>()) {
    on_expr(loop->var);
    on_expr(loop->extent);
    on_stmt(loop->body);
  } else if (const Block* block = s.as<Block>()) {
    for (const Iter& iter : block->iters) {
      on_expr(iter.var);
      on_expr(iter.extent);
      on_expr(iter.binding);
    }
    visit_optional(block->predicate, on_expr);
    if (block->init) on_stmt(block->init);
    on_stmt(block->body);
  } else if (const Store* store = s.as<Store>()) {
    on_expr(store->buffer);
    visit_list(store->indices, on_expr);
    on_expr(store->value);
    visit_optional(store->mask, on_expr);
  } else if (const If* branch = s.as<If>()) {
    on_expr(branch->condition);
    on_stmt(branch->then);
    if (branch->otherwise) on_stmt(branch->otherwise);
  } else if (const Seq* sequence = s.as<Seq>()) {
    for (const Stmt& child : sequence->stmts) on_stmt(child);
  } else if (const Allocate* allocation = s.as<Allocate>()) {
    on_expr(allocation->buffer);
    on_stmt(allocation->body);
  } else if (const Let* let = s.as<Let>()) {
    on_expr(let->var);
    on_expr(let->value);
    on_stmt(let->body);
  } else if (const Evaluate* evaluate = s.as<Evaluate>()) {
    on_expr(evaluate->value);
  } else {
    HONE_CHECK(s.kind() == Kind::Barrier, "{} is not a statement", to_string(s.kind()));
  }
}

void walk(const Expr& e, FunctionRef<void(const Expr&)> f) {
  f(e);
  for_each_child(e, [&](const Expr& child) { walk(child, f); });
}

void walk(const Stmt& s, FunctionRef<void(const Stmt&)> on_stmt, FunctionRef<void(const Expr&)> on_expr) {
  on_stmt(s);
  for_each_child(
      s, [&](const Stmt& child) { walk(child, on_stmt, on_expr); }, [&](const Expr& child) { walk(child, on_expr); });
}

void walk(const Stmt& s, FunctionRef<void(const Stmt&)> on_stmt) {
  on_stmt(s);
  for_each_child(s, [&](const Stmt& child) { walk(child, on_stmt); }, [](const Expr&) {});
}

Expr substitute(const Expr& e, const Substitution& values) {
  if (e.kind() == Kind::Var || e.kind() == Kind::Buffer) {
    for (const auto& [from, to] : values)
      if (from.is(e)) return to;
    return e;
  }
  return map_children(e, [&](const Expr& child) { return substitute(child, values); });
}

Stmt substitute(const Stmt& s, const Substitution& values) {
  return map_children(
      s, [&](const Stmt& child) { return substitute(child, values); },
      [&](const Expr& child) { return substitute(child, values); });
}

Expr substitute(const Expr& e, const Expr& var, const Expr& value) { return substitute(e, {{var, value}}); }
Stmt substitute(const Stmt& s, const Expr& var, const Expr& value) { return substitute(s, {{var, value}}); }

Expr transform(const Expr& e, ExprFn f) {
  return f(map_children(e, [&](const Expr& child) { return transform(child, f); }));
}

Stmt transform(const Stmt& s, StmtFn on_stmt, ExprFn on_expr) {
  return on_stmt(map_children(
      s, [&](const Stmt& child) { return transform(child, on_stmt, on_expr); },
      [&](const Expr& child) { return transform(child, on_expr); }));
}

bool uses(const Expr& e, const Expr& var) {
  bool found = e.is(var);
  if (!found) for_each_child(e, [&](const Expr& child) { found = found || uses(child, var); });
  return found;
}

bool uses(const Stmt& s, const Expr& var) {
  bool found = false;
  for_each_child(
      s, [&](const Stmt& child) { found = found || uses(child, var); },
      [&](const Expr& child) { found = found || uses(child, var); });
  return found;
}

std::vector<Expr> symbolic_sizes(const Function& function) {
  std::vector<Expr> found;
  const auto visit = [&](const Expr& e) {
    if (!e.as<Var>()) return;
    for (const Expr& known : found)
      if (known.is(e)) return;
    found.push_back(e);
  };
  for (const Expr& param : function.params)
    if (const Buffer* node = param.as<Buffer>())
      for (const Expr& extent : node->shape) walk(extent, visit);
  return found;
}

}  // namespace hone::ir
