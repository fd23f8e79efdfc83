#include "hone/cost/naive_blocks.h"

#include <algorithm>
#include <cstdlib>

#include "hone/cost/program_tables.h"
#include "hone/ir/rewrite.h"
#include "hone/schedule/program.h"

namespace hone::cost {
namespace {

/// How far an access moves with a loop: by the smallest step that it makes.
std::int64_t stride_of(const ProgramTables& tables, const AccessRow& access, std::int32_t loop) {
  std::int64_t stride = 0, inner = 1;
  const std::span<const AxisRow> axes = tables.axes_of(access);
  for (std::size_t i = axes.size(); i-- > 0;) {
    for (const IndexTerm& term : tables.terms_of(axes[i]))
      if (term.loop == loop && term.coefficient != 0) {
        const std::int64_t step = std::abs(term.coefficient) * inner;
        if (stride == 0 || (term.divisor == 1 && step < stride)) stride = step;
      }
    inner *= std::max<std::int64_t>(1, axes[i].extent);
  }
  return stride;
}

/// The names of loops in the order of the tables: as they stand in the text.
std::vector<std::string> loop_names(const ir::Function& naive) {
  std::vector<std::string> names;
  ir::walk(naive.body, [&](const ir::Stmt& s) {
    if (const ir::For* loop = s.as<ir::For>()) names.push_back(ir::name_of(loop->var));
  });
  return names;
}

std::string variable_of(const ir::Block& block, const std::string& loop) {
  for (const ir::Iter& iter : block.iters)
    if (const ir::Var* var = iter.binding.as<ir::Var>(); var && var->name == loop) return ir::name_of(iter.var);
  return {};
}

}  // namespace

std::size_t NaiveBlocks::find_block(std::string_view name) const {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const NaiveBlock& b) { return b.name == name; });
  return static_cast<std::size_t>(found - blocks.begin());
}

Result<NaiveBlocks> naive_blocks(const ir::Function& naive) {
  ProgramTables tables;
  HONE_TRY(tables.fill(naive));
  const std::vector<std::string> names = loop_names(naive);
  NaiveBlocks found;
  for (const ir::Expr& param : naive.params) found.params.push_back(ir::name_of(param));
  std::size_t statement = 0;
  for (const schedule::Path& path : schedule::blocks(naive)) {
    const ir::Block& block = path.block();
    NaiveBlock& made = found.blocks.emplace_back();
    made.name = block.name;
    made.is_reduction = schedule::is_reduction(block);
    for (const ir::Expr& buffer : schedule::written_buffers(block)) made.buffers.push_back(ir::name_of(buffer));
    for (const ir::Expr& buffer : schedule::read_buffers(block)) made.buffers.push_back(ir::name_of(buffer));
    // The init is a statement of its own, before the update.
    std::size_t stores = 0;
    const auto count = [&](const ir::Stmt& s) { stores += s.as<ir::Store>() ? 1 : 0; };
    if (block.init) ir::walk(block.init, count);
    ir::walk(block.body, count);
    if (stores == 0 || statement + stores > tables.statements().size())
      return error(ErrorCode::Unsupported, "block '{}' stores nothing", block.name);
    statement += stores;
    const StatementRow& update = tables.statements()[statement - 1];
    const std::span<const AccessRow> accesses = tables.accesses_of(update);
    made.loads = accesses.size() - 1;
    for (std::size_t a = 0; a < accesses.size() && made.accessed.size() < NaiveAxis::kAccesses; ++a)
      if (a == 0 || accesses[a].buffer != accesses[0].buffer)
        made.accessed.push_back(ir::name_of(tables.buffers()[static_cast<std::size_t>(accesses[a].buffer)].buffer));
    for (std::size_t i = 0; i < update.loops.size; ++i) {
      const std::int32_t loop = tables.loops_of(update)[i];
      NaiveAxis& axis = made.axes.emplace_back();
      axis.loop = names[static_cast<std::size_t>(loop)];
      axis.variable = variable_of(block, axis.loop);
      axis.extent = tables.loops()[static_cast<std::size_t>(loop)].extent;
      axis.is_reduction = tables.roles_of(update)[i] != LoopRole::Spatial;
      // What a reduction loads to add to it moves as its store does, and says nothing new.
      std::size_t place = 0;
      for (std::size_t a = 0; a < accesses.size() && place < NaiveAxis::kAccesses; ++a)
        if (a == 0 || accesses[a].buffer != accesses[0].buffer)
          axis.strides[place++] = stride_of(tables, accesses[a], loop);
      made.points *= static_cast<double>(axis.extent);
    }
    made.operations = update.ops.arithmetic();
  }
  if (found.blocks.empty()) return error(ErrorCode::Unsupported, "'{}' has no block", naive.name);
  for (std::size_t i = 1; i < found.blocks.size(); ++i) {
    const NaiveBlock &best = found.blocks[found.main], &other = found.blocks[i];
    if (std::pair(other.is_reduction, other.points) > std::pair(best.is_reduction, best.points)) found.main = i;
  }
  return found;
}

}  // namespace hone::cost
