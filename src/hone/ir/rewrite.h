/// Visitors and rewriters: the only code that knows the children of every kind of node.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/support/function_ref.h"

namespace hone::ir {

using ExprFn = FunctionRef<Expr(const Expr&)>;
using StmtFn = FunctionRef<Stmt(const Stmt&)>;

/// Rebuilds an expression with each child replaced by `f(child)`. Unchanged children give back the same node.
/// Buffers and variables are leaves: the buffer of a Load is passed through `f` too, a buffer's own shape is not.
Expr map_children(const Expr& e, ExprFn f);

/// Rebuilds a statement with each child statement replaced by `on_stmt` and each child expression by `on_expr`.
/// Variables and buffers that a statement defines (For::var, Iter::var, Let::var, Allocate::buffer) and the buffer of a
/// Store are passed through `on_expr` too, so that renaming works; a statement mapped to null is a mistake.
Stmt map_children(const Stmt& s, StmtFn on_stmt, ExprFn on_expr);

/// As above, leaving the expressions alone.
Stmt map_children(const Stmt& s, StmtFn on_stmt);

/// Calls `f` on each direct child, in the order of evaluation.
void for_each_child(const Expr& e, FunctionRef<void(const Expr&)> f);
void for_each_child(const Stmt& s, FunctionRef<void(const Stmt&)> on_stmt, FunctionRef<void(const Expr&)> on_expr);

/// Calls the functions on every node below and including the root, parents first.
void walk(const Expr& e, FunctionRef<void(const Expr&)> f);
void walk(const Stmt& s, FunctionRef<void(const Stmt&)> on_stmt, FunctionRef<void(const Expr&)> on_expr);
void walk(const Stmt& s, FunctionRef<void(const Stmt&)> on_stmt);

/// What to put in place of each variable (or buffer); a short list searched in order.
using Substitution = std::vector<std::pair<Expr, Expr>>;

/// Replaces variables by expressions, and buffers by buffers, everywhere.
Expr substitute(const Expr& e, const Substitution& values);
Stmt substitute(const Stmt& s, const Substitution& values);
Expr substitute(const Expr& e, const Expr& var, const Expr& value);
Stmt substitute(const Stmt& s, const Expr& var, const Expr& value);

/// Rewrites every expression inside a statement, children of `s` first, with `f` applied to each node on the way up.
Expr transform(const Expr& e, ExprFn f);
Stmt transform(const Stmt& s, StmtFn on_stmt, ExprFn on_expr);

/// Whether the variable (or buffer) occurs in the expression.
bool uses(const Expr& e, const Expr& var);
bool uses(const Stmt& s, const Expr& var);

/// The variables in the shapes of a function's parameters, in order of first appearance: sizes that the caller decides.
std::vector<Expr> symbolic_sizes(const Function& function);

}  // namespace hone::ir
