/// Templates of convolutions over channels in blocks: conv2d_nchwc and conv2d_1x1, after AutoTVM's of these names.
///
/// A few positions of a row by a few vectors of out channels stay in registers; the reduction runs around them, cut
/// into parts if so decided, and weights stand in the order in which they are read.
#include <algorithm>
#include <optional>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/channel_parts.h"
#include "hone/space/default_program.h"
#include "hone/space/loop_steps.h"
#include "hone/space/template/templates.h"

namespace hone::space {
namespace {

/// A convolution taken apart.
struct ConvolutionParts {
  std::string block;
  ChannelParts channels;
  std::optional<NaiveLoop> line;    ///< the axis of positions before the row
  std::optional<NaiveLoop> depth;   ///< the outer loop over in channels, if there are several blocks of them
  std::optional<NaiveLoop> window;  ///< the innermost loop over a kernel, if that is more than one position
  std::vector<NaiveLoop> others;    ///< spatial loops that are none of these, nor lanes
  bool is_window = false;           ///< some kernel loop has several iterations
};

Result<ConvolutionParts> convolution_parts(const Program& program) {
  ConvolutionParts conv{.block = main_reduction(program)};
  const auto refuse = [&](std::string_view why) {
    return error(ErrorCode::Unsupported, "block '{}' {}", conv.block, why);
  };
  const std::optional<ChannelParts> parts = channel_parts(program, conv.block);
  if (!parts) return refuse("has no channels in blocks");
  if (!parts->has_products) return refuse("keeps channels apart");
  conv.channels = *parts;
  for (const std::vector<NaiveLoop>& loops : {parts->spatial, parts->reduced})
    for (const NaiveLoop& loop : loops)
      if (loop.extent < 1) return refuse("has nothing to compute");
  for (const NaiveLoop& loop : parts->spatial) {
    const bool is_known = loop.var.is(parts->lanes.outer.var) || loop.var.is(parts->lanes.inner.var) ||
                          (parts->row && loop.var.is(parts->row->var));
    if (!is_known) conv.others.push_back(loop);
  }
  if (!conv.others.empty() && conv.others.back().extent > 1) {
    conv.line = conv.others.back();
    conv.others.pop_back();
  }
  // Channels come first, then the kernel, then the lanes of the channels.
  const std::vector<NaiveLoop>& reduced = parts->reduced;
  const bool has_lanes = reduced.size() > 1 && reduced.back().name.ends_with(".1");
  if (has_lanes && reduced.front().extent > 1) conv.depth = reduced.front();
  for (std::size_t i = 1; i < reduced.size() - (has_lanes ? 1 : 0); ++i) {
    if (reduced[i].extent < 2) continue;
    conv.is_window = true;
    conv.window = reduced[i];
  }
  return conv;
}

/// What a candidate decides about a convolution.
struct ConvolutionChoice {
  Factors channels, row = {schedule::kRest, 1}, depth = {schedule::kRest, 1};
  std::int64_t lines = 1;  ///< of positions in a tile
  std::int64_t steps = 1;  ///< of the innermost reduction loop that are written out
  bool unrolls_window = false;
  std::vector<std::string> order;  ///< of "oc", "oh", "ow", "ic"
};

ConvolutionChoice choose_convolution(Config& config, const ConvolutionParts& conv, const codegen::Target& target) {
  constexpr std::int64_t kWidest = 64;
  const std::int64_t registers = target.vector_registers;
  const bool has_many = registers >= 32, has_row = conv.channels.row.has_value();
  ConvolutionChoice choice;
  choice.channels = config.split("tile_oc", conv.channels.lanes.outer.extent,
                                 {.max_factor = 8, .fallback = {kRemaining, has_many ? 2 : 1}});
  if (has_row)
    choice.row = config.split("tile_ow", conv.channels.row->extent,
                              {.policy = SplitPolicy::Verbose,
                               .keep = [](const Factors& f) { return f[1] <= kWidest; },
                               .fallback = {kRemaining, has_many ? 12 : 6}});
  if (conv.depth) choice.depth = config.split("tile_ic", conv.depth->extent, {.fallback = {kRemaining, kRemaining}});
  const bool has_lines = !conv.is_window && conv.line;
  if (has_lines) choice.lines = config.choose("tile_oh", {1, 2});
  if (conv.window) choice.unrolls_window = config.choose("unroll_kw", {0, 1}) == 1;
  choice.steps = config.choose("unroll_ic", {1, 2, 4});
  choice.order = config.reorder(
      "order", {"oc", "oh", "ow", "ic"},
      {.policy = ReorderPolicy::Candidates, .candidates = {{0, 1, 2, 3}, {1, 0, 2, 3}, {1, 2, 0, 3}, {0, 3, 1, 2}}});
  config.keep_if([=](const Decisions& decided) {
    const std::int64_t positions =
        (has_row ? decided.find("tile_ow")->second[1] : 1) * (has_lines ? decided.find("tile_oh")->second[0] : 1);
    return registers_of(positions, decided.find("tile_oc")->second[1]) <= registers + 1;
  });
  return choice;
}

Result<void> apply_convolution(Config& config, Schedule& draft, const TemplateContext& context) {
  HONE_TRY(const ConvolutionParts conv, convolution_parts(draft.program()));
  const ConvolutionChoice choice = choose_convolution(config, conv, context.target);
  const std::string& block = conv.block;
  const auto split = [&](const std::optional<NaiveLoop>& loop,
                         std::int64_t factor) -> Result<std::vector<std::string>> {
    if (!loop) return std::vector<std::string>(2);
    return split_levels(draft, block, loop->name, {factor});
  };
  HONE_TRY(const std::vector<std::string> oc, split(conv.channels.lanes.outer, choice.channels[1]));
  HONE_TRY(const std::vector<std::string> ow, split(conv.channels.row, choice.row[1]));
  HONE_TRY(const std::vector<std::string> oh, split(conv.line, choice.lines));
  HONE_TRY(const std::vector<std::string> ic, split(conv.depth, choice.depth[1]));
  const bool is_blocked = !ic[0].empty() && !ic[1].empty();

  std::vector<std::string> nest;
  const auto add = [&](const std::string& loop) {
    if (!loop.empty()) nest.push_back(loop);
  };
  for (const NaiveLoop& other : conv.others) add(other.name);
  std::optional<std::size_t> complete;  // so many loops have all of a sum inside
  for (const std::string& level : choice.order) {
    if (level != "ic") {
      add(level == "oc" ? oc[0] : level == "oh" ? oh[0] : ow[0]);
    } else if (is_blocked) {
      complete = nest.size();
      add(ic[0]);
    }
  }
  if (!complete) complete = nest.size();
  std::vector<std::string> written_out;
  for (const NaiveLoop& loop : conv.channels.reduced) {
    const bool is_depth = conv.depth && loop.var.is(conv.depth->var);
    add(is_depth ? (ic[1].empty() ? ic[0] : ic[1]) : loop.name);
    if (choice.unrolls_window && loop.var.is(conv.window->var)) written_out.push_back(loop.name);
  }
  const std::string last = nest.back();
  const bool is_last_free = std::find(written_out.begin(), written_out.end(), last) == written_out.end();
  if (choice.steps > 1 && is_last_free) {
    HONE_TRY(const std::vector<std::string> steps, split_levels(draft, block, last, {choice.steps}));
    nest.pop_back();
    for (const std::string& loop : steps) add(loop);
    if (!steps[1].empty()) written_out.push_back(steps[1]);
  }
  for (const std::string& loop : {oh[1], ow[1], oc[1]}) {
    add(loop);
    if (!loop.empty()) written_out.push_back(loop);
  }
  add(conv.channels.lanes.inner.name);
  HONE_TRY(draft.apply(schedule::Reorder{nest}));

  for (const Read& read : conv.channels.reads)
    if (read.uses(conv.channels.lanes.inner) && read.indices.size() > 1 &&
        read.is_constant(draft.program(), context.constants))
      HONE_TRY(store_in_reading_order(draft, block, ir::name_of(read.buffer)));
  HONE_TRY(draft.apply(schedule::Vectorize{conv.channels.lanes.inner.name}));
  for (const std::string& loop : written_out) HONE_TRY(draft.apply(schedule::Unroll{loop}));
  if (*complete > 0) attach_readers(draft, block, nest[*complete - 1]);
  parallelize(draft, block, *complete, context.target);
  schedule_other_blocks(draft, block, context.constants, context.target);
  return {};
}

Template convolution_template(std::string name, bool is_window) {
  return {std::move(name), prepare_reduction,
          [=](Config& config, Schedule& draft, const TemplateContext& context) -> Result<void> {
            HONE_TRY(const ConvolutionParts conv, convolution_parts(draft.program()));
            if (conv.is_window != is_window)
              return error(ErrorCode::Unsupported, "block '{}' is a convolution of another kind", conv.block);
            return apply_convolution(config, draft, context);
          }};
}

}  // namespace

Template conv2d_nchwc_template() { return convolution_template("conv2d_nchwc", true); }
Template conv2d_1x1_template() { return convolution_template("conv2d_1x1", false); }

}  // namespace hone::space
