/// Tiles of blocks and threads on a GPU, and the shared memory that they read.
#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "hone/schedule/primitives.h"
#include "hone/space/gpu_limits.h"
#include "hone/space/gpu_steps.h"
#include "hone/space/loop_steps.h"
#include "hone/space/sketch/analysis.h"
#include "hone/space/sketch/gpu_actions.h"
#include "hone/space/sketch/gpu_tiling.h"

namespace hone::space {
namespace {

GpuTiling look_at(const Program& program, const std::string& block, const std::optional<std::string>& consumer,
                  const RuleContext& context) {
  GpuTiling tiling{.block = block, .consumer = consumer, .tiles = context.tiles, .target = context.target};
  const BlockParts parts = parts_of(program, block);
  for (const NaiveLoop& loop : parts.spatial)
    loop.extent > 1 ? tiling.axes.push_back(loop) : tiling.single.push_back(loop.name);
  for (const NaiveLoop& loop : parts.reduced)
    loop.extent > 1 ? tiling.reduced.push_back(loop) : tiling.single_reduced.push_back(loop.name);
  tiling.written = ir::name_of(parts.written);
  tiling.is_local = parts.written.get<ir::Buffer>().scope == ir::Scope::Local;
  tiling.words = std::max(1, parts.written.type().bits() / 32);
  return tiling;
}

/// Builds the loops of one candidate.
class GpuTileBuilder {
 public:
  GpuTileBuilder(const GpuTiling& tiling, Building& building) : tiling_(tiling), building_(building) {}

  Result<void> run() {
    HONE_TRY(check_limits());
    HONE_TRY(order_loops());
    const std::int64_t budget = building_.decided(tiling_.knob("unroll"))[0];
    if (budget > 0 && !sums_.empty())
      HONE_TRY(building_.apply(schedule::Annotate{sums_.front(), "unroll", std::to_string(budget)}));
    if (tiling_.consumer) {
      HONE_TRY(building_.apply(schedule::ReverseComputeAt{*tiling_.consumer, levels_[2].back()}));
      if (!tiling_.is_local) HONE_TRY(building_.apply(schedule::SetScope{tiling_.written, ir::Scope::Local}));
    }
    constexpr ir::ForKind kIndices[] = {ir::ForKind::BlockX, ir::ForKind::VThread, ir::ForKind::ThreadX};
    std::string innermost;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      HONE_TRY(innermost, bind_fused(building_.schedule, tiling_.block, levels_[level], kIndices[level]));
    }
    building_.levels[tiling_.block] = {sums_.empty() ? innermost : sums_.back()};
    return {};
  }

 private:
  Result<void> check_limits() const {
    const codegen::Target& target = tiling_.target;
    GpuUse use{.registers = tiling_.words};
    for (std::size_t i = 0; i < tiling_.axes.size(); ++i) {
      const Factors factors = gpu_factors_of(tiling_, i, building_);
      use.threads *= factors[kThread];
      use.vthreads *= factors[kVirtual];
      use.registers *= factors[kVirtual] * factors[kOuter] * factors[kInner];
    }
    HONE_TRY(check_gpu_limits(use, target, tiling_.block));
    if (use.threads < target.gpu.warp && tiling_.needs_warps())
      return error(ErrorCode::IllegalStep, "gpu: '{}' has {} threads in a block, allowed are whole warps, of {}",
                   tiling_.block, use.threads, target.gpu.warp);
    return {};
  }

  Result<Names> split_axis(const NaiveLoop& loop, Factors factors) {
    factors.insert(factors.begin(), schedule::kRest);
    return split_loop(building_.schedule, tiling_.block, loop.name, factors);
  }

  /// SSSRRSRS.
  Result<void> order_loops() {
    std::vector<Names> spatial(tiling_.axes.size()), reduced(tiling_.reduced.size());
    for (std::size_t i = 0; i < spatial.size(); ++i) {
      HONE_TRY(spatial[i], split_axis(tiling_.axes[i], gpu_factors_of(tiling_, i, building_)));
    }
    for (std::size_t i = 0; i < reduced.size(); ++i) {
      HONE_TRY(reduced[i], split_axis(tiling_.reduced[i], building_.decided(tiling_.knob(tiling_.reduced[i].name))));
    }
    Names order = tiling_.single;
    std::size_t spatial_level = 0, reduction_level = 0;
    for (const char kind : std::string_view("SSSRRSRS")) {
      Names level;
      std::size_t& number = kind == 'S' ? spatial_level : reduction_level;
      for (const Names& names : kind == 'S' ? spatial : reduced) level.push_back(names[number]);
      if (kind == 'R' && number == kGpuReductionLevels)
        level.insert(level.begin(), tiling_.single_reduced.begin(), tiling_.single_reduced.end());
      order.insert(order.end(), level.begin(), level.end());
      if (kind == 'R' && number == 0) sums_ = level;
      if (kind == 'S' && number == 0) level.insert(level.begin(), tiling_.single.begin(), tiling_.single.end());
      if (kind == 'S' && number < 3) levels_.push_back(std::move(level));
      ++number;
    }
    return building_.apply(schedule::Reorder{order});
  }

  const GpuTiling& tiling_;
  Building& building_;
  std::vector<Names> levels_;  ///< the loops of blocks, virtual threads and threads
  Names sums_;                 ///< the outermost reduction loops
};

}  // namespace

Action gpu_tile_action(const Program& program, const std::string& block, const std::optional<std::string>& consumer,
                       const RuleContext& context) {
  const auto tiling = std::make_shared<const GpuTiling>(look_at(program, block, consumer, context));
  Knobs knobs = gpu_knobs_of(*tiling);
  Action action{.block = block, .name = fmt::format("{}(tiles)", block)};
  action.knobs = std::move(knobs.knobs);
  action.first = std::move(knobs.first);
  action.others = std::move(knobs.others);
  action.cost = knobs.cost;
  action.left_out = std::move(knobs.left_out);
  action.apply = [tiling](Building& building) { return GpuTileBuilder(*tiling, building).run(); };
  return action;
}

Action gpu_fetch_action(const std::string& copy, const std::string& reader) {
  const std::string lanes = copy + ".lanes";
  Action action{.block = copy, .knobs = {{lanes, {{1}, {2}, {4}}}}, .first = {0}};
  action.apply = [=](Building& building) {
    return fill_together(building.schedule, copy, building.levels[reader].front(), building.decided(lanes)[0]);
  };
  return action;
}

}  // namespace hone::space
