#include "hone/space/template/gpu_tiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "hone/schedule/primitives.h"
#include "hone/space/default_program.h"
#include "hone/space/gpu_steps.h"
#include "hone/space/loop_steps.h"

namespace hone::space {
namespace {

using Names = std::vector<std::string>;

/// What a candidate decides.
struct GpuChoice {
  std::vector<Factors> tiles, reduced;  ///< for each tiled axis, and each loop of the reduction
  std::int64_t unroll = 0, lanes = 1;
};

/// Divisors, as AutoTVM has it; powers of two beside them where there are few.
SplitRule gpu_split(std::int64_t extent, Factors fallback) {
  constexpr std::size_t kFewDivisors = 4;
  const bool has_few = divisors(extent).size() < kFewDivisors;
  return {.outputs = fallback.size(),
          .policy = has_few ? SplitPolicy::Verbose : SplitPolicy::Divisors,
          .fallback = std::move(fallback)};
}

/// The names of knobs, as AutoTVM has them.
std::string knob_of(const GpuProduct& product, const NaiveLoop& loop) {
  const std::vector<NaiveLoop>& loops = loop.is_reduction ? product.parts.reduced : product.parts.spatial;
  const auto from_end = static_cast<std::size_t>(
      std::find_if(loops.rbegin(), loops.rend(), [&](const NaiveLoop& l) { return l.name == loop.name; }) -
      loops.rbegin());
  if (loop.is_reduction && loops.size() == 1) return "tile_k";
  if (product.kind == GpuKind::Winograd) return fmt::format("tile_{}", loop.name);
  constexpr std::string_view kAxes[] = {"x", "y", "f"}, kReduced[] = {"rx", "ry", "rc"};
  if (from_end < 3) return fmt::format("tile_{}", loop.is_reduction ? kReduced[from_end] : kAxes[from_end]);
  return fmt::format("tile_{}", loop.name);
}

/// The axes that are tiled, the last ones.
std::vector<NaiveLoop> tiled_axes(const GpuProduct& product) {
  const std::vector<NaiveLoop>& all = product.parts.spatial;
  const bool is_matrix = product.kind == GpuKind::Dense || product.kind == GpuKind::BatchMatmul;
  const std::size_t count = std::min<std::size_t>(all.size(), is_matrix ? 2 : 3);
  return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
}

GpuChoice choose_gpu(Config& config, const GpuProduct& product, const codegen::Target& target) {
  constexpr std::int64_t kUsualThreads = 256, kUsualAlong = 16, kUsualSteps = 8;
  GpuChoice choice;
  const std::vector<NaiveLoop> axes = tiled_axes(product);
  Factors along(axes.size(), 1), steps(product.parts.reduced.size(), 1);  // the last loops get most of it
  std::int64_t threads = std::min(kUsualThreads, target.gpu.max_threads), left = kUsualSteps;
  for (std::size_t i = axes.size(); i-- > 0;) {
    along[i] = std::min({threads, kUsualAlong, axes[i].extent});
    threads /= along[i];
  }
  for (std::size_t i = steps.size(); i-- > 0;) {
    steps[i] = std::min(left, product.parts.reduced[i].extent);
    left /= steps[i];
  }
  for (std::size_t i = 0; i < axes.size(); ++i)
    choice.tiles.push_back(config.split(knob_of(product, axes[i]), axes[i].extent,
                                        gpu_split(axes[i].extent, {kRemaining, 1, along[i], i == 0 ? 4 : 2})));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const NaiveLoop& loop = product.parts.reduced[i];
    choice.reduced.push_back(
        config.split(knob_of(product, loop), loop.extent, gpu_split(loop.extent, {kRemaining, steps[i]})));
  }
  choice.unroll = config.choose("auto_unroll_max_step", {0, 512, 1500});
  choice.lanes = config.choose("lanes", {1, 2, 4});
  return choice;
}

/// The loops of each level, outermost first.
struct GpuLoops {
  std::vector<Names> tiles;  ///< for each axis: block, virtual thread, thread, inner
  Names others, outer_sums, inner_sums;
};

Result<GpuLoops> split_gpu(Schedule& draft, const GpuProduct& product, const GpuChoice& choice) {
  const std::vector<NaiveLoop> axes = tiled_axes(product);
  GpuLoops loops;
  for (std::size_t i = 0; i + axes.size() < product.parts.spatial.size(); ++i)
    loops.others.push_back(product.parts.spatial[i].name);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    HONE_TRY(Names names, split_loop(draft, product.block, axes[i].name, choice.tiles[i]));
    loops.tiles.push_back(std::move(names));
  }
  for (std::size_t i = 0; i < product.parts.reduced.size(); ++i) {
    HONE_TRY(const Names names, split_loop(draft, product.block, product.parts.reduced[i].name, choice.reduced[i]));
    loops.outer_sums.push_back(names[0]);
    loops.inner_sums.push_back(names[1]);
  }
  Names order = loops.others;
  for (std::size_t level = 0; level < 3; ++level)
    for (const Names& names : loops.tiles) order.push_back(names[level]);
  order.insert(order.end(), loops.outer_sums.begin(), loops.outer_sums.end());
  order.insert(order.end(), loops.inner_sums.begin(), loops.inner_sums.end());
  for (const Names& names : loops.tiles) order.push_back(names[3]);
  HONE_TRY(draft.apply(schedule::Reorder{order}));
  return loops;
}

Result<void> bind_gpu(Schedule& draft, const std::string& block, const GpuLoops& loops) {
  constexpr ir::ForKind kBlocks[] = {ir::ForKind::BlockX, ir::ForKind::BlockY, ir::ForKind::BlockZ};
  constexpr ir::ForKind kThreads[] = {ir::ForKind::ThreadX, ir::ForKind::ThreadY, ir::ForKind::ThreadZ};
  Names outer = loops.others;
  for (std::size_t i = 0; i < loops.tiles.size(); ++i) {
    const std::size_t index = loops.tiles.size() - 1 - i;
    if (index == 2 || outer.empty()) {  // the last index of a block is for all that are left
      outer.push_back(loops.tiles[i][0]);
      HONE_TRY(bind_fused(draft, block, outer, kBlocks[index]));
    } else {
      HONE_TRY(bind_fused(draft, block, outer, ir::ForKind::BlockZ));
      HONE_TRY(draft.apply(schedule::Bind{loops.tiles[i][0], kBlocks[index]}));
    }
    outer.clear();
    HONE_TRY(draft.apply(schedule::Bind{loops.tiles[i][1], ir::ForKind::VThread}));
    HONE_TRY(draft.apply(schedule::Bind{loops.tiles[i][2], kThreads[index]}));
  }
  return {};
}

}  // namespace

Result<GpuProduct> find_gpu_product(const Program& program) {
  GpuProduct product{.block = main_reduction(program), .parts = {}};
  product.parts = parts_of(program, product.block);
  const BlockParts& parts = product.parts;
  if (product.block.empty() || !parts.is_naive || parts.is_empty || parts.spatial.empty())
    return error(ErrorCode::Unsupported, "block '{}' is no plain reduction", product.block);
  if (!needs_tiling(parts) || parts.reads.size() < 2)
    return error(ErrorCode::Unsupported, "block '{}' reads nothing twice", product.block);
  bool has_window = false, has_batch = false, has_channels = false;
  for (const Read& read : parts.reads)
    for (const ir::Expr& index : read.indices) has_window |= !index.as<ir::Var>() && !ir::as_int(index);
  for (const NaiveLoop& loop : parts.spatial) {
    const auto uses = [&](const Read& read) { return read.uses(loop); };
    has_batch |= loop.extent > 1 && std::all_of(parts.reads.begin(), parts.reads.end(), uses);
    has_channels |= loop.extent > 1 && !uses(parts.reads.front());  // what only the weights move with
  }
  product.kind = has_window ? (has_channels ? GpuKind::Conv2d : GpuKind::Depthwise)
                            : (has_batch ? GpuKind::BatchMatmul : GpuKind::Dense);
  return product;
}

Result<void> share_operands(Schedule& draft, const GpuProduct& product) {
  Names operands;
  for (const Read& read : product.parts.reads)
    if (std::find(operands.begin(), operands.end(), ir::name_of(read.buffer)) == operands.end() &&
        !read.indices.empty())
      operands.push_back(ir::name_of(read.buffer));
  for (const std::string& operand : operands) HONE_TRY(share_operand(draft, product.block, operand));
  return {};
}

Result<void> sum_in_registers(Schedule& draft, const GpuProduct& product) {
  if (elementwise_consumer(draft.program(), product.block))
    return draft.apply(schedule::SetScope{ir::name_of(product.parts.written), ir::Scope::Local});
  return draft.apply(schedule::CacheWrite{product.block, ir::Scope::Local});
}

Result<void> tile_gpu_product(Config& config, Schedule& draft, const GpuProduct& product,
                              const codegen::Target& target) {
  const GpuChoice choice = choose_gpu(config, product, target);
  Names copies;
  for (const Read& read : product.parts.reads)
    for (const schedule::Path& writer : schedule::writers(draft.program(), read.buffer))
      if (std::find(copies.begin(), copies.end(), writer.block().name) == copies.end())
        copies.push_back(writer.block().name);
  const std::optional<std::string> consumer = elementwise_consumer(draft.program(), product.block);

  HONE_TRY(const GpuLoops loops, split_gpu(draft, product, choice));
  if (choice.unroll > 0)
    HONE_TRY(draft.apply(schedule::Annotate{loops.inner_sums.front(), "unroll", std::to_string(choice.unroll)}));
  if (consumer) HONE_TRY(draft.apply(schedule::ReverseComputeAt{*consumer, loops.tiles.back()[2]}));
  HONE_TRY(bind_gpu(draft, product.block, loops));
  for (const std::string& copy : copies) HONE_TRY(fill_together(draft, copy, loops.outer_sums.back(), choice.lanes));
  return {};
}

}  // namespace hone::space
