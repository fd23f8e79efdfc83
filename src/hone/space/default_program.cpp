#include "hone/space/default_program.h"

#include "hone/schedule/primitives.h"
#include "hone/schedule/program.h"

namespace hone::space {
namespace {

using schedule::Program;

/// Applies a step if it is legal.
void attempt(Program& program, Result<Program> changed) {
  if (changed) program = *std::move(changed);
}

/// Loops of fewer iterations in all are not worth waking another thread.
constexpr std::int64_t kParallelWork = 1 << 14;

void inline_injective(Program& program) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const schedule::Path& path : schedule::blocks(program)) {
      const ir::Block& block = path.block();
      if (schedule::is_reduction(block)) continue;
      if (Result<Program> inlined = schedule::compute_inline(program, block.name)) {
        program = *std::move(inlined);
        is_changed = true;
        break;
      }
    }
  }
}

std::int64_t work_of(const ir::Block& block) {
  std::int64_t work = 1;
  for (const ir::Iter& iter : block.iters) work *= ir::as_int(iter.extent).value_or(1);
  return work;
}

void schedule_block(Program& program, const std::string& name, const codegen::Target& target) {
  const Result<schedule::Path> path = schedule::find_block(program, name, "default");
  if (!path) return;
  const ir::Block block = path->block();
  std::vector<std::string> loops = schedule::loops_of(program, name);
  std::vector<std::string> spatial;
  for (std::size_t i = 0; i < loops.size() && i < block.iters.size(); ++i)
    if (block.iters[i].kind == ir::IterKind::Spatial) spatial.push_back(loops[i]);
  if (spatial.empty() || loops.size() != block.iters.size()) return;
  const std::string last = spatial.back();
  if (!schedule::is_reduction(block) && spatial.size() > 1) {
    std::vector<std::string> outer(spatial.begin(), spatial.end() - 1);
    if (outer.size() > 1) attempt(program, schedule::fuse(program, outer));
  }
  const std::int64_t lanes = target.lanes(32);
  if (!schedule::is_reduction(block)) {
    if (Result<Program> split = schedule::split(program, last, std::vector<std::int64_t>{schedule::kRest, lanes}))
      if (Result<Program> vectorized = schedule::vectorize(*split, last + ".1")) program = *std::move(vectorized);
  }
  const std::vector<std::string> now = schedule::loops_of(program, name);
  if (!now.empty() && work_of(block) >= kParallelWork) attempt(program, schedule::parallel(program, now.front()));
}

}  // namespace

DefaultProgram default_program(const ir::Function& naive, std::span<const std::size_t> constants,
                               const codegen::Target& target) {
  (void)constants;
  Program program = naive;
  inline_injective(program);
  std::vector<std::string> names;
  for (const schedule::Path& path : schedule::blocks(program)) names.push_back(path.block().name);
  for (const std::string& name : names) schedule_block(program, name, target);
  return {program, std::nullopt, {}};
}

}  // namespace hone::space
