/// LLVM's optimiser and code generator, set up for straight-line vector code. Only this folder's sources include it.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <memory>
#include <string>

#include "hone/codegen/llvm/backend.h"

namespace hone::codegen {

/// LLVM's description of the machine to generate code for.
Result<std::unique_ptr<llvm::TargetMachine>> target_machine(const Target& target);

/// Promotes buffers to registers, removes what is computed twice and hoists what does not change in a loop. Loops keep
/// their shape: hone's passes have unrolled and vectorized already.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

/// Generates code; `output` is Object or Assembly.
Result<std::string> generate(llvm::Module& module, llvm::TargetMachine& machine, Output output);

}  // namespace hone::codegen
