#include "hone/schedule/mapping/lower_mapping.h"

#include <fmt/format.h>

#include "hone/ir/simplify.h"

namespace hone::schedule {

using namespace ir;

TaskLoops task_loops(const Mapping& mapping, const Expr& worker, std::string_view name, const Bounds& bounds) {
  TaskLoops result{.loops = {}, .task = std::vector<Expr>(mapping.rank(), imm(0))};
  Bounds inner = bounds;
  std::int64_t faster = mapping.workers();
  bool is_slowest = true;  // the slowest digit needs no modulo
  for (const Digit& digit : mapping.digits()) {
    Expr value;
    if (digit.kind == PartKind::Repeat) {
      value = var(fmt::format("{}.{}", name, result.loops.size()));
      result.loops.push_back({.var = value, .extent = imm(digit.extent), .body = {}});
      inner.add_extent(value, imm(digit.extent));
    } else {
      faster /= digit.extent;
      value = is_slowest ? floor_div(worker, faster) : floor_mod(floor_div(worker, faster), digit.extent);
      is_slowest = is_slowest && digit.extent == 1;
    }
    if (digit.extent == 1) continue;
    result.task[digit.axis] = result.task[digit.axis] + value * digit.stride;
  }
  for (Expr& index : result.task) index = simplify(index, inner);
  return result;
}

Stmt nest(const std::vector<For>& loops, Stmt body) {
  for (std::size_t i = loops.size(); i-- > 0;)
    body = make(For{loops[i].var, loops[i].extent, loops[i].how, std::move(body), loops[i].annotations});
  return body;
}

Stmt for_each_task(const Mapping& mapping, const Expr& worker, std::string_view name, const Bounds& bounds,
                   TaskBody body) {
  const TaskLoops tasks = task_loops(mapping, worker, name, bounds);
  Bounds inner = bounds;
  for (const For& loop : tasks.loops) inner.add_extent(loop.var, loop.extent);

  Stmt done = body(tasks.task);
  const Index shape = mapping.task_shape();
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const Expr guard = simplify(tasks.task[axis] < shape[axis], inner);
    if (mapping.is_limited() && !is_int(guard, 1)) done = make(If{.condition = guard, .then = done});
  }
  done = nest(tasks.loops, done);
  const Expr has_tasks = simplify(worker < mapping.workers(), bounds);
  return is_int(has_tasks, 1) ? done : make(If{.condition = has_tasks, .then = done});
}

Stmt for_each_worker(const Mapping& mapping, ForKind how, std::string_view name, TaskBody body) {
  const Expr worker = var(std::string(name));
  const Expr count = imm(mapping.workers());
  Bounds bounds;
  bounds.add_extent(worker, count);
  return make(
      For{.var = worker, .extent = count, .how = how, .body = for_each_task(mapping, worker, name, bounds, body)});
}

}  // namespace hone::schedule
