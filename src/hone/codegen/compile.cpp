#include "hone/codegen/compile.h"

#include <bit>
#include <unordered_set>

#include "hone/codegen/llvm/backend.h"
#include "hone/codegen/llvm/subtarget.h"
#include "hone/codegen/lower.h"
#include "hone/ir/verify.h"

namespace hone::codegen {

namespace {

Result<void> check_options(const ir::Module& module, const CompileOptions& options) {
  if (options.assume_alignment < 1 || options.assume_alignment > 4096 ||
      !std::has_single_bit(static_cast<std::uint64_t>(options.assume_alignment)))
    return error(ErrorCode::InvalidArgument, "assume_alignment is {}, allowed are powers of two in 1..4096",
                 options.assume_alignment);
  std::unordered_set<std::string> names;
  for (const ir::Function& function : module.functions)
    if (function.name.empty() || !names.insert(function.name).second)
      return error(ErrorCode::InvalidArgument, "function name '{}' is empty or used twice in the module",
                   function.name);
  return {};
}

/// Programs for GPUs are scheduled, but nothing writes code for them yet.
Result<void> check_generates(const Target& target) {
  if (!target.is_gpu()) return {};
  return error(ErrorCode::Unsupported, "target '{}': code is generated for CPUs only, there is none for GPUs yet",
               to_string(target));
}

/// The module in the lowered form, checked.
Result<ir::Module> prepare(ir::Module module, const Target& target, const CompileOptions& options) {
  HONE_TRY(check_generates(target));
  HONE_TRY(check_options(module, options));
  for (ir::Function& function : module.functions) {
    HONE_TRY(ir::verify(function));
    if (check_lowered(function) && !has_lazy_loads(function)) continue;
    HONE_TRY(function, lower(function, target));
    HONE_TRY(check_lowered(function));
  }
  return module;
}

Result<std::string> prepare_and_write(const ir::Module& module, const Target& target, const CompileOptions& options,
                                      Output output) {
  HONE_TRY(const ir::Module lowered, prepare(module, target, options));
  return write_module(lowered, target, options, output);
}

}  // namespace

Result<void> Kernel::operator()(std::span<void* const> args, void* pool) const {
  if (args.size() != params_)
    return error(ErrorCode::InvalidArgument, "kernel '{}' called with {} buffers, it takes {}", name_, args.size(),
                 params_);
  if (entry_(args.data(), pool) != 0)
    return error(ErrorCode::OutOfMemory, "kernel '{}' could not allocate its scratch memory", name_);
  return {};
}

Result<Kernel> CompiledModule::find(std::string_view name) const {
  std::string known;
  for (const Kernel& kernel : kernels_) {
    if (kernel.name() == name) return kernel;
    known += (known.empty() ? "" : ", ") + kernel.name();
  }
  return error(ErrorCode::NotFound, "no kernel '{}' in the module, there are: {}", name, known);
}

Result<void> check_runs_here(const Target& target) {
  HONE_TRY(check_generates(target));
  if (const std::string missing = feature_missing_on_host(target); !missing.empty())
    return error(ErrorCode::Unsupported, "target '{}' needs {}, which this machine lacks", to_string(target), missing);
  return {};
}

Result<CompiledModule> compile(const ir::Module& module, const Target& target, const CompileOptions& options) {
  HONE_TRY(check_runs_here(target));
  HONE_TRY(const ir::Module lowered, prepare(module, target, options));
  HONE_TRY(std::string object, write_module(lowered, target, options, Output::Object));
  return load_object(std::move(object), lowered, options);
}

Result<std::string> emit_object(const ir::Module& module, const Target& target, const CompileOptions& options) {
  return prepare_and_write(module, target, options, Output::Object);
}

Result<std::string> emit_assembly(const ir::Module& module, const Target& target, const CompileOptions& options) {
  return prepare_and_write(module, target, options, Output::Assembly);
}

Result<std::string> emit_llvm(const ir::Module& module, const Target& target, const CompileOptions& options) {
  return prepare_and_write(module, target, options, Output::LlvmIr);
}

}  // namespace hone::codegen
