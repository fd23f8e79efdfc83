/// The loops, store statements and accesses of a scheduled program as flat tables, from which features are counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/cost/index_terms.h"
#include "hone/cost/op_counts.h"
#include "hone/ir/stmt.h"

namespace hone::cost {

/// What the iterations of a loop do for a statement: other elements, more of the same sums, or both.
enum class LoopRole : std::uint8_t { Spatial, Reduce, Mixed };

struct LoopRow {
  std::int32_t parent;  ///< the loop around it, -1 if there is none
  std::int64_t extent;
  ir::ForKind how;
  std::int64_t unroll;  ///< the annotation "unroll" of the loop, or of the nearest loop around it that has one; else 0
};

struct BufferRow {
  ir::Expr buffer;
  double elements;
  std::int32_t bytes;  ///< of one element
  bool is_param;
};

/// A part of one of the tables.
struct Slice {
  std::uint32_t first = 0, size = 0;
};

/// One index of an access: the terms of `constant + Σ terms`, along an axis of `extent` elements.
struct AxisRow {
  Slice terms;
  std::int64_t constant, extent;
};

struct AccessRow {
  std::int32_t buffer;
  bool is_write;
  Slice axes;
};

/// A store. The init of a block is a store of its own, in those of the block's loops that do not only reduce.
struct StatementRow {
  Slice loops;     ///< of `statement_loops` and `roles`, outermost first, loops that run once included
  Slice accesses;  ///< the store first, then the loads in the order of evaluation
  std::int32_t buffer;
  OpCounts ops;
  std::int64_t unroll;
};

/// Refilled for one program after the other, the memory of the tables is kept.
class ProgramTables {
 public:
  /// An error if a loop or a buffer has no constant extent.
  Result<void> fill(const ir::Function& program);

  std::span<const LoopRow> loops() const { return loops_; }
  std::span<const BufferRow> buffers() const { return buffers_; }
  std::span<const StatementRow> statements() const { return statements_; }

  std::span<const std::int32_t> loops_of(const StatementRow& s) const { return part(statement_loops_, s.loops); }
  std::span<const LoopRole> roles_of(const StatementRow& s) const { return part(roles_, s.loops); }
  std::span<const AccessRow> accesses_of(const StatementRow& s) const { return part(accesses_, s.accesses); }
  std::span<const AxisRow> axes_of(const AccessRow& access) const { return part(axes_, access.axes); }
  std::span<const IndexTerm> terms_of(const AxisRow& axis) const { return part(terms_, axis.terms); }

 private:
  template <typename Row>
  static std::span<const Row> part(const std::vector<Row>& table, Slice slice) {
    return std::span(table).subspan(slice.first, slice.size);
  }

  Result<void> visit(const ir::Stmt& s);
  Result<void> visit_loop(const ir::For& loop);
  Result<void> visit_block(const ir::Block& block);
  Result<void> visit_let(const ir::Let& let);
  void add_store(const ir::Store& store);
  void add_loads(const ir::Expr& e, std::int32_t lane_loop);
  void add_access(const ir::Expr& buffer, std::span<const ir::Expr> indices, bool is_write, std::int32_t lane_loop);
  Result<void> add_buffer(const ir::Expr& buffer, bool is_param);
  std::int32_t find_buffer(const ir::Expr& buffer) const;

  std::vector<LoopRow> loops_;
  std::vector<BufferRow> buffers_;
  std::vector<StatementRow> statements_;
  std::vector<std::int32_t> statement_loops_;
  std::vector<LoopRole> roles_;
  std::vector<AccessRow> accesses_;
  std::vector<AxisRow> axes_;
  std::vector<IndexTerm> terms_;

  // while filling
  struct Around {
    std::int32_t loop;
    bool spatial, reduce;  // whether the block's variables of that kind move with it
  };
  IndexScope scope_;
  std::vector<Around> around_;
  std::vector<ir::Expr> let_values_;
  bool in_init_ = false;
  IndexSum sum_;
};

}  // namespace hone::cost
