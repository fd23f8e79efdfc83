/// The loops of a tiled block, once everything is decided.
#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/loop_steps.h"
#include "hone/space/sketch/tiling.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

/// Tiles of at most so many vectors are written out: their sums fit the registers, or nearly.
constexpr std::int64_t kMostCopiedRows = 32;

/// So many vectors of a tile to each register may at best be spilled and come back.
constexpr std::int64_t kMostPerRegister = 4;

/// A factor of a loop of `count` tiles that leaves no tail, not far below the one that was decided, if there is one:
/// each tail is one more copy of the code.
std::int64_t rounded(std::int64_t factor, std::int64_t count) {
  factor = std::min(factor, count);
  for (std::int64_t exact = factor; 3 * exact > factor; --exact)
    if (count % exact == 0) return exact;
  return factor;
}

/// Builds the loops of one candidate.
class Builder {
 public:
  Builder(const Tiling& tiling, Building& building) : tiling_(tiling), building_(building) {}

  Result<void> run() {
    HONE_TRY(check_registers());
    HONE_TRY(make_copies());
    HONE_TRY(split_axes());
    HONE_TRY(order_loops());
    HONE_TRY(pack_constants());
    HONE_TRY(mark_loops());
    HONE_TRY(place_copies());
    building_.levels[tiling_.plan.block] = ends_;
    return attach_consumer();
  }

 private:
  const std::string& block() const { return tiling_.plan.block; }
  const std::vector<std::int64_t>& decided(std::string_view what) const {
    return building_.decided(tiling_.knob(what));
  }

  /// Tiles far larger than the registers are not worth compiling.
  Result<void> check_registers() const {
    std::int64_t vectors = 1;
    for (std::size_t i = 0; i < tiling_.axes.size(); ++i)
      vectors *= i == tiling_.vector_axis ? ceil_div(factors_of(i).back(), tiling_.lanes) : factors_of(i).back();
    if (vectors <= kMostPerRegister * tiling_.registers) return {};
    return error(ErrorCode::IllegalStep, "tile: a tile of block '{}' has {} vectors, allowed are {}", block(), vectors,
                 kMostPerRegister * tiling_.registers);
  }

  /// The factors of an axis at all levels but the outermost.
  Factors factors_of(std::size_t axis) const {
    const NaiveLoop& loop = tiling_.axes[axis];
    if (tiling_.tiles == Tiles::Divisor) return decided(loop.name);
    Factors factors;
    std::int64_t left = ceil_div(loop.extent, decided("tile")[axis]);
    if (tiling_.spatial_levels() > 2) factors = decided(loop.name);
    for (std::size_t i = factors.size(); i-- > 0;) {
      factors[i] = rounded(factors[i], left);
      left = ceil_div(left, factors[i]);
    }
    factors.push_back(decided("tile")[axis]);
    return factors;
  }

  Result<void> split_axes() {
    for (std::size_t i = 0; i < tiling_.axes.size(); ++i) {
      HONE_TRY(Names levels, split_levels(building_.schedule, block(), tiling_.axes[i].name, factors_of(i)));
      spatial_.push_back(std::move(levels));
    }
    for (const NaiveLoop& loop : tiling_.reduced) {
      const Factors inner = tiling_.reduction_levels() > 1 ? decided(loop.name) : Factors();
      HONE_TRY(Names levels, split_levels(building_.schedule, block(), loop.name, inner));
      reduced_.push_back(std::move(levels));
    }
    return {};
  }

  /// The axes in the order of a level.
  std::vector<std::size_t> axes_at(std::size_t level) const {
    std::vector<std::size_t> axes(tiling_.axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
    if (level + 1 == tiling_.spatial_levels()) {  // the lanes are innermost
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(tiling_.vector_axis));
      axes.push_back(tiling_.vector_axis);
      return axes;
    }
    if (tiling_.axes.size() < 2 || tiling_.spatial_levels() < 3) return axes;
    const std::int64_t order = decided("order")[level + 2 == tiling_.spatial_levels() ? 1 : 0];
    if (order == kNatural) return axes;
    std::stable_partition(axes.begin(), axes.end(),
                          [&](std::size_t i) { return tiling_.is_vector_side[i] == (order == kVectorsOutside); });
    return axes;
  }

  Result<void> order_loops() {
    Names order = tiling_.single;
    std::size_t spatial_level = 0, reduction_level = 0;
    bool is_reducing = false;
    for (const char kind : tiling_.plan.structure) {
      Names level;
      if (kind == 'S') {
        for (const std::size_t axis : axes_at(spatial_level))
          if (!spatial_[axis][spatial_level].empty()) level.push_back(spatial_[axis][spatial_level]);
      } else {
        if (reduction_level + 1 == tiling_.reduction_levels()) level = tiling_.single_reduced;
        for (const Names& names : reduced_)
          if (!names[reduction_level].empty()) level.push_back(names[reduction_level]);
      }
      const bool is_last_reduction = kind == 'R' && reduction_level + 1 == tiling_.reduction_levels();
      const bool is_last_tile = kind == 'S' && spatial_level + 1 == tiling_.spatial_levels();
      if (kind == 'S' && spatial_level == 0) outer_ = level;
      if (is_last_tile) tile_ = level;
      if (kind == 'R' && !level.empty()) {
        is_reducing = true;
        if (first_reduction_.empty()) first_reduction_ = level.front();
      }
      order.insert(order.end(), level.begin(), level.end());
      // Around few tiles there is little left to share.
      const bool is_inner =
          is_last_tile || is_last_reduction || (kind == 'S' && spatial_level + 2 == tiling_.spatial_levels());
      if ((!is_inner || (kind == 'S' && spatial_level == 0)) && !level.empty()) ends_.push_back(order.back());
      if (kind == 'S' && !is_last_tile) fusable_.push_back(is_reducing || order.empty() ? "" : order.back());
      (kind == 'S' ? spatial_level : reduction_level)++;
    }
    return order.size() < 2 ? Result<void>() : building_.apply(schedule::Reorder{order});
  }

  Result<void> pack_constants() {
    for (const std::string& name : tiling_.constants)
      HONE_TRY(store_in_reading_order(building_.schedule, block(), name));
    return {};
  }

  Result<void> mark_loops() {
    const std::string& lanes = spatial_[tiling_.vector_axis].back();
    if (!lanes.empty()) HONE_TRY(building_.apply(schedule::Vectorize{lanes}));
    std::int64_t copies = 1;
    for (const std::string& loop : tile_)
      if (loop != lanes) copies *= extent_of(building_.program(), loop);
    if (copies <= kMostCopiedRows)
      for (const std::string& loop : tile_)
        if (loop != lanes) HONE_TRY(building_.apply(schedule::Unroll{loop}));
    const std::int64_t budget = decided("unroll")[0];
    if (budget > 0 && !first_reduction_.empty())
      HONE_TRY(building_.apply(schedule::Annotate{first_reduction_, "unroll", std::to_string(budget)}));
    return {};
  }

  Result<void> make_copies() {
    for (const std::string& name : tiling_.copied) {
      const std::int64_t where = decided("copy " + name)[0];
      if (where == kNoCopy) continue;
      HONE_TRY(std::string copy, copy_operand(building_.schedule, block(), name));
      copies_.push_back({std::move(copy), where});
    }
    return {};
  }

  Result<void> place_copies() {
    for (const CopyMade& copy : copies_) {
      std::string place;
      if (copy.where >= kAtLevel && !ends_.empty())
        place = ends_[std::min(static_cast<std::size_t>(copy.where - kAtLevel), ends_.size() - 1)];
      HONE_TRY(const std::string writer, place_copy(building_.schedule, block(), copy.buffer, place));
      if (place.empty() && tiling_.runs_parallel)
        HONE_TRY(run_parallel(building_.schedule, {schedule::loops_of(building_.program(), writer).front()}));
    }
    return {};
  }

  Result<void> attach_consumer() {
    if (!tiling_.plan.consumer) return {};
    const std::string& consumer = *tiling_.plan.consumer;
    std::size_t level = tiling_.spatial_levels() > 2 ? static_cast<std::size_t>(decided("fuse")[0]) : 0;
    level = std::min(level, fusable_.size() - 1);
    while (level > 0 && fusable_[level].empty()) --level;
    if (!fusable_[level].empty()) HONE_TRY(building_.apply(schedule::ReverseComputeAt{consumer, fusable_[level]}));
    return vectorize_innermost(building_.schedule, consumer, fusable_[level]);
  }

  struct CopyMade {
    std::string buffer;
    std::int64_t where;
  };

  const Tiling& tiling_;
  Building& building_;
  std::vector<Names> spatial_, reduced_;  ///< for each axis the loop of each level, or ""
  Names outer_, tile_;                    ///< the outermost and innermost spatial levels
  Names ends_;     ///< the last loop of each level around the tile under which operands may be computed
  Names fusable_;  ///< for each spatial level but the last its last loop, "" where the sums are not complete
  std::string first_reduction_;
  std::vector<CopyMade> copies_;
};

}  // namespace

Result<void> build_tiles(const Tiling& tiling, Building& building) { return Builder(tiling, building).run(); }

Result<void> run_tiles_parallel(const Tiling& tiling, Building& building) {
  if (!tiling.runs_parallel) return {};
  const auto count = static_cast<std::size_t>(building.decided(tiling.knob("parallel"))[0]);
  const Result<schedule::Path> path = schedule::find_block(building.program(), tiling.plan.block, "sketch");
  if (!path) return {};
  Names loops;
  std::size_t wide = 0;
  const std::vector<ir::Stmt> around = path->loops();
  for (const ir::Stmt& stmt : around) {
    const ir::For& loop = stmt.get<ir::For>();
    const bool is_spatial = std::none_of(
        path->block().iters.begin(), path->block().iters.end(),
        [&](const ir::Iter& i) { return i.kind == ir::IterKind::Reduce && ir::uses(i.binding, loop.var); });
    if (!is_spatial || loop.how != ir::ForKind::Serial || wide == count) break;
    loops.push_back(ir::name_of(loop.var));
    if (!ir::is_int(loop.extent, 1)) ++wide;
    if (!loop.body.as<ir::For>()) break;
  }
  return run_parallel(building.schedule, std::move(loops));
}

}  // namespace hone::space
