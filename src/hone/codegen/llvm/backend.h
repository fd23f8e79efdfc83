/// The LLVM back end, behind an interface without LLVM's headers.
#pragma once

#include <string>

#include "hone/codegen/compile.h"

namespace hone::codegen {

/// What the back end writes.
enum class Output { Object, Assembly, LlvmIr };

/// Checks that a function has the lowered form that the back end takes; the first violation is the error.
Result<void> check_lowered(const ir::Function& function);

/// Whether a load without a mask stands where it may have to stay unevaluated: in an arm of a Select, or behind an And
/// or Or. The back end evaluates it all the same; lowering gives it a mask unless it is always within bounds.
bool has_lazy_loads(const ir::Function& function);

/// Writes lowered functions, which check_lowered accepts.
Result<std::string> write_module(const ir::Module& lowered, const Target& target, const CompileOptions& options,
                                 Output output);

/// Loads an object that write_module wrote into this process.
Result<CompiledModule> load_object(std::string object, const ir::Module& lowered, const CompileOptions& options);

}  // namespace hone::codegen
