#include "hone/cost/program_tables.h"

#include <algorithm>
#include <charconv>

#include "hone/ir/rewrite.h"

namespace hone::cost {

namespace {

using ir::Expr;

/// The number in the annotation "unroll", which schedules check.
std::int64_t unroll_of(const ir::For& loop, std::int64_t outer) {
  const std::string* text = find(loop.annotations, "unroll");
  if (!text) return outer;
  std::int64_t value = 0;
  std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

Slice since(std::size_t first, std::size_t end) {
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
}

}  // namespace

Result<void> ProgramTables::fill(const ir::Function& program) {
  loops_.clear(), buffers_.clear(), statements_.clear(), statement_loops_.clear(), roles_.clear();
  accesses_.clear(), axes_.clear(), terms_.clear();
  scope_.clear(), around_.clear(), let_values_.clear();
  in_init_ = false;
  for (const Expr& buffer : program.params) HONE_TRY(add_buffer(buffer, /*is_param=*/true));
  return visit(program.body);
}

Result<void> ProgramTables::visit(const ir::Stmt& s) {
  if (const auto* loop = s.as<ir::For>()) return visit_loop(*loop);
  if (const auto* block = s.as<ir::Block>()) return visit_block(*block);
  if (const auto* let = s.as<ir::Let>()) return visit_let(*let);
  if (const auto* store = s.as<ir::Store>()) return add_store(*store), Result<void>();
  if (const auto* allocate = s.as<ir::Allocate>()) {
    HONE_TRY(add_buffer(allocate->buffer, /*is_param=*/false));
    return visit(allocate->body);
  }
  if (const auto* sequence = s.as<ir::Seq>()) {
    for (const ir::Stmt& child : sequence->stmts) HONE_TRY(visit(child));
  } else if (const auto* branch = s.as<ir::If>()) {
    HONE_TRY(visit(branch->then));
    if (branch->otherwise) return visit(branch->otherwise);
  }
  return {};
}

Result<void> ProgramTables::visit_loop(const ir::For& loop) {
  const std::optional<std::int64_t> extent = as_int(loop.extent);
  if (!extent)
    return error(ErrorCode::Unsupported, "features: the extent of loop '{}' is not constant", name_of(loop.var));
  const std::int32_t parent = around_.empty() ? -1 : around_.back().loop;
  const std::int64_t outer_unroll = parent < 0 ? 0 : loops_[static_cast<std::size_t>(parent)].unroll;
  const auto id = static_cast<std::int32_t>(loops_.size());
  loops_.push_back({parent, *extent, loop.how, unroll_of(loop, outer_unroll)});
  around_.push_back({id, false, false});
  scope_.add_loop(loop.var, id);
  HONE_TRY(visit(loop.body));
  scope_.remove_last();
  around_.pop_back();
  return {};
}

Result<void> ProgramTables::visit_block(const ir::Block& block) {
  for (Around& around : around_) around.spatial = around.reduce = false;
  std::vector<IndexSum> bindings(block.iters.size());
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    scope_.add_terms(block.iters[i].binding, 1, -1, bindings[i]);
    for (const IndexTerm& term : bindings[i].terms)
      for (Around& around : around_)
        if (around.loop == term.loop)
          (block.iters[i].kind == ir::IterKind::Spatial ? around.spatial : around.reduce) = true;
  }
  for (std::size_t i = 0; i < block.iters.size(); ++i) scope_.add_sum(block.iters[i].var, std::move(bindings[i]));
  if (block.init) {
    in_init_ = true;
    HONE_TRY(visit(block.init));
    in_init_ = false;
  }
  HONE_TRY(visit(block.body));
  for (std::size_t i = 0; i < block.iters.size(); ++i) scope_.remove_last();
  return {};
}

Result<void> ProgramTables::visit_let(const ir::Let& let) {
  IndexSum sum;
  scope_.add_terms(let.value, 1, -1, sum);
  scope_.add_sum(let.var, std::move(sum));
  let_values_.push_back(let.value);
  HONE_TRY(visit(let.body));
  let_values_.pop_back();
  scope_.remove_last();
  return {};
}

void ProgramTables::add_store(const ir::Store& store) {
  StatementRow row{.loops = {}, .accesses = {}, .buffer = find_buffer(store.buffer), .ops = {}, .unroll = 0};
  const std::size_t first_loop = statement_loops_.size();
  for (const Around& around : around_) {
    if (in_init_ && around.reduce && !around.spatial) continue;
    statement_loops_.push_back(around.loop);
    roles_.push_back(!around.reduce ? LoopRole::Spatial : around.spatial ? LoopRole::Mixed : LoopRole::Reduce);
  }
  if (!around_.empty()) row.unroll = loops_[static_cast<std::size_t>(around_.back().loop)].unroll;

  std::int32_t lane_loop = -1;
  if (const int lanes = store.value.type().lanes; lanes > 1) {  // as if a vectorised loop went over the lanes
    lane_loop = static_cast<std::int32_t>(loops_.size());
    loops_.push_back({around_.empty() ? -1 : around_.back().loop, lanes, ir::ForKind::Vectorized, row.unroll});
    statement_loops_.push_back(lane_loop);
    roles_.push_back(LoopRole::Spatial);
  }
  row.loops = since(first_loop, statement_loops_.size());

  const std::size_t first_access = accesses_.size();
  add_access(store.buffer, store.indices, /*is_write=*/true, lane_loop);
  for (const Expr& index : store.indices) add_loads(index, lane_loop);
  for (const Expr& value : let_values_) add_loads(value, lane_loop), count_ops(value, row.ops);
  add_loads(store.value, lane_loop);
  count_ops(store.value, row.ops);
  row.accesses = since(first_access, accesses_.size());
  statements_.push_back(row);
}

void ProgramTables::add_loads(const Expr& e, std::int32_t lane_loop) {
  if (const auto* load = e.as<ir::Load>()) add_access(load->buffer, load->indices, /*is_write=*/false, lane_loop);
  ir::for_each_child(e, [&](const Expr& child) { add_loads(child, lane_loop); });
}

void ProgramTables::add_access(const Expr& buffer, std::span<const Expr> indices, bool is_write,
                               std::int32_t lane_loop) {
  const std::size_t first_axis = axes_.size();
  const std::vector<Expr>& shape = buffer.get<ir::Buffer>().shape;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    sum_.terms.clear();
    sum_.constant = 0;
    scope_.add_terms(indices[axis], 1, lane_loop, sum_);
    const std::size_t first_term = terms_.size();
    terms_.insert(terms_.end(), sum_.terms.begin(), sum_.terms.end());
    axes_.push_back({since(first_term, terms_.size()), sum_.constant, as_int(shape[axis]).value_or(1)});
  }
  accesses_.push_back({find_buffer(buffer), is_write, since(first_axis, axes_.size())});
}

Result<void> ProgramTables::add_buffer(const Expr& buffer, bool is_param) {
  double elements = 1;
  for (const Expr& extent : buffer.get<ir::Buffer>().shape) {
    const std::optional<std::int64_t> value = as_int(extent);
    if (!value)
      return error(ErrorCode::Unsupported, "features: the shape of buffer '{}' is not constant", name_of(buffer));
    elements *= static_cast<double>(*value);
  }
  buffers_.push_back({buffer, elements, buffer.type().bytes(), is_param});
  return {};
}

std::int32_t ProgramTables::find_buffer(const Expr& buffer) const {
  const auto row =
      std::find_if(buffers_.begin(), buffers_.end(), [&](const BufferRow& known) { return known.buffer.is(buffer); });
  HONE_CHECK(row != buffers_.end(), "buffer '{}' is not allocated", name_of(buffer));
  return static_cast<std::int32_t>(row - buffers_.begin());
}

}  // namespace hone::cost
