/// Fresh names for what a pass has copied.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Gives every loop, let-bound value, block and allocated buffer that is defined a second time, or whose name is taken,
/// a variable and a name of its own. Passes that copy statements end with this.
ir::Function with_unique_names(const ir::Function& function);

}  // namespace hone::codegen
