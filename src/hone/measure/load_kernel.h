/// Compiles a program into the kernel that models and workers call.
#pragma once

#include "hone/codegen/compile.h"
#include "hone/schedule/prepack.h"

namespace hone::measure {

/// A program as machine code in this process, on hone's thread pool and scratch memory.
struct LoadedKernel {
  codegen::CompiledModule code;
  codegen::EntryPoint entry;
  codegen::EntryPoint prepare;  ///< null if nothing is packed
};

/// What is measured is what models run: both are compiled here.
Result<LoadedKernel> load_kernel(const schedule::KernelProgram& program, const codegen::Target& target);

}  // namespace hone::measure
