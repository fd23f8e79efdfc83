/// Statement nodes, functions and modules.
#pragma once

#include <string>
#include <vector>

#include "hone/ir/expr.h"

namespace hone::ir {

/// How the iterations of a loop are run. The last seven bind the loop to a GPU index.
enum class ForKind : std::uint8_t {
  Serial,
  Parallel,
  Vectorized,
  Unrolled,
  BlockX,
  BlockY,
  BlockZ,
  ThreadX,
  ThreadY,
  ThreadZ,
  VThread
};

/// "serial", "parallel", …, "block_x", …, "vthread".
std::string_view to_string(ForKind how);
std::optional<ForKind> find_for_kind(std::string_view name);
bool is_gpu_index(ForKind how);
/// Whether the iterations are threads of one GPU block, virtual ones included.
bool is_thread_index(ForKind how);

/// A hint on a loop or block; the meaning is the key's. Kept sorted by key, one entry a key.
struct Annotation {
  std::string key, value;
  bool operator==(const Annotation&) const = default;
};
using Annotations = std::vector<Annotation>;

/// The value of a key, or null.
const std::string* find(const Annotations& annotations, std::string_view key);
Annotations with(Annotations annotations, std::string_view key, std::string_view value);

enum class IterKind : std::uint8_t { Spatial, Reduce };

/// One iteration variable of a block: takes the value of `binding` (over the loops outside) in [0, extent).
struct Iter {
  Expr var, extent;
  IterKind kind;
  Expr binding;
};

/// Runs `body` for each value of `var` in [0, extent). Iterations of parallel and vectorized loops do not depend on
/// each other; those of unrolled loops run in order. A loop bound to a thread index below another one bound to the same
/// index fills memory that the threads share: it is run by all of them together, an iteration by each; run one after
/// the other, each thread does all of it, to the same effect.
struct For {
  Expr var, extent;
  ForKind how = ForKind::Serial;
  Stmt body;
  Annotations annotations = {};
};
/// A named computation, the unit that schedule steps move. For each setting of the loops outside for which `predicate`
/// holds: binds the iteration variables; if `init` is not null and all reduction variables are 0, runs `init`; then
/// runs `body`. Each point of the iteration domain is visited at least once, each point with a reduction exactly once
/// between two inits. Spatial variables may run in any order; so may reduction variables once `init` has run.
struct Block {
  std::string name;
  std::vector<Iter> iters;
  Expr predicate;  ///< null: always true
  Stmt init;       ///< null: none
  Stmt body;
  Annotations annotations = {};
};
/// Writes one element per lane; lanes whose `mask` is false write nothing. Later lanes win if indices coincide.
struct Store {
  Expr buffer;
  std::vector<Expr> indices;
  Expr value;
  Expr mask = {};
};
/// `otherwise` may be null.
struct If {
  Expr condition;
  Stmt then, otherwise = {};
};
/// Runs the statements in order; no statement at all does nothing.
struct Seq {
  std::vector<Stmt> stmts;
};
/// Makes the buffer exist, with undefined content, while `body` runs.
struct Allocate {
  Expr buffer;
  Stmt body;
};
/// Names a value in `body`.
struct Let {
  Expr var, value;
  Stmt body;
};
/// Evaluates an expression for its effect (a prefetch).
struct Evaluate {
  Expr value;
};
/// Waits until all threads of a GPU block arrive; nothing on a CPU.
struct Barrier {};

Stmt make(For node);
Stmt make(Block node);
Stmt make(Store node);
Stmt make(If node);
Stmt make(Seq node);
Stmt make(Allocate node);
Stmt make(Let node);
Stmt make(Evaluate node);
Stmt make(Barrier node);

/// A sequence: nested sequences are spliced in, a single statement stays itself.
Stmt seq(std::vector<Stmt> stmts);
Stmt store(const Expr& buffer, std::vector<Expr> indices, const Expr& value);

/// A compiled unit: parameters are buffers in main memory that the caller owns; those that the body writes are outputs.
struct Function {
  std::string name;
  std::vector<Expr> params;
  Stmt body;
};

/// Functions that are compiled together; names are unique.
struct Module {
  std::vector<Function> functions;
};

}  // namespace hone::ir
