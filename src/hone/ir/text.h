/// The text form of programs: prints, and parses back to an equal program.
#pragma once

#include <string>
#include <string_view>

#include "hone/ir/stmt.h"

namespace hone::ir {

/// Prints a node; statements end with a newline. Free variables print as their names.
std::string to_text(const Expr& e);
std::string to_text(const Stmt& s);
std::string to_text(const Function& function);
std::string to_text(const Module& module);

/// Reads what to_text writes. An error names line and column, what was found and what is allowed there.
Result<Function> parse_function(std::string_view text);
Result<Module> parse_module(std::string_view text);

}  // namespace hone::ir
