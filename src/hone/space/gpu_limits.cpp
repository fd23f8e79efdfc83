#include "hone/space/gpu_limits.h"

#include <algorithm>
#include <map>

#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

using schedule::Path;
using schedule::Program;

/// The path to the innermost loop around all blocks that use a buffer; empty if there is none.
Path loop_around_uses(const Program& program, const ir::Expr& buffer) {
  std::optional<Path> common;
  for (const Path& path : schedule::blocks(program)) {
    if (!ir::uses(path.target(), buffer)) continue;
    if (!common) {
      common = path;
      continue;
    }
    std::size_t depth = 0;
    while (depth < common->stmts.size() && depth < path.stmts.size() && common->stmts[depth].is(path.stmts[depth]))
      ++depth;
    common->stmts.resize(depth);
  }
  if (!common) return {};
  while (!common->stmts.empty() && !common->target().as<ir::For>()) common->stmts.pop_back();
  return *std::move(common);
}

/// Elements of a buffer that are alive at a time: what is written below the innermost loop around all its uses.
std::int64_t elements_alive(const ir::Expr& buffer, const Path& loop) {
  const std::vector<ir::Expr>& shape = buffer.get<ir::Buffer>().shape;
  ir::Bounds sharing, outer;
  for (const ir::Stmt& s : loop.stmts) {
    const ir::For* around = s.as<ir::For>();
    if (!around) continue;
    const bool is_shared = buffer.get<ir::Buffer>().scope == ir::Scope::Shared && ir::is_thread_index(around->how);
    (is_shared ? sharing : outer).add_extent(around->var, around->extent);
  }
  std::optional<ir::Region> region;
  if (!loop.stmts.empty()) region = ir::region_of(loop.loop().body, buffer, ir::Access::Write, sharing, outer);
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t extent = ir::as_int(shape[axis]).value_or(1);
    if (region && (*region)[axis].is_known())
      extent = std::min(extent, ir::as_int((*region)[axis].extent).value_or(extent));
    elements *= std::max<std::int64_t>(extent, 1);
  }
  return elements;
}

/// The statement at the root that a path leads through: the kernel.
const ir::Stmt& kernel_of(const Path& path) {
  for (const ir::Stmt& s : path.stmts)
    if (!s.as<ir::Allocate>() && !s.as<ir::Seq>()) return s;
  return path.target();
}

}  // namespace

GpuUse gpu_use(const Program& program) {
  GpuUse use;
  struct Kernel {
    ir::Stmt root;
    GpuUse use;
  };
  std::vector<Kernel> kernels;
  const auto kernel = [&](const Path& path) -> GpuUse& {
    const ir::Stmt& root = kernel_of(path);
    for (Kernel& known : kernels)
      if (known.root.is(root)) return known.use;
    kernels.push_back({root, {}});
    return kernels.back().use;
  };
  for (const Path& path : schedule::blocks(program)) {
    std::map<ir::ForKind, std::int64_t> threads;
    std::int64_t vthreads = 1, product = 1;
    for (const ir::Stmt& s : path.loops()) {
      const ir::For& loop = s.get<ir::For>();
      const std::int64_t extent = ir::as_int(loop.extent).value_or(1);
      if (loop.how == ir::ForKind::VThread)
        vthreads *= extent;
      else if (ir::is_thread_index(loop.how))
        threads[loop.how] = extent;
    }
    for (const auto& [index, extent] : threads) product *= extent;
    GpuUse& here = kernel(path);
    here.threads = std::max(here.threads, product);
    here.vthreads = std::max(here.vthreads, vthreads);
  }
  ir::walk(program.body, [&](const ir::Stmt& s) {
    const ir::Allocate* allocation = s.as<ir::Allocate>();
    if (!allocation) return;
    const ir::Scope scope = allocation->buffer.get<ir::Buffer>().scope;
    if (scope == ir::Scope::Global) return;
    const Path loop = loop_around_uses(program, allocation->buffer);
    const std::int64_t elements = elements_alive(allocation->buffer, loop);
    const int bits = allocation->buffer.type().bits();
    GpuUse& here = loop.stmts.empty() ? use : kernel(loop);  // one that several kernels use exists all the time
    if (scope == ir::Scope::Shared)
      here.shared_bytes += elements * ceil_div(bits, 8);
    else
      here.registers += elements * ceil_div(bits, 32) * here.vthreads;
  });
  for (const Kernel& one : kernels) {
    use.threads = std::max(use.threads, one.use.threads);
    use.vthreads = std::max(use.vthreads, one.use.vthreads);
    use.shared_bytes = std::max(use.shared_bytes, one.use.shared_bytes);
    use.registers = std::max(use.registers, one.use.registers);
  }
  return use;
}

Result<void> check_gpu_limits(const GpuUse& use, const codegen::Target& target, const std::string& block) {
  const codegen::GpuLimits& limits = target.gpu;
  const auto check = [&](std::int64_t found, std::int64_t most, std::string_view what) -> Result<void> {
    if (found <= most) return {};
    return error(ErrorCode::IllegalStep, "gpu: '{}' has {} {}, allowed are {}", block, found, what, most);
  };
  HONE_TRY(check(use.threads, limits.max_threads, "threads in a block"));
  HONE_TRY(check(use.vthreads, limits.max_vthreads(), "virtual threads"));
  HONE_TRY(check(use.shared_bytes, limits.shared_bytes, "bytes of shared memory"));
  return check(use.registers, limits.registers, "registers in a thread");
}

Result<void> check_gpu_limits(const Program& program, const codegen::Target& target) {
  return check_gpu_limits(gpu_use(program), target, program.name);
}

}  // namespace hone::space
