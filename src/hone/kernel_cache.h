/// The kernel cache: schedules and compiles the programs of groups, each once, however often a model needs it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "hone/codegen/compile.h"
#include "hone/codegen/target.h"
#include "hone/ir/equal.h"
#include "hone/runtime/plan.h"
#include "hone/space/space.h"
#include "hone/tuned.h"

namespace hone {

/// A program ready to run.
struct CompiledKernel {
  /// A constant that is packed ahead of time.
  struct Packed {
    std::size_t param;          ///< whose place it takes
    runtime::ElementType type;  ///< of the packed buffer
    runtime::Shape shape;
  };

  codegen::CompiledModule code;
  runtime::KernelEntry entry = nullptr;
  runtime::KernelEntry prepare = nullptr;  ///< takes the constants at the places of `packed`, then their packed buffers
  std::vector<Packed> packed;
  ir::Hash128 packing;                      ///< the structure of `prepare`
  double flops = 0;                         ///< floating-point operations of one call, whatever the algorithm
  Origin origin = Origin::Default;          ///< of the candidate that it was compiled from
  std::shared_ptr<const space::Task> task;  ///< null unless the cache keeps tasks
};

/// The floating-point operations of a naive program: those of each block's body, once per point of its domain.
double flops_of(const ir::Function& naive);

/// Candidates as JSON, by the key of their task (measure::TaskKey::key).
using KernelChoices = std::map<std::string, std::string>;

/// Compiled kernels by the structure of their naive programs. Thread-safe.
class KernelCache {
 public:
  /// `records` is the file that says what tuning found; it may be empty. What is not in there is compiled to its first
  /// choice. With `keeps_tasks`, kernels remember what they were compiled from.
  explicit KernelCache(codegen::Target target, std::string records = {}, bool keeps_tasks = false,
                       FirstChoice first = FirstChoice())
      : shared_(std::make_shared<Shared>(std::move(target), std::move(records), keeps_tasks, std::move(first))) {}

  /// The same, but these tasks are compiled to these candidates, whatever records say; one that cannot be compiled is
  /// an error. What both compile and pack alike is there once, and what only this one wants as long as a plan has it.
  KernelCache(const KernelCache& other, KernelChoices choices) : shared_(other.shared_), choices_(std::move(choices)) {}

  const codegen::Target& target() const { return shared_->target; }
  const FirstChoice& first_choice() const { return shared_->tuned.first_choice(); }

  /// The kernels of all tasks, in their order; what is missing is compiled, on all cores.
  Result<std::vector<std::shared_ptr<const CompiledKernel>>> compile(const std::vector<space::Task>& tasks);

  /// Packs constants, given in the order of `kernel.packed`, as the kernel wants them. What is packed already, for
  /// another plan that is still there, is shared: kernels for other shapes often pack alike.
  Result<std::vector<runtime::Tensor>> pack(const CompiledKernel& kernel, std::span<const runtime::Tensor> constants);

  /// The kernel with this entry; null if it is none of ours.
  std::shared_ptr<const CompiledKernel> find(runtime::KernelEntry entry) const;

  /// How many kernels were compiled so far.
  std::size_t size() const;

 private:
  /// The structure of the naive program, the places of its constants, and the chosen candidate; empty: see Tuned.
  using Key = std::tuple<ir::Hash128, std::vector<std::size_t>, std::string>;

  /// A constant and what it was packed to, as long as both are there.
  struct KnownPacking {
    std::weak_ptr<const void> constant;
    runtime::Tensor packed;  ///< without its owner
    std::weak_ptr<const void> owner;
  };

  /// What caches with different choices have in common.
  struct Shared {
    Shared(codegen::Target for_target, std::string records, bool keeps, FirstChoice first)
        : target(std::move(for_target)), tuned(std::move(records), std::move(first)), keeps_tasks(keeps) {}

    codegen::Target target;
    Tuned tuned;
    bool keeps_tasks;
    std::mutex mutex, packing_mutex;
    std::map<Key, std::weak_ptr<const CompiledKernel>> kernels;
    std::vector<std::shared_ptr<const CompiledKernel>> kept;  ///< those that nobody chose
    std::map<std::pair<ir::Hash128, std::vector<const std::byte*>>, std::vector<KnownPacking>> packings;
  };

  Key key_of(const space::Task& task) const;
  Result<std::shared_ptr<const CompiledKernel>> compile_one(const space::Task& task, const std::string& candidate);
  std::optional<runtime::Tensor> find_packing(const KnownPacking& known, const runtime::Tensor& constant) const;

  std::shared_ptr<Shared> shared_;
  KernelChoices choices_;
};

}  // namespace hone
