/// The rules every program keeps.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::ir {

/// Checks scopes (each variable and buffer is defined outside its use, once), types, ranks, constants within their
/// types, and that names of loops, blocks and buffers are unique. The first broken rule is the error.
Result<void> verify(const Function& function);
Result<void> verify(const Module& module);

}  // namespace hone::ir
