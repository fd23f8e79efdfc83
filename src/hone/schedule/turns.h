/// Two copies of a buffer, used in turn by the iterations of a loop: what double_buffer and software_pipeline share.
#pragma once

#include <string_view>

#include "hone/schedule/program.h"

namespace hone::schedule {

/// An error unless the iterations of the loop may use two copies of the buffer in turn: the loop is serial, all
/// accesses stand below it, and no value passes through the buffer from one iteration to the next.
Result<void> check_turns(const Program& program, const ir::Expr& buffer, const Path& loop, std::string_view step);

/// The program with a new first axis of extent 2 in an allocated buffer, indexed by `loop_var % 2`.
Program take_turns(const Program& program, const ir::Expr& buffer, const ir::Expr& loop_var);

}  // namespace hone::schedule
