/// The template of depthwise convolutions over channels in blocks: a tile of positions of one vector of channels, the
/// padding computed where it is read.
#include <functional>
#include <numeric>
#include <optional>

#include "hone/schedule/primitives.h"
#include "hone/space/channel_parts.h"
#include "hone/space/default_program.h"
#include "hone/space/loop_steps.h"
#include "hone/space/template/templates.h"

namespace hone::space {
namespace {

Result<ChannelParts> depthwise_parts(const Program& program, const std::string& block) {
  std::optional<ChannelParts> parts = channel_parts(program, block);
  if (!parts) return error(ErrorCode::Unsupported, "block '{}' has no channels in blocks", block);
  if (parts->has_products || parts->reads.size() < 2)
    return error(ErrorCode::Unsupported, "block '{}' is no depthwise convolution", block);
  for (const std::vector<NaiveLoop>& loops : {parts->spatial, parts->reduced})
    for (const NaiveLoop& loop : loops)
      if (loop.extent < 1) return error(ErrorCode::Unsupported, "block '{}' has nothing to compute", block);
  return *std::move(parts);
}

Result<void> prepare_depthwise(Schedule& draft, const TemplateContext& context) {
  HONE_TRY(prepare_reduction(draft, context));
  const std::string block = main_reduction(draft.program());
  HONE_TRY(depthwise_parts(draft.program(), block));
  inline_padding(draft, block, context.constants);
  return {};
}

Result<void> apply_depthwise(Config& config, Schedule& draft, const TemplateContext& context) {
  constexpr std::int64_t kMostCopies = 256;  // of statements that are written out
  const std::string block = main_reduction(draft.program());
  HONE_TRY(const ChannelParts parts, depthwise_parts(draft.program(), block));
  std::vector<std::string> others;
  std::optional<NaiveLoop> line;  // the axis of positions before the row
  for (const NaiveLoop& loop : parts.spatial) {
    if (loop.var.is(parts.lanes.outer.var) || loop.var.is(parts.lanes.inner.var)) continue;
    if (parts.row && loop.var.is(parts.row->var)) continue;
    if (line) others.push_back(line->name);
    line = loop;
  }
  std::vector<std::string> window;
  std::vector<std::int64_t> extents;
  for (const NaiveLoop& loop : parts.reduced) {
    window.push_back(loop.name);
    extents.push_back(loop.extent);
  }

  const std::int64_t registers = context.target.vector_registers;
  const auto narrow = [&](std::int64_t widest) {
    return SplitRule{.policy = SplitPolicy::Verbose, .max_factor = widest, .fallback = {kRemaining, widest / 2}};
  };
  const Factors ow = parts.row ? config.split("tile_ow", parts.row->extent, narrow(registers / 2)) : Factors{0, 1};
  const Factors oh = line ? config.split("tile_oh", line->extent, narrow(4)) : Factors{0, 1};
  // Large windows, and those over the channels of a group, are written out only where a search tries it.
  const std::int64_t most = std::accumulate(extents.begin(), extents.end(), registers / 2, std::multiplies<>());
  const std::vector<Mark> marks =
      config.annotate("unroll", window.size(), most <= kMostCopies ? "unroll_none" : "none_unroll");
  const std::vector<std::string> order = config.reorder("order", {"oc", "oh", "ow"});
  config.keep_if([=, has_row = parts.row.has_value(), has_line = line.has_value()](const Decisions& decided) {
    const std::int64_t positions =
        (has_row ? decided.find("tile_ow")->second[1] : 1) * (has_line ? decided.find("tile_oh")->second[1] : 1);
    std::int64_t copies = positions;
    const std::vector<std::int64_t>& unrolled = decided.find("unroll")->second;
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (unrolled[i] == static_cast<std::int64_t>(Mark::Unroll)) copies *= extents[i];
    return positions <= registers && copies <= kMostCopies;
  });

  std::vector<std::string> x(2), y(2);
  if (parts.row) { HONE_TRY(x, split_levels(draft, block, parts.row->name, {ow[1]})); }
  if (line) { HONE_TRY(y, split_levels(draft, block, line->name, {oh[1]})); }
  std::vector<std::string> nest = others;
  const auto add = [&](const std::string& loop) {
    if (!loop.empty()) nest.push_back(loop);
  };
  for (const std::string& level : order) add(level == "oc" ? parts.lanes.outer.name : level == "oh" ? y[0] : x[0]);
  const std::size_t complete = nest.size();
  for (const std::string& loop : window) add(loop);
  add(y[1]);
  add(x[1]);
  add(parts.lanes.inner.name);
  HONE_TRY(draft.apply(schedule::Reorder{nest}));
  for (const Read& read : parts.reads)
    if (read.uses(parts.lanes.inner) && read.indices.size() > 1 && read.is_constant(draft.program(), context.constants))
      HONE_TRY(store_in_reading_order(draft, block, ir::name_of(read.buffer)));
  HONE_TRY(draft.apply(schedule::Vectorize{parts.lanes.inner.name}));
  HONE_TRY(mark_loops(draft, window, marks));
  for (const std::string& loop : {y[1], x[1]})
    if (!loop.empty()) HONE_TRY(draft.apply(schedule::Unroll{loop}));
  attach_readers(draft, block, nest[complete - 1]);
  parallelize(draft, block, complete, context.target);
  schedule_other_blocks(draft, block, context.constants, context.target);
  return {};
}

}  // namespace

Template depthwise_template() { return {"depthwise", prepare_depthwise, apply_depthwise}; }

}  // namespace hone::space
