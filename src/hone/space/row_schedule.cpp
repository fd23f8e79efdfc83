#include "hone/space/row_schedule.h"

#include <algorithm>
#include <optional>

#include "hone/schedule/primitives.h"
#include "hone/space/blocks.h"
#include "hone/space/row_steps.h"

namespace hone::space {

using namespace schedule;

namespace {

/// Longer rows do not stay in the cache between one reduction and the next.
constexpr std::int64_t kLongestRow = 1 << 16;

/// Fewer elements in all are not worth waking another thread.
constexpr std::int64_t kParallelElements = 1 << 13;

/// The rows of a program: what its last block writes, an axis of rows or several, then the axes of a row.
struct Rows {
  std::string result;       ///< the last block
  std::size_t depth = 0;    ///< how many axes say which row it is
  std::int64_t length = 1;  ///< elements of a row
  std::int64_t count = 1;   ///< rows
};

/// How many leading axes of `shape` a reduction to `spatial`, of which the axes beyond have extent 1, tells apart.
std::optional<std::size_t> row_axes(const std::vector<NaiveLoop>& shape, const std::vector<NaiveLoop>& reduction) {
  std::vector<std::int64_t> spatial, reduced;
  for (const NaiveLoop& loop : reduction) (loop.is_reduction ? reduced : spatial).push_back(loop.extent);
  if (reduced.empty() || reduced.size() > shape.size()) return std::nullopt;
  const std::size_t depth = shape.size() - reduced.size();
  for (std::size_t i = 0; i < reduced.size(); ++i)
    if (shape[depth + i].extent != reduced[i]) return std::nullopt;
  for (std::size_t i = 0; i < std::max(depth, spatial.size()); ++i)
    if (i >= spatial.size() || spatial[i] != (i < depth ? shape[i].extent : 1)) return std::nullopt;
  return depth;
}

/// An error unless each reduction runs along the rows of the result.
Result<Rows> rows_of(const Program& program) {
  const std::vector<Path> all = blocks(program);
  if (all.empty() || is_reduction(all.back().block()))
    return error(ErrorCode::IllegalStep, "rows: the result is no tensor made of rows");
  Rows rows{.result = all.back().block().name};
  const std::vector<NaiveLoop> shape = naive_loops(program, rows.result);
  std::size_t reductions = 0, outputs = 0;
  for (const Path& path : all) {
    for (const ir::Expr& buffer : written_buffers(path.block())) outputs += is_param(program, buffer) ? 1 : 0;
    if (!is_reduction(path.block())) continue;
    const std::vector<NaiveLoop> loops = naive_loops(program, path.block().name);
    const auto depth = row_axes(shape, loops);
    if (!depth || (reductions++ > 0 && *depth != rows.depth))
      return error(ErrorCode::IllegalStep, "rows: a reduction does not run along rows");
    rows.depth = *depth;
    for (const Read& read : reads_of(path.block()))
      if (read.uses(loops.back()) && !read.is_contiguous_in(loops.back()))
        return error(ErrorCode::IllegalStep, "rows: rows are not contiguous");
  }
  if (reductions == 0 || rows.depth == 0 || outputs != 1)
    return error(ErrorCode::IllegalStep, "rows: there is no single result made of rows");
  for (std::size_t i = 0; i < shape.size(); ++i) (i < rows.depth ? rows.count : rows.length) *= shape[i].extent;
  if (rows.length < 2 || rows.length > kLongestRow || rows.count < 1)
    return error(ErrorCode::IllegalStep, "rows: {} rows of {} elements, allowed are 1 row and more of 2..{}",
                 rows.count, rows.length, kLongestRow);
  return rows;
}

class RowMaker {
 public:
  RowMaker(const Program& naive, const codegen::Target& target) : schedule_(naive), target_(target) {}

  Result<Schedule> make() {
    HONE_TRY(rows_, rows_of(schedule_.program()));
    inline_blocks();
    for (const std::string& block : names(/*reductions=*/true)) HONE_TRY(factor_lanes(schedule_, block, target_));
    const std::string row = loops_of(schedule_.program(), rows_.result)[rows_.depth - 1];
    std::vector<std::string> producers;
    for (const Path& path : blocks(schedule_.program())) producers.push_back(path.block().name);
    producers.pop_back();
    for (auto block = producers.rbegin(); block != producers.rend(); ++block)
      HONE_TRY(schedule_.apply(ComputeAt{*block, row}));
    for (const std::string& block : names(/*reductions=*/true)) HONE_TRY(reduce_in_vectors(schedule_, block));
    for (const std::string& block : names(/*reductions=*/false))
      if (is_along_row(block_of(block))) HONE_TRY(compute_in_vectors(schedule_, block, target_));
    HONE_TRY(parallelize());
    return std::move(schedule_);
  }

 private:
  std::vector<std::string> names(bool reductions) const {
    std::vector<std::string> found;
    for (const Path& path : blocks(schedule_.program()))
      if (is_reduction(path.block()) == reductions) found.push_back(path.block().name);
    return found;
  }

  ir::Block block_of(const std::string& name) const { return find_block(schedule_.program(), name, "rows")->block(); }

  /// Whether a block has an element for each one of a row, not one for a row.
  bool is_along_row(const ir::Block& block) const {
    std::int64_t elements = 1;
    for (const ir::Iter& iter : block.iters) elements *= ir::as_int(iter.extent).value_or(1);
    return elements > rows_.count;
  }

  /// Computes blocks where they are read, if that makes nothing twice: elements that one block reads, numbers of a row
  /// that make another one, and constants.
  void inline_blocks() {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (const Path& path : blocks(schedule_.program())) {
        const ir::Block& block = path.block();
        if (is_reduction(block) || block.name == rows_.result) continue;
        const std::vector<Path> readers = schedule::readers(schedule_.program(), written_buffers(block)[0]);
        const bool is_wasteful = readers.size() > 1 || (!is_along_row(block) && is_along_row(readers[0].block()));
        if (is_wasteful && !reads_of(block).empty()) continue;
        if (!schedule_.apply(ComputeInline{block.name})) continue;
        is_changed = true;
        break;
      }
    }
  }

  Result<void> parallelize() {
    if (target_.threads < 2 || rows_.count < 2 || rows_.count * rows_.length < kParallelElements) return {};
    const std::vector<std::string> loops = loops_of(schedule_.program(), rows_.result);
    const std::vector<std::string> outer(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(rows_.depth));
    if (outer.size() > 1) HONE_TRY(schedule_.apply(Fuse{outer}));
    return schedule_.apply(Parallel{loops_of(schedule_.program(), rows_.result).front()});
  }

  Schedule schedule_;
  const codegen::Target& target_;
  Rows rows_;
};

}  // namespace

Result<Schedule> schedule_rows(const Program& naive, const codegen::Target& target) {
  return RowMaker(naive, target).make();
}

}  // namespace hone::space
