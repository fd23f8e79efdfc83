/// The rules every program keeps.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::ir {

/// How far names must tell things apart.
enum class Names {
  Unique,   ///< each loop, block and buffer has its own name, each variable is defined once: what schedule steps need
  InScope,  ///< no two things visible at one place share a name: what is left after unrolling has copied loops
};

/// Checks scopes (each variable and buffer is defined outside its use, once), types, ranks, constants within their
/// types, and that names of loops, blocks and buffers are unique. The first broken rule is the error.
Result<void> verify(const Function& function, Names names = Names::Unique);
/// The functions one by one, and that their names differ.
Result<void> verify(const Module& module, Names names = Names::Unique);

}  // namespace hone::ir
