#include "hone/schedule/accesses.h"

#include <algorithm>

#include "hone/ir/rewrite.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Redirects accesses on the way down, knowing the variables around.
class Redirect {
 public:
  Redirect(const Expr& from, const Expr& to, IndexFn f) : from_(from), to_(to), f_(f) {}

  Expr expr(const Expr& e) {
    const Expr inner_done = map_children(e, [&](const Expr& child) { return expr(child); });
    const Load* node = inner_done.as<Load>();
    if (!node || !node->buffer.is(from_)) return inner_done;
    return make(Load{to_, f_(node->indices, bounds_), node->mask});
  }

  Stmt stmt(const Stmt& s) {
    std::size_t added = 0;
    if (const For* loop = s.as<For>()) {
      bounds_.add_extent(loop->var, loop->extent);
      added = 1;
    }
    if (const Block* block = s.as<Block>()) {
      for (const Iter& iter : block->iters) bounds_.add_extent(iter.var, iter.extent);
      added = block->iters.size();
    }
    // The buffer of an Allocate or Store is a bare Buffer here, which expr() leaves alone.
    Stmt done =
        map_children(s, [&](const Stmt& child) { return stmt(child); }, [&](const Expr& child) { return expr(child); });
    for (std::size_t i = 0; i < added; ++i) bounds_.remove_last();
    const Store* node = done.as<Store>();
    if (!node || !node->buffer.is(from_)) return done;
    return make(Store{to_, f_(node->indices, bounds_), node->value, node->mask});
  }

 private:
  const Expr& from_;
  const Expr& to_;
  IndexFn f_;
  Bounds bounds_;
};

bool has_vector(const Indices& indices) {
  return std::any_of(indices.begin(), indices.end(), [](const Expr& index) { return index.type().is_vector(); });
}

}  // namespace

Stmt redirect_accesses(const Stmt& s, const Expr& from, const Expr& to, IndexFn f) {
  return Redirect(from, to, f).stmt(s);
}

Program exchange_buffer(const Program& program, const Expr& from, const Expr& to, IndexFn f) {
  const Stmt redirected = redirect_accesses(program.body, from, to, f);
  return Program{program.name, program.params, substitute(redirected, from, to)};
}

Result<Expr> find_allocated(const Program& program, std::string_view name, std::string_view step) {
  HONE_TRY(Expr buffer, find_buffer(program, name, step));
  if (is_param(program, buffer))
    return error(ErrorCode::IllegalStep, "{}: buffer '{}' is a parameter, allowed are allocated buffers", step, name);
  return buffer;
}

Result<std::vector<std::int64_t>> constant_shape(const Expr& buffer, std::string_view step) {
  std::vector<std::int64_t> shape;
  for (const Expr& extent : buffer.get<Buffer>().shape) {
    const std::optional<std::int64_t> value = as_int(extent);
    if (!value)
      return error(ErrorCode::IllegalStep, "{}: axis {} of buffer '{}' has no constant extent", step, shape.size(),
                   name_of(buffer));
    shape.push_back(*value);
  }
  return shape;
}

Result<void> check_scalar_accesses(const Program& program, const Expr& buffer, std::string_view step) {
  bool found = false;
  walk(
      program.body,
      [&](const Stmt& s) {
        const Store* node = s.as<Store>();
        found = found || (node && node->buffer.is(buffer) && has_vector(node->indices));
      },
      [&](const Expr& e) {
        const Load* node = e.as<Load>();
        found = found || (node && node->buffer.is(buffer) && has_vector(node->indices));
      });
  if (!found) return {};
  return error(ErrorCode::IllegalStep, "{}: buffer '{}' is accessed by vectors, allowed are scalar accesses", step,
               name_of(buffer));
}

bool is_used_only_below(const Program& program, const Stmt& below, const Expr& buffer) {
  const auto has_use_elsewhere = [&](const auto& self, const Stmt& s) -> bool {
    if (s.is(below)) return false;
    if (s.as<Block>() || s.as<Evaluate>()) return uses(s, buffer);
    bool found = false;
    for_each_child(s, [&](const Stmt& child) { found = found || self(self, child); }, [](const Expr&) {});
    return found;
  };
  return !has_use_elsewhere(has_use_elsewhere, program.body);
}

Stmt spatial_nest(const Program& program, std::string_view block_name, const std::vector<std::int64_t>& extents,
                  FunctionRef<Stmt(const Indices& vars)> body, Annotations annotations) {
  Block block{.name = std::string(block_name), .annotations = std::move(annotations)};
  Indices loops, vars;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::string name = fresh_loop_name(program, fmt::format("ax{}", axis));
    loops.push_back(var(name));
    vars.push_back(var("v" + name));
    block.iters.push_back({vars.back(), imm(extents[axis]), IterKind::Spatial, loops.back()});
  }
  block.body = body(vars);
  Stmt nest = make(std::move(block));
  for (std::size_t axis = extents.size(); axis-- > 0;)
    nest = make(For{.var = loops[axis], .extent = imm(extents[axis]), .body = nest});
  return nest;
}

Path root(const Program& program) {
  Path path{{program.body}};
  while (const Allocate* allocation = path.target().as<Allocate>()) path.stmts.push_back(allocation->body);
  return path;
}

Program insert_first(const Program& program, const Stmt& stmt) {
  const Path path = root(program);
  return replace(program, path, seq({stmt, path.target()}));
}

Program insert_last(const Program& program, const Stmt& stmt) {
  const Path path = root(program);
  return replace(program, path, seq({path.target(), stmt}));
}

}  // namespace hone::schedule
