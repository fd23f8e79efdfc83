#include "hone/kernel_cache.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "hone/graph/operator.h"
#include "hone/ir/rewrite.h"
#include "hone/measure/load_kernel.h"
#include "hone/measure/records/task_key.h"
#include "hone/schedule/prepack.h"
#include "hone/support/log.h"

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

/// Compiles the program of a candidate.
Result<CompiledKernel> compile_candidate(const space::Space& space, const space::Candidate& candidate,
                                         const codegen::Target& target) {
  HONE_TRY(const schedule::Schedule built, space.build(candidate));
  const schedule::KernelProgram program = schedule::split_packing(built.program());
  HONE_TRY(measure::LoadedKernel loaded, measure::load_kernel(program, target));
  CompiledKernel kernel{.code = std::move(loaded.code), .entry = loaded.entry, .prepare = loaded.prepare};
  for (const std::size_t param : program.packed) {
    const ir::Expr& buffer = program.main.params[param];
    CompiledKernel::Packed packed{param, graph::element_type(buffer.type()), {}};
    for (const ir::Expr& extent : buffer.get<ir::Buffer>().shape) packed.shape.push_back(ir::constant_value(extent));
    kernel.packed.push_back(std::move(packed));
  }
  if (program.prepare) kernel.packing = ir::structural_hash(*program.prepare);
  return kernel;
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

std::optional<runtime::Tensor> KernelCache::find_packing(const KnownPacking& known,
                                                         const runtime::Tensor& constant) const {
  const std::shared_ptr<const void> owner = known.owner.lock();
  if (!owner || known.constant.lock() != constant.owner()) return std::nullopt;
  return runtime::Tensor::view(known.packed.type(), known.packed.shape(), const_cast<std::byte*>(known.packed.data()),
                               owner);
}

Result<std::vector<runtime::Tensor>> KernelCache::pack(const CompiledKernel& kernel,
                                                       std::span<const runtime::Tensor> constants) {
  const std::scoped_lock lock(shared_->packing_mutex);
  std::erase_if(shared_->packings, [](const auto& entry) {
    return std::any_of(entry.second.begin(), entry.second.end(),
                       [](const KnownPacking& k) { return k.owner.expired(); });
  });
  std::vector<const std::byte*> places;
  for (const runtime::Tensor& constant : constants) places.push_back(constant.data());
  std::vector<KnownPacking>& known = shared_->packings[{kernel.packing, places}];
  std::vector<runtime::Tensor> packed;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (std::optional<runtime::Tensor> tensor = find_packing(known[i], constants[i]))
      packed.push_back(*std::move(tensor));
  if (packed.size() == constants.size()) return packed;

  packed.clear();
  known.clear();
  std::vector<void*> pointers;
  for (const runtime::Tensor& constant : constants) pointers.push_back(const_cast<std::byte*>(constant.data()));
  for (const CompiledKernel::Packed& one : kernel.packed) {
    HONE_TRY(runtime::Tensor tensor, runtime::Tensor::allocate(one.type, one.shape));
    pointers.push_back(tensor.data());
    packed.push_back(std::move(tensor));
  }
  if (kernel.prepare(pointers.data(), nullptr) != 0)
    return error(ErrorCode::OutOfMemory, "no scratch memory to pack constants");
  for (std::size_t i = 0; i < packed.size(); ++i)
    known.push_back({constants[i].owner(),
                     runtime::Tensor::view(packed[i].type(), packed[i].shape(), packed[i].data(), nullptr),
                     packed[i].owner()});
  return packed;
}

KernelCache::Key KernelCache::key_of(const space::Task& task) const {
  Key key{ir::structural_hash(task.naive()), task.constants, {}};
  if (choices_.empty()) return key;
  const auto chosen = choices_.find(measure::task_key(task.naive(), task.constants).key);
  if (chosen != choices_.end()) std::get<std::string>(key) = chosen->second;
  return key;
}

Result<std::shared_ptr<const CompiledKernel>> KernelCache::compile_one(const space::Task& task,
                                                                       const std::string& candidate) {
  Chosen chosen;
  if (candidate.empty()) {
    chosen = shared_->tuned.choose(task, target());
  } else {
    HONE_TRY(chosen, parse_choice(candidate, task, target()));
  }
  Result<CompiledKernel> kernel = compile_candidate(*chosen.space, chosen.candidate, target());
  if (!kernel && candidate.empty() &&
      chosen.origin != Origin::Default) {  // of another version of hone, or another shape
    log::warning("records", "a {} candidate cannot be used: {}", search::to_string(chosen.origin),
                 kernel.error().message);
    chosen = default_choice(task, target());
    kernel = compile_candidate(*chosen.space, chosen.candidate, target());
  }
  if (!kernel) return std::move(kernel).error();
  kernel->flops = task.flops;
  kernel->origin = chosen.origin;
  if (shared_->keeps_tasks) kernel->task = std::make_shared<const space::Task>(task);
  return std::make_shared<const CompiledKernel>(*std::move(kernel));
}

Result<std::vector<std::shared_ptr<const CompiledKernel>>> KernelCache::compile(const std::vector<space::Task>& tasks) {
  std::vector<Key> keys;
  std::vector<std::size_t> missing;
  std::map<Key, std::shared_ptr<const CompiledKernel>> found;  // null: asked for, and not there yet
  for (const space::Task& task : tasks) keys.push_back(key_of(task));
  {
    const std::scoped_lock lock(shared_->mutex);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto [place, is_new] = found.emplace(keys[i], nullptr);
      if (!is_new) continue;
      if (const auto known = shared_->kernels.find(keys[i]); known != shared_->kernels.end())
        place->second = known->second.lock();
      if (!place->second) missing.push_back(i);
    }
  }
  std::vector<std::optional<Result<std::shared_ptr<const CompiledKernel>>>> made(missing.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < missing.size(); i = next++)
      made[i] = compile_one(tasks[missing[i]], std::get<std::string>(keys[missing[i]]));
  };
  const std::size_t workers =
      std::min<std::size_t>(missing.size(), static_cast<std::size_t>(std::max(1, target().cores)));
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  threads.clear();

  const std::scoped_lock lock(shared_->mutex);
  std::erase_if(shared_->kernels, [](const auto& known) { return known.second.expired(); });
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!*made[i]) return std::move(*made[i]).error();
    const Key& key = keys[missing[i]];
    std::weak_ptr<const CompiledKernel>& place = shared_->kernels[key];
    std::shared_ptr<const CompiledKernel> kernel = place.lock();  // another thread may have been faster
    if (!kernel) {
      kernel = **made[i];
      place = kernel;
      if (std::get<std::string>(key).empty()) shared_->kept.push_back(kernel);
    }
    found[key] = std::move(kernel);
  }
  std::vector<std::shared_ptr<const CompiledKernel>> kernels;
  for (const Key& key : keys) kernels.push_back(found.at(key));
  return kernels;
}

std::shared_ptr<const CompiledKernel> KernelCache::find(runtime::KernelEntry entry) const {
  const std::scoped_lock lock(shared_->mutex);
  for (const auto& [key, known] : shared_->kernels)
    if (std::shared_ptr<const CompiledKernel> kernel = known.lock(); kernel && kernel->entry == entry) return kernel;
  return nullptr;
}

std::size_t KernelCache::size() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->kept.size();
}

}  // namespace hone
