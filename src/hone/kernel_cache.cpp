#include "hone/kernel_cache.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "hone/graph/operator.h"
#include "hone/ir/rewrite.h"
#include "hone/measure/load_kernel.h"
#include "hone/space/default_program.h"

namespace hone {
namespace {

bool is_float_operation(const ir::Expr& e) {
  if (!e.type().is_float()) return false;
  switch (e.kind()) {
    case ir::Kind::Add:
    case ir::Kind::Sub:
    case ir::Kind::Mul:
    case ir::Kind::Div:
    case ir::Kind::Min:
    case ir::Kind::Max:
    case ir::Kind::Call:
      return true;
    default:
      return false;
  }
}

Result<std::shared_ptr<const CompiledKernel>> compile_one(const KernelRequest& request, const codegen::Target& target) {
  const schedule::KernelProgram program = space::default_program(request.naive, request.constants, target);
  HONE_TRY(measure::LoadedKernel loaded, measure::load_kernel(program, target));
  CompiledKernel kernel{.code = std::move(loaded.code),
                        .entry = loaded.entry,
                        .prepare = loaded.prepare,
                        .flops = request.flops};
  for (const std::size_t param : program.packed) {
    const ir::Expr& buffer = program.main.params[param];
    CompiledKernel::Packed packed{param, graph::element_type(buffer.type()), {}};
    for (const ir::Expr& extent : buffer.get<ir::Buffer>().shape) packed.shape.push_back(ir::constant_value(extent));
    kernel.packed.push_back(std::move(packed));
  }
  return std::make_shared<const CompiledKernel>(std::move(kernel));
}

}  // namespace

double flops_of(const ir::Function& naive) {
  double flops = 0;
  ir::walk(naive.body, [&](const ir::Stmt& s) {
    const ir::Block* block = s.as<ir::Block>();
    if (!block) return;
    double points = 1, operations = 0;
    for (const ir::Iter& iter : block->iters) points *= static_cast<double>(ir::as_int(iter.extent).value_or(1));
    ir::walk(
        block->body, [](const ir::Stmt&) {}, [&](const ir::Expr& e) { operations += is_float_operation(e) ? 1 : 0; });
    flops += points * operations;
  });
  return flops;
}

Result<std::vector<std::shared_ptr<const CompiledKernel>>> KernelCache::compile(
    const std::vector<KernelRequest>& requests) {
  std::vector<Key> keys;
  std::vector<std::size_t> missing;
  std::map<Key, std::size_t> asked;
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      keys.emplace_back(ir::structural_hash(requests[i].naive), requests[i].constants);
      if (!kernels_.contains(keys.back()) && asked.emplace(keys.back(), i).second) missing.push_back(i);
    }
  }
  std::vector<std::optional<Result<std::shared_ptr<const CompiledKernel>>>> made(missing.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < missing.size(); i = next++) made[i] = compile_one(requests[missing[i]], target_);
  };
  const std::size_t workers =
      std::min<std::size_t>(missing.size(), static_cast<std::size_t>(std::max(1, target_.cores)));
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  threads.clear();

  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!*made[i]) return std::move(*made[i]).error();
    kernels_.emplace(keys[missing[i]], **made[i]);
  }
  std::vector<std::shared_ptr<const CompiledKernel>> kernels;
  for (const Key& key : keys) kernels.push_back(kernels_.at(key));
  return kernels;
}

std::size_t KernelCache::size() const {
  const std::scoped_lock lock(mutex_);
  return kernels_.size();
}

}  // namespace hone
