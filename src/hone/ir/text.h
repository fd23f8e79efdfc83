/// The text form of programs: prints, and parses back to an equal program.
///
///     func scale[n](A: f32[n, 4], B: f32[n, 4]) {        # n is a symbolic size
///       alloc T: f32[4] in local align(0, 32, 8)         # in scope up to the closing brace, as is what let defines
///       for i in 0..n parallel @unroll("16") {
///         let row: i64x4 = ramp(0, 1, 4)
///         block scale {
///           vi: spatial(n) = i
///           where i < 100                                # the predicate
///           init { B[vi, 0] = 0f32 }
///           B[vi, row] = (A[vi, row] where row < broadcast(3, 4)) * broadcast(2f32, 4)
///         }
///       }
///       if n == 5 { barrier } else { evaluate prefetch(A[0, 0]) }
///     }
///
/// Constants carry their type (`5i32`, `0.1f32`, `inf_f16`), but for indices (`5`) and bools. From loose to tight:
/// `or`, `and`, `not`, `== != < <=`, `+ -`, `* / // %` (`/` is Div, `//` FloorDiv, `%` FloorMod); all go from left to
/// right. A cast is written as its type, `f32(x)`; a bitcast as `bitcast(u32, x)`. Names that would be read as
/// something else stand between backticks. One statement between braces is itself, several are a Seq; `seq { x }` is a
/// Seq of one.
#pragma once

#include <string>
#include <string_view>

#include "hone/ir/stmt.h"

namespace hone::ir {

/// Prints a node; statements end with a newline. Free variables print as their names, what is missing as `null`.
std::string to_text(const Expr& e);
std::string to_text(const Stmt& s);
std::string to_text(const Function& function);
std::string to_text(const Module& module);

/// Reads what to_text writes. An error names line and column, what was found and what is allowed there. Types are
/// checked on the way, the other rules of programs by verify(). Brackets nest at most 256 deep, an expression has
/// at most 1024 operators, and at most 1024 names are in scope at one place.
Result<Function> parse_function(std::string_view text);
Result<Module> parse_module(std::string_view text);

}  // namespace hone::ir
