/// Mappings as loops and index arithmetic.
#pragma once

#include <string_view>
#include <vector>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"
#include "hone/schedule/mapping/mapping.h"
#include "hone/support/function_ref.h"

namespace hone::schedule {

/// The loops of one worker, outermost first and without bodies, and the task they have reached. A loop for each axis of
/// each repeat: `name.0`, `name.1`, …; a limit is not looked at.
struct TaskLoops {
  std::vector<ir::For> loops;
  std::vector<ir::Expr> task;
};
/// `worker` is an expression in [0, mapping.workers()), over variables that `bounds` knows.
TaskLoops task_loops(const Mapping& mapping, const ir::Expr& worker, std::string_view name, const ir::Bounds& bounds);

/// The loops with bodies, around `body`.
ir::Stmt nest(const std::vector<ir::For>& loops, ir::Stmt body);

/// Makes the statement that does one task.
using TaskBody = FunctionRef<ir::Stmt(const std::vector<ir::Expr>& task)>;

/// Does each task of one worker, in order. A guard keeps workers beyond mapping.workers() idle and skips tasks beyond
/// the limit, as far as `bounds` do not show that there are none.
ir::Stmt for_each_task(const Mapping& mapping, const ir::Expr& worker, std::string_view name, const ir::Bounds& bounds,
                       TaskBody body);

/// Runs all workers as the iterations of a loop `name` of this kind, and in each of them its tasks.
ir::Stmt for_each_worker(const Mapping& mapping, ir::ForKind how, std::string_view name, TaskBody body);

}  // namespace hone::schedule
