/// Which boxes of elements the statements of a program touch, loop by loop.
#pragma once

#include "hone/cost/program_tables.h"

namespace hone::cost {

/// A buffer as one statement touches it, in one access or several.
struct Touch {
  std::int32_t buffer;
  bool reads, writes;
  double run;  ///< how many elements of the whole box follow each other in memory
  Slice elements;
};

/// What all statements below a loop do, while it runs through all its iterations.
struct LoopTotals {
  double bytes = 0;  ///< summed over the buffers of each statement
};

/// How the statements below a loop share a buffer.
struct SharedTouch {
  int statements = 0;
  double min_elements = 0;  ///< of the statement that touches the fewest
};

/// Where a buffer has to exist: in the innermost loop around all that touch it, or, for parameters, everywhere.
struct BufferHome {
  std::int32_t loop = -1;  ///< -1: outside all loops
  double elements = 0;     ///< of the box that is touched there
};

/// Refilled for one program after the other.
class TouchedRegions {
 public:
  void fill(const ProgramTables& tables);

  /// The loops around a statement that run more than once, innermost first, and their roles.
  std::span<const std::int32_t> nest(std::size_t statement) const { return part(nests_, spans_[statement].nest); }
  std::span<const LoopRole> roles(std::size_t statement) const { return part(roles_, spans_[statement].nest); }
  /// One touch per buffer, the one that is stored to first.
  std::span<const Touch> touches(std::size_t statement) const { return part(touches_, spans_[statement].touches); }
  /// Entry i: the elements touched while the i innermost loops of the nest run.
  std::span<const double> elements(const Touch& touch) const { return part(elements_, touch.elements); }

  const LoopTotals& totals(std::int32_t loop) const { return totals_[static_cast<std::size_t>(loop)]; }
  const SharedTouch& shared(std::int32_t loop, std::int32_t buffer) const {
    return shared_[static_cast<std::size_t>(loop) * homes_.size() + static_cast<std::size_t>(buffer)];
  }
  const BufferHome& home(std::int32_t buffer) const { return homes_[static_cast<std::size_t>(buffer)]; }

 private:
  struct Spans {
    Slice nest, touches;
  };
  /// The indices that one access reaches along one axis, at the current number of loops.
  struct Reach {
    double min, max;
  };

  template <typename Row>
  static std::span<const Row> part(const std::vector<Row>& table, Slice slice) {
    return std::span(table).subspan(slice.first, slice.size);
  }

  void add_nest(const ProgramTables& tables, const StatementRow& statement, Spans& spans);
  void add_touch(const ProgramTables& tables, const StatementRow& statement, std::int32_t buffer, const Spans& spans);
  void add_totals(const ProgramTables& tables, std::size_t statement);
  void find_homes(const ProgramTables& tables);

  std::vector<Spans> spans_;
  std::vector<std::int32_t> nests_;
  std::vector<LoopRole> roles_;
  std::vector<Touch> touches_;
  std::vector<double> elements_;
  std::vector<LoopTotals> totals_;
  std::vector<SharedTouch> shared_;
  std::vector<BufferHome> homes_;
  std::vector<Reach> reaches_;  // while filling
};

}  // namespace hone::cost
