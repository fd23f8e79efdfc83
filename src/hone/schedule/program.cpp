#include "hone/schedule/program.h"

#include <algorithm>

#include "hone/ir/rewrite.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Calls `f` on the statements directly below; blocks are opaque here.
void for_each_inner(const Stmt& s, FunctionRef<void(const Stmt&)> f) {
  if (const For* loop = s.as<For>()) return f(loop->body);
  if (const Allocate* allocation = s.as<Allocate>()) return f(allocation->body);
  if (const Seq* sequence = s.as<Seq>())
    for (const Stmt& child : sequence->stmts) f(child);
}

/// Extends `path` down to the first statement that `is_target` accepts.
bool descend(Path& path, FunctionRef<bool(const Stmt&)> is_target) {
  if (is_target(path.target())) return true;
  bool found = false;
  const Stmt here = path.target();
  for_each_inner(here, [&](const Stmt& child) {
    if (found) return;
    path.stmts.push_back(child);
    found = descend(path, is_target);
    if (!found) path.stmts.pop_back();
  });
  return found;
}

void collect_blocks(Path& path, std::vector<Path>& found) {
  if (path.target().as<Block>()) {
    found.push_back(path);
    return;
  }
  const Stmt here = path.target();
  for_each_inner(here, [&](const Stmt& child) {
    path.stmts.push_back(child);
    collect_blocks(path, found);
    path.stmts.pop_back();
  });
}

Result<void> check_extent(const Expr& extent, std::string_view what, std::string_view name, std::string_view step) {
  const std::optional<std::int64_t> value = as_int(extent);
  if (!value) return error(ErrorCode::IllegalStep, "{}: the extent of {} '{}' is not constant", step, what, name);
  if (*value <= kMaxExtent) return {};
  return error(ErrorCode::IllegalStep, "{}: the extent {} of {} '{}' is outside 0..{}", step, *value, what, name,
               kMaxExtent);
}

Result<void> check_shape(const Expr& buffer, std::string_view step) {
  for (const Expr& extent : buffer.get<Buffer>().shape) HONE_TRY(check_extent(extent, "buffer", name_of(buffer), step));
  return {};
}

/// An error if something stands in a block that the rest of the program would have to know of.
Result<void> check_body(const Block& block, const Stmt& body, std::string_view step) {
  Result<void> result;
  walk(body, [&](const Stmt& s) {
    if (const For* loop = s.as<For>(); loop && result)
      result = check_extent(loop->extent, "loop", name_of(loop->var), step);
    if ((s.as<Allocate>() || s.as<Block>() || s.as<Barrier>()) && result)
      result = error(ErrorCode::IllegalStep, "{}: a {} stands in block '{}', allowed are plain statements", step,
                     to_string(s.kind()), block.name);
  });
  return result;
}

/// An error unless the statement has the form of programs under schedule.
Result<void> check_form(const Stmt& s, std::string_view step) {
  if (const For* loop = s.as<For>()) {
    HONE_TRY(check_extent(loop->extent, "loop", name_of(loop->var), step));
    return check_form(loop->body, step);
  }
  if (const Seq* sequence = s.as<Seq>()) {
    for (const Stmt& child : sequence->stmts) HONE_TRY(check_form(child, step));
    return {};
  }
  if (const Block* block = s.as<Block>()) {
    for (const Iter& iter : block->iters) HONE_TRY(check_extent(iter.extent, "variable", name_of(iter.var), step));
    if (block->init && !block->init.as<Store>()) HONE_TRY(check_body(*block, block->init, step));
    return block->body.as<Store>() ? Result<void>() : check_body(*block, block->body, step);
  }
  if (s.as<Evaluate>()) return {};
  return error(ErrorCode::IllegalStep, "{}: a {} stands outside of blocks, allowed are loops, sequences and prefetches",
               step, to_string(s.kind()));
}

Result<void> check_form(const Program& program, std::string_view step) {
  for (const Expr& param : program.params) HONE_TRY(check_shape(param, step));
  const Stmt* body = &program.body;
  for (; body->as<Allocate>(); body = &body->get<Allocate>().body)
    HONE_TRY(check_shape(body->get<Allocate>().buffer, step));
  return check_form(*body, step);
}

/// The names of all loops, blocks and buffers of a program, by kind.
struct TakenNames {
  std::vector<std::string_view> loops, blocks, buffers;
};

TakenNames names_of(const Program& program) {
  TakenNames names;
  for (const Expr& param : program.params) names.buffers.push_back(name_of(param));
  walk(program.body, [&](const Stmt& s) {
    if (const For* loop = s.as<For>()) names.loops.push_back(name_of(loop->var));
    if (const Block* block = s.as<Block>()) names.blocks.push_back(block->name);
    if (const Allocate* allocation = s.as<Allocate>()) names.buffers.push_back(name_of(allocation->buffer));
  });
  return names;
}

std::string fresh(const std::vector<std::string_view>& taken, std::string_view base) {
  std::string name(base);
  for (int i = 1; std::find(taken.begin(), taken.end(), name) != taken.end(); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

std::string list(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "none" : text;
}

/// `parent` with its child `before` replaced; null if nothing is left of it.
Stmt with_child(const Stmt& parent, const Stmt& before, const Stmt& after) {
  if (after) return map_children(parent, [&](const Stmt& child) { return child.is(before) ? after : child; });
  if (const Seq* sequence = parent.as<Seq>()) {
    std::vector<Stmt> rest;
    for (const Stmt& child : sequence->stmts)
      if (!child.is(before)) rest.push_back(child);
    return rest.empty() ? Stmt() : seq(std::move(rest));
  }
  if (parent.as<For>()) return {};
  return map_children(parent, [&](const Stmt& child) { return child.is(before) ? make(Seq{}) : child; });
}

Program insert(const Program& program, const Path& path, const Stmt& stmt, bool before) {
  const Stmt& target = path.target();
  const std::size_t depth = path.stmts.size();
  const Seq* siblings = depth >= 2 ? path.stmts[depth - 2].as<Seq>() : nullptr;
  if (!siblings) return replace(program, path, before ? seq({stmt, target}) : seq({target, stmt}));
  std::vector<Stmt> stmts;
  for (const Stmt& child : siblings->stmts) {
    if (child.is(target) && before) stmts.push_back(stmt);
    stmts.push_back(child);
    if (child.is(target) && !before) stmts.push_back(stmt);
  }
  return replace(program, path.prefix(depth - 2), seq(std::move(stmts)));
}

}  // namespace

bool contains(const std::vector<Expr>& buffers, const Expr& buffer) {
  return std::any_of(buffers.begin(), buffers.end(), [&](const Expr& b) { return b.is(buffer); });
}

void add_once(std::vector<Expr>& buffers, const Expr& buffer) {
  if (!contains(buffers, buffer)) buffers.push_back(buffer);
}

std::vector<Stmt> Path::loops() const {
  std::vector<Stmt> found;
  for (std::size_t i = 0; i + 1 < stmts.size(); ++i)
    if (stmts[i].as<For>()) found.push_back(stmts[i]);
  return found;
}

Bounds Path::bounds() const {
  Bounds known;
  for (const Stmt& s : stmts)
    if (const For* loop = s.as<For>()) known.add_extent(loop->var, loop->extent);
  return known;
}

Path Path::prefix(std::size_t depth) const {
  return Path{{stmts.begin(), stmts.begin() + static_cast<std::ptrdiff_t>(depth) + 1}};
}

Result<Path> find_loop(const Program& program, std::string_view name, std::string_view step) {
  HONE_TRY(check_form(program, step));
  Path path{{program.body}};
  const bool found = descend(path, [&](const Stmt& s) {
    const For* loop = s.as<For>();
    return loop && name_of(loop->var) == name;
  });
  if (found) return path;
  return error(ErrorCode::IllegalStep, "{}: no loop '{}', the loops are {}", step, name, list(names_of(program).loops));
}

Result<Path> find_block(const Program& program, std::string_view name, std::string_view step) {
  HONE_TRY(check_form(program, step));
  Path path{{program.body}};
  const bool found = descend(path, [&](const Stmt& s) {
    const Block* block = s.as<Block>();
    return block && block->name == name;
  });
  if (found) return path;
  return error(ErrorCode::IllegalStep, "{}: no block '{}', the blocks are {}", step, name,
               list(names_of(program).blocks));
}

Result<Expr> find_buffer(const Program& program, std::string_view name, std::string_view step) {
  HONE_TRY(check_form(program, step));
  for (const Expr& param : program.params)
    if (name_of(param) == name) return param;
  Path path{{program.body}};
  const bool found = descend(path, [&](const Stmt& s) {
    const Allocate* allocation = s.as<Allocate>();
    return allocation && name_of(allocation->buffer) == name;
  });
  if (found) return path.target().get<Allocate>().buffer;
  return error(ErrorCode::IllegalStep, "{}: no buffer '{}', the buffers are {}", step, name,
               list(names_of(program).buffers));
}

std::vector<Path> blocks(const Program& program) { return blocks_below(Path{{program.body}}); }

std::vector<Path> blocks_below(const Path& path) {
  std::vector<Path> found;
  Path scratch = path;
  collect_blocks(scratch, found);
  return found;
}

std::vector<Path> readers(const Program& program, const Expr& buffer) {
  std::vector<Path> found;
  for (Path& path : blocks(program))
    if (contains(read_buffers(path.block()), buffer) && !contains(written_buffers(path.block()), buffer))
      found.push_back(std::move(path));
  return found;
}

std::vector<Path> writers(const Program& program, const Expr& buffer) {
  std::vector<Path> found;
  for (Path& path : blocks(program))
    if (contains(written_buffers(path.block()), buffer)) found.push_back(std::move(path));
  return found;
}

std::vector<std::string> loops_of(const Program& program, std::string_view block) {
  std::vector<std::string> names;
  if (const Result<Path> path = find_block(program, block, "loops_of"))
    for (const Stmt& loop : path->loops()) names.push_back(name_of(loop.get<For>().var));
  return names;
}

Program replace(const Program& program, const Path& path, const Stmt& replacement) {
  Stmt now = replacement;
  for (std::size_t i = path.stmts.size() - 1; i-- > 0;) now = with_child(path.stmts[i], path.stmts[i + 1], now);
  return Program{program.name, program.params, now ? now : make(Seq{})};
}

Program insert_before(const Program& program, const Path& path, const Stmt& stmt) {
  return insert(program, path, stmt, /*before=*/true);
}

Program insert_after(const Program& program, const Path& path, const Stmt& stmt) {
  return insert(program, path, stmt, /*before=*/false);
}

Program allocate(const Program& program, const Expr& buffer) {
  return Program{program.name, program.params, make(Allocate{buffer, program.body})};
}

Program remove_allocation(const Program& program, const Expr& buffer) {
  Path path{{program.body}};
  const bool found = descend(path, [&](const Stmt& s) {
    const Allocate* allocation = s.as<Allocate>();
    return allocation && allocation->buffer.is(buffer);
  });
  return found ? replace(program, path, path.target().get<Allocate>().body) : program;
}

bool is_param(const Program& program, const Expr& buffer) { return contains(program.params, buffer); }

std::string fresh_loop_name(const Program& program, std::string_view base) {
  return fresh(names_of(program).loops, base);
}
std::string fresh_block_name(const Program& program, std::string_view base) {
  return fresh(names_of(program).blocks, base);
}
std::string fresh_buffer_name(const Program& program, std::string_view base) {
  return fresh(names_of(program).buffers, base);
}

std::vector<Expr> written_buffers(const Block& block) {
  std::vector<Expr> found;
  const auto visit = [&](const Stmt& s) {
    if (const Store* node = s.as<Store>()) add_once(found, node->buffer);
  };
  if (block.init) walk(block.init, visit);
  walk(block.body, visit);
  return found;
}

std::vector<Expr> read_buffers(const Block& block) {
  std::vector<Expr> found;
  const auto visit = [&](const Expr& e) {
    if (const Load* node = e.as<Load>()) add_once(found, node->buffer);
  };
  if (block.init) walk(block.init, [](const Stmt&) {}, visit);
  walk(block.body, [](const Stmt&) {}, visit);
  if (block.predicate) walk(block.predicate, visit);
  for (const Iter& iter : block.iters) walk(iter.binding, visit);
  return found;
}

Stmt with_predicate(const Block& block, const Expr& condition) {
  Block guarded = block;
  guarded.predicate = block.predicate ? logical_and(block.predicate, condition) : condition;
  return make(std::move(guarded));
}

bool is_reduction(const Block& block) {
  return std::any_of(block.iters.begin(), block.iters.end(),
                     [](const Iter& iter) { return iter.kind == IterKind::Reduce; });
}

}  // namespace hone::schedule
