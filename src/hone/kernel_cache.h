/// The kernel cache: schedules and compiles the programs of groups, each once, however often a model needs it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hone/codegen/compile.h"
#include "hone/codegen/target.h"
#include "hone/ir/equal.h"
#include "hone/ir/stmt.h"
#include "hone/runtime/plan.h"

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
  double flops = 0;  ///< floating-point operations of one call
};

/// One program to compile.
struct KernelRequest {
  ir::Function naive;
  std::vector<std::size_t> constants;  ///< parameters that never change
  double flops = 0;                    ///< of what it means, whatever the algorithm
};

/// The floating-point operations of a naive program: those of each block's body, once per point of its domain.
double flops_of(const ir::Function& naive);

/// Compiled kernels by the structure of their naive programs. Thread-safe.
class KernelCache {
 public:
  explicit KernelCache(codegen::Target target) : target_(std::move(target)) {}

  const codegen::Target& target() const { return target_; }

  /// The kernels of all requests, in their order; what is missing is compiled, on all cores.
  Result<std::vector<std::shared_ptr<const CompiledKernel>>> compile(const std::vector<KernelRequest>& requests);

  /// How many kernels were compiled so far.
  std::size_t size() const;

 private:
  using Key = std::pair<ir::Hash128, std::vector<std::size_t>>;

  codegen::Target target_;
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const CompiledKernel>> kernels_;
};

}  // namespace hone
