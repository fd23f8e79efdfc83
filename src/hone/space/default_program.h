/// The default program of a task: a schedule that needs no search, good enough to run a model at once.
#pragma once

#include <cstddef>
#include <span>

#include "hone/codegen/target.h"
#include "hone/ir/stmt.h"
#include "hone/schedule/prepack.h"

namespace hone::space {

using DefaultProgram = schedule::KernelProgram;

/// Schedules the naive program of a task. Parameters at the places `constants` never change between runs. What cannot
/// be improved stays as it is: there is always a program.
DefaultProgram default_program(const ir::Function& naive, std::span<const std::size_t> constants,
                               const codegen::Target& target);

}  // namespace hone::space
