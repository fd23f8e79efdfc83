/// software_pipeline.
#include <algorithm>

#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/accesses.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/turns.h"

namespace hone::schedule {

using namespace ir;

namespace {

constexpr std::string_view kSoftwarePipeline = "software_pipeline";

/// The buffers that blocks below a statement write.
std::vector<Expr> written_below(const Stmt& s) {
  std::vector<Expr> found;
  for (const Path& path : blocks_below(Path{{s}}))
    for (const Expr& buffer : written_buffers(path.block())) add_once(found, buffer);
  return found;
}

/// The loop's body as its first statement and the others.
struct Stages {
  Stmt first;
  std::vector<Stmt> others;
};

Result<Stages> stages_of(const For& loop) {
  const Seq* body = loop.body.as<Seq>();
  if (!body || body->stmts.size() < 2)
    return error(ErrorCode::IllegalStep, "{}: the body of loop '{}' is one statement, allowed are two or more",
                 kSoftwarePipeline, name_of(loop.var));
  return Stages{body->stmts[0], {body->stmts.begin() + 1, body->stmts.end()}};
}

bool uses_any(const std::vector<Stmt>& stmts, const Expr& buffer) {
  return std::any_of(stmts.begin(), stmts.end(), [&](const Stmt& s) { return uses(s, buffer); });
}

/// An error if the first stage reads what the others write: it would come one iteration too early.
Result<void> check_first_is_ahead(const Stages& stages, const For& loop) {
  std::vector<Expr> written_later;
  for (const Stmt& s : stages.others)
    for (const Expr& buffer : written_below(s)) add_once(written_later, buffer);
  for (const Path& path : blocks_below(Path{{stages.first}}))
    for (const Expr& buffer : read_buffers(path.block()))
      for (const Expr& later : written_later)
        if (buffer.is(later))
          return error(ErrorCode::IllegalStep,
                       "{}: block '{}' reads buffer '{}', which a later statement of loop '{}' writes",
                       kSoftwarePipeline, path.block().name, name_of(buffer), name_of(loop.var));
  return {};
}

/// The buffers that pass from the first stage to the others; an error if they cannot be used in turn.
Result<std::vector<Expr>> passed_buffers(const Program& program, const Path& path, const Stages& stages) {
  std::vector<Expr> passed;
  for (const Expr& buffer : written_below(stages.first)) {
    HONE_TRY(check_turns(program, buffer, path, kSoftwarePipeline));
    if (uses_any(stages.others, buffer)) passed.push_back(buffer);
  }
  if (passed.empty())
    return error(ErrorCode::IllegalStep, "{}: no buffer passes from the first statement of loop '{}' to the others",
                 kSoftwarePipeline, name_of(path.loop().var));
  return passed;
}

/// The program with an allocated buffer cut to the box that one iteration of the loop uses.
std::pair<Program, Expr> shrink_to_iteration(const Program& program, const Expr& whole, const Path& loop) {
  const std::optional<Region> region = region_of(loop.loop().body, whole, Access::Any, {}, loop.bounds());
  if (!region) return {program, whole};  // a loop inside has extent 0
  Buffer cut = whole.get<Buffer>();
  std::vector<Expr> origin(cut.shape.size());  // null: the axis stays whole
  for (std::size_t axis = 0; axis < cut.shape.size(); ++axis) {
    const Range& range = (*region)[axis];
    const std::optional<std::int64_t> extent = range.is_known() ? as_int(range.extent) : std::nullopt;
    if (!extent || !as_int(cut.shape[axis]) || *extent >= constant_value(cut.shape[axis])) continue;
    cut.shape[axis] = imm(*extent);
    if (!is_int(range.min, 0)) origin[axis] = range.min;
  }
  const Expr shrunk = make(std::move(cut), whole.type());
  const Program now = exchange_buffer(program, whole, shrunk, [&](const Indices& indices, const Bounds& bounds) {
    Indices moved = indices;
    for (std::size_t axis = 0; axis < moved.size(); ++axis) {
      if (!origin[axis]) continue;
      const int lanes = moved[axis].type().lanes;
      const Expr distance = lanes > 1 ? make(Broadcast{origin[axis]}, lanes) : origin[axis];
      moved[axis] = simplify(moved[axis] - distance, bounds);
    }
    return moved;
  });
  return {now, shrunk};
}

/// A copy of a statement whose loops and blocks have names of their own.
Stmt renamed_copy(const Program& program, const Stmt& s, std::string_view suffix) {
  Substitution fresh_vars;
  walk(s, [&](const Stmt& child) {
    if (const For* loop = child.as<For>())
      fresh_vars.emplace_back(loop->var,
                              var(fresh_loop_name(program, fmt::format("{}.{}", name_of(loop->var), suffix))));
    if (const Block* block = child.as<Block>())
      for (const Iter& iter : block->iters) fresh_vars.emplace_back(iter.var, var(name_of(iter.var)));
    if (const Let* let = child.as<Let>()) fresh_vars.emplace_back(let->var, var(name_of(let->var), let->var.type()));
  });
  const auto rename = [&](const Stmt& child) {
    const Block* block = child.as<Block>();
    if (!block) return child;
    Block renamed = *block;
    renamed.name = fresh_block_name(program, fmt::format("{}.{}", block->name, suffix));
    return make(std::move(renamed));
  };
  return transform(substitute(s, fresh_vars), rename, [](const Expr& e) { return e; });
}

/// The statement with a condition added to the predicate of every block.
Stmt guarded(const Stmt& s, const Expr& condition) {
  if (const Block* block = s.as<Block>()) return with_predicate(*block, condition);
  return map_children(s, [&](const Stmt& child) { return guarded(child, condition); });
}

}  // namespace

Result<Program> software_pipeline(const Program& program, std::string_view name) {
  HONE_TRY(const Path path, find_loop(program, name, kSoftwarePipeline));
  HONE_TRY(check_not_pipelined(path.loop(), kSoftwarePipeline));
  const std::optional<std::int64_t> extent = as_int(path.loop().extent);
  if (!extent || *extent < 1)
    return error(ErrorCode::IllegalStep, "{}: the extent of loop '{}' is {}, allowed are constants from 1",
                 kSoftwarePipeline, name, extent ? fmt::format("{}", *extent) : "not constant");
  HONE_TRY(const Stages before, stages_of(path.loop()));
  HONE_TRY(check_first_is_ahead(before, path.loop()));
  HONE_TRY(const std::vector<Expr> passed, passed_buffers(program, path, before));

  Program doubled = program;
  for (const Expr& buffer : passed) {
    HONE_TRY(const Path here, find_loop(doubled, name, kSoftwarePipeline));
    const auto [shrunk, cut] = shrink_to_iteration(doubled, buffer, here);
    doubled = take_turns(shrunk, cut, here.loop().var);
  }

  HONE_TRY(const Path here, find_loop(doubled, name, kSoftwarePipeline));
  const For& loop = here.loop();
  HONE_TRY(const Stages stages, stages_of(loop));
  const Expr next = loop.var + 1;
  std::vector<Stmt> body = {guarded(substitute(stages.first, loop.var, next), next < *extent)};
  body.insert(body.end(), stages.others.begin(), stages.others.end());
  const Stmt prologue = renamed_copy(doubled, substitute(stages.first, loop.var, imm(0)), "prologue");
  const Stmt pipelined =
      make(For{loop.var, loop.extent, loop.how, seq(std::move(body)), with(loop.annotations, kPipelined, "1")});
  Program result = replace(doubled, here, seq({prologue, pipelined}));
  HONE_TRY(const Path there, find_loop(result, name, kSoftwarePipeline));
  HONE_TRY(check_loops_above(result, there, kSoftwarePipeline));
  return result;
}

}  // namespace hone::schedule
