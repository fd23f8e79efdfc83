/// What a program asks of a GPU, and whether the target has it.
#pragma once

#include "hone/codegen/target.h"
#include "hone/schedule/program.h"

namespace hone::space {

/// The most that any kernel of a program asks for.
struct GpuUse {
  std::int64_t threads = 1;       ///< of a block
  std::int64_t vthreads = 1;      ///< virtual threads that one thread stands for
  std::int64_t shared_bytes = 0;  ///< of a block
  std::int64_t registers = 0;     ///< of 32 bits that a thread keeps elements of local buffers in
};
GpuUse gpu_use(const schedule::Program& program);

/// An error that says which limit of the target the program exceeds.
Result<void> check_gpu_limits(const schedule::Program& program, const codegen::Target& target);
/// The same for numbers that are known before there is a program; `block` is whose they are.
Result<void> check_gpu_limits(const GpuUse& use, const codegen::Target& target, const std::string& block);

}  // namespace hone::space
