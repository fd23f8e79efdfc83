/// Compiles programs to machine code: run in this process, or as object file, assembly or LLVM IR.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Addresses of the runtime functions that generated code calls (hone/runtime/parallel.h and scratch.h). Null: looked
/// up among the symbols that this process exports.
struct RuntimeSymbols {
  void (*parallel_for)(void* pool, std::int64_t count, void (*body)(void*, std::int64_t, std::int64_t),
                       void* context) = nullptr;
  void* (*allocate)(std::int64_t bytes) = nullptr;
  void (*release)(void* memory, std::int64_t bytes) = nullptr;
};

/// What the generated code may take for granted.
struct CompileOptions {
  /// Bytes at which every buffer argument is aligned (a power of two); 1 means the alignment of its element type.
  std::int64_t assume_alignment = 1;
  RuntimeSymbols runtime = {};
};

/// A compiled function. `args` points to one buffer per parameter, in order; `pool` is a runtime::ThreadPool or null.
/// Gives 0, or 1 if scratch memory could not be allocated.
using EntryPoint = std::int32_t (*)(void* const* args, void* pool);

/// A function inside a CompiledModule, valid as long as the module lives.
class Kernel {
 public:
  Kernel(std::string called, std::size_t takes, EntryPoint code)
      : name_(std::move(called)), params_(takes), entry_(code) {}

  const std::string& name() const { return name_; }
  std::size_t params() const { return params_; }
  EntryPoint entry() const { return entry_; }

  /// Runs the kernel on one pointer per parameter.
  Result<void> operator()(std::span<void* const> args, void* pool = nullptr) const;

 private:
  std::string name_;
  std::size_t params_;
  EntryPoint entry_;
};

/// Machine code of a module, loaded into this process; freed with the object. Movable; may be used from any thread.
class CompiledModule {
 public:
  /// Owns the loaded code.
  class Code {
   public:
    virtual ~Code() = default;
  };

  CompiledModule(std::shared_ptr<Code> code, std::vector<Kernel> entries)
      : code_(std::move(code)), kernels_(std::move(entries)) {}

  /// The kernel of this name, or an error that names those there are.
  Result<Kernel> find(std::string_view name) const;
  std::span<const Kernel> kernels() const { return kernels_; }

 private:
  std::shared_ptr<Code> code_;
  std::vector<Kernel> kernels_;
};

/// An error unless this machine runs code for the target: it names a feature that the machine lacks.
Result<void> check_runs_here(const Target& target);

/// Compiles for this process. The functions may be scheduled (then they are lowered first) or lowered already. A target
/// with features that this machine lacks is Unsupported. May be called from several threads at once.
Result<CompiledModule> compile(const ir::Module& module, const Target& target, const CompileOptions& options = {});

/// The bytes of a relocatable ELF object.
Result<std::string> emit_object(const ir::Module& module, const Target& target, const CompileOptions& options = {});
Result<std::string> emit_assembly(const ir::Module& module, const Target& target, const CompileOptions& options = {});
/// LLVM IR after optimisation.
Result<std::string> emit_llvm(const ir::Module& module, const Target& target, const CompileOptions& options = {});

/// Gives the memory of the compiler's own code back to the system. May be called at any time: what is compiled after
/// this, or meanwhile, has it read again, which takes a few milliseconds.
void release_compiler_pages();

}  // namespace hone::codegen
