/// The template of Winograd convolutions: knobs for everything that winograd_schedule.h leaves open.
#include <algorithm>

#include "hone/space/template/templates.h"
#include "hone/space/winograd_schedule.h"
#include "hone/space/winograd_stages.h"

namespace hone::space {
namespace {

/// What is fetched ahead.
enum Fetch : std::int64_t { kNothing, kWeights, kTensors };

Result<void> apply_winograd(Config& config, Schedule& draft, const TemplateContext& context) {
  const Program naive = draft.program();
  const std::optional<WinogradStages> stages = find_winograd_stages(naive);
  if (!stages) return error(ErrorCode::Unsupported, "'{}' is no Winograd convolution", naive.name);
  const std::int64_t registers = context.target.vector_registers, lanes = context.target.lanes(stages->bits);
  const WinogradTile usual = default_winograd_tile(naive, context.target);
  constexpr std::int64_t kMostTiles = 64;

  WinogradTile tile;
  tile.images = usual.images;
  const auto blocks = [](std::int64_t most) {
    return SplitRule{.policy = SplitPolicy::Verbose, .max_factor = kMostTiles, .fallback = {kRemaining, most}};
  };
  tile.rows = config.split("tile_y", std::max<std::int64_t>(stages->rows, 1), blocks(usual.rows))[1];
  tile.columns = config.split("tile_x", std::max<std::int64_t>(stages->columns, 1), blocks(usual.columns))[1];
  std::vector<std::int64_t> passes;
  for (const std::int64_t vectors : {1, 2, 3, 4, 6, 8, 12, 16}) passes.push_back(vectors * lanes);
  tile.channels = config.choose("channels", passes, 3);
  tile.gemm_rows = config.choose("rows", {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14}, 3);
  tile.gemm_vectors = config.choose("vectors", {1, 2, 3, 4}, registers >= 32 ? 3 : 1);
  const std::int64_t fetch = config.choose("fetch", {kNothing, kWeights, kTensors});
  tile.fetches_weights = fetch == kWeights;
  tile.fetches_tensors = fetch == kTensors;
  config.keep_if([=](const Decisions& decided) {
    const auto number = [&](const char* knob) { return decided.find(knob)->second[0]; };
    const std::int64_t tiles = decided.find("tile_y")->second[1] * decided.find("tile_x")->second[1];
    return registers_of(number("rows"), number("vectors")) <= registers + 1 && tiles <= kMostTiles;
  });

  const bool is_constant = std::any_of(context.constants.begin(), context.constants.end(),
                                       [&](std::size_t i) { return naive.params[i].is(stages->weight); });
  HONE_TRY(draft, schedule_winograd(naive, is_constant, tile, context.target));
  return {};
}

}  // namespace

Template winograd_template() { return {"winograd", nullptr, apply_winograd}; }

}  // namespace hone::space
