/// The default program of a task: a schedule that needs no search, good enough to run a model at once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/ir/stmt.h"

namespace hone::space {

/// A scheduled program, and what brings its constant inputs into the layout it wants.
struct DefaultProgram {
  ir::Function main;  ///< as many parameters as the naive program, in the same order
  /// Packs constants ahead of time: takes the inputs at the places `packed`, then the buffers that main takes instead.
  std::optional<ir::Function> prepare;
  std::vector<std::size_t> packed;  ///< places among the parameters of main
};

/// Schedules the naive program of a task. Parameters at the places `constants` never change between runs. What cannot
/// be improved stays as it is: there is always a program.
DefaultProgram default_program(const ir::Function& naive, std::span<const std::size_t> constants,
                               const codegen::Target& target);

}  // namespace hone::space
