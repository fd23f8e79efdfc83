/// The LLVM back end, behind an interface without LLVM's headers.
#pragma once

#include <string>

#include "hone/codegen/compile.h"

namespace hone::codegen {

/// What the back end writes.
enum class Output { Object, Assembly, LlvmIr };

/// Whether a function has no blocks, no loops but serial and parallel ones, and only buffers of one axis: then it needs
/// no lowering.
bool is_flat(const ir::Function& function);

/// Checks that a function has the lowered form that the back end takes; the first violation is the error.
Result<void> check_lowered(const ir::Function& function);

/// Writes lowered functions, which check_lowered accepts.
Result<std::string> write_module(const ir::Module& lowered, const Target& target, const CompileOptions& options,
                                 Output output);

/// Loads an object that write_module wrote into this process.
Result<CompiledModule> load_object(std::string object, const ir::Module& lowered, const CompileOptions& options);

}  // namespace hone::codegen
