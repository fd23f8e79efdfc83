#include "hone/codegen/lower.h"

#include <algorithm>

#include "hone/codegen/compact_buffers.h"
#include "hone/codegen/flatten_buffers.h"
#include "hone/codegen/hoist_guards.h"
#include "hone/codegen/hoist_inits.h"
#include "hone/codegen/lower_blocks.h"
#include "hone/codegen/mask_loads.h"
#include "hone/codegen/partition_loops.h"
#include "hone/codegen/promote_accumulators.h"
#include "hone/codegen/reduce_lanes.h"
#include "hone/codegen/unroll_loops.h"
#include "hone/codegen/vectorize_loops.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// An error unless the size of the buffer is a constant, far from overflow.
Result<void> check_size(const Function& f, const Expr& buffer) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
  std::int64_t elements = 1;
  for (const Expr& extent : buffer.get<Buffer>().shape) {
    const std::optional<std::int64_t> size = as_int(extent);
    if (!size)
      return error(ErrorCode::Unsupported, "function '{}': buffer '{}' has a symbolic size, allowed are constants",
                   f.name, name_of(buffer));
    if (*size > kMaxElements / elements)
      return error(ErrorCode::Unsupported, "function '{}': buffer '{}' has more than {} elements", f.name,
                   name_of(buffer), kMaxElements);
    elements *= std::max<std::int64_t>(*size, 1);
  }
  return {};
}

Result<void> check_sizes(const Function& f) {
  for (const Expr& param : f.params) HONE_TRY(check_size(f, param));
  Result<void> result;
  walk(f.body, [&](const Stmt& s) {
    const Allocate* allocation = s.as<Allocate>();
    if (allocation && result) result = check_size(f, allocation->buffer);
  });
  return result;
}

Function simplify_body(const Function& f, Evaluation evaluation) {
  return {f.name, f.params, simplify(f.body, {}, evaluation)};
}

/// Runs loops bound to GPU indices one iteration after the other.
Function serialize_gpu_loops(const Function& f) {
  const auto serialize = [](const Stmt& s) {
    const For* loop = s.as<For>();
    if (!loop || !is_gpu_index(loop->how)) return s;
    return make(For{loop->var, loop->extent, ForKind::Serial, loop->body, loop->annotations});
  };
  return {f.name, f.params, transform(f.body, serialize, [](const Expr& e) { return e; })};
}

/// Rewrites statements from the outside in.
Stmt map_down(const Stmt& s, StmtFn f) {
  return map_children(f(s), [&](const Stmt& child) { return map_down(child, f); });
}

/// A loop's annotation `unroll`, handed down to the loops directly inside that have none of their own.
Stmt hand_down_unroll(const Stmt& s, const std::string& value) {
  const For* loop = s.as<For>();
  if (!loop) return map_children(s, [&](const Stmt& child) { return hand_down_unroll(child, value); });
  if (find(loop->annotations, "unroll")) return s;
  return make(For{loop->var, loop->extent, loop->how, loop->body, with(loop->annotations, "unroll", value)});
}

/// Drops loops that run once; their hints go to the loops inside.
Function drop_single_loops(const Function& f) {
  const auto hand_down = [](const Stmt& s) {
    const For* loop = s.as<For>();
    const std::string* unroll = loop && is_int(loop->extent, 1) ? find(loop->annotations, "unroll") : nullptr;
    return unroll ? map_children(s, [&](const Stmt& child) { return hand_down_unroll(child, *unroll); }) : s;
  };
  return {f.name, f.params, remove_trivial_loops(map_down(f.body, hand_down))};
}

}  // namespace

Result<Function> lower(const Function& scheduled, const Target& target, const PassOptions& options) {
  HONE_TRY(check_sizes(scheduled));
  PassTrace pass("lower", options);
  Function f = pass("serialize_gpu_loops", serialize_gpu_loops(scheduled));
  f = pass("drop_single_loops", drop_single_loops(f));
  f = pass("hoist_inits", hoist_inits(f));
  f = pass("compact_buffers", compact_buffers(f));  // while blocks still say what a predicate cuts off
  f = pass("lower_blocks", lower_blocks(f));
  f = pass("flatten_buffers", flatten_buffers(f));
  f = pass("simplify", simplify_body(f, Evaluation::Lazy));
  f = pass("hoist_guards", hoist_guards(f));
  f = pass("partition_loops", partition_loops(f));
  f = pass("mask_loads", mask_loads(f));  // before vectors, which would evaluate both sides of a Select
  f = pass("reduce_lanes", reduce_lanes(f, target.vector_bits));
  f = pass("vectorize_loops", vectorize_loops(f, target.vector_bits));
  HONE_TRY(f, pass("unroll_loops", unroll_loops(f)));
  f = pass("simplify", simplify_body(f, Evaluation::Eager));  // after unrolling, which leaves constants
  f = pass("drop_single_loops", drop_single_loops(f));
  f = pass("promote_accumulators", promote_accumulators(f));
  return f;
}

}  // namespace hone::codegen
