#include "hone/space/default_program.h"

#include <algorithm>
#include <functional>

#include "hone/schedule/prepack.h"
#include "hone/schedule/primitives.h"
#include "hone/space/attention_schedule.h"
#include "hone/space/blocks.h"
#include "hone/space/channel_schedule.h"
#include "hone/space/gpu_steps.h"
#include "hone/space/layout.h"
#include "hone/space/reduction_schedule.h"
#include "hone/space/row_schedule.h"
#include "hone/space/winograd_schedule.h"

namespace hone::space {
namespace {

/// Computes every injective block where it is read, unless a reduction would then compute it many times over.
void inline_injective(Schedule& draft) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    const Program program = draft.program();
    for (const schedule::Path& path : schedule::blocks(program)) {
      const ir::Block& block = path.block();
      if (schedule::is_reduction(block)) continue;
      const std::vector<ir::Expr> written = schedule::written_buffers(block);
      if (written.size() != 1 || schedule::is_param(program, written[0])) continue;
      const std::vector<schedule::Path> readers = schedule::readers(program, written[0]);
      const bool is_reduced = std::any_of(readers.begin(), readers.end(),
                                          [](const schedule::Path& r) { return schedule::is_reduction(r.block()); });
      if (is_reduced && !reads_of(block).empty()) continue;
      if (attempt(draft, schedule::ComputeInline{block.name})) {
        is_changed = true;
        break;
      }
    }
  }
}

void schedule_elementwise(Schedule& draft, const std::string& block, const codegen::Target& target) {
  const std::vector<NaiveLoop> loops = naive_loops(draft.program(), block);
  if (loops.empty()) return;
  vectorize_last(draft, block, target);
  parallelize(draft, block, std::max<std::size_t>(1, loops.size() - 1), target);
}

void schedule_reduction(Schedule& draft, const std::string& block, std::span<const std::size_t> constants,
                        const codegen::Target& target, const TileChoice& choice) {
  const std::vector<NaiveLoop> loops = naive_loops(draft.program(), block);
  if (loops.empty()) return;
  const ir::Block found = schedule::find_block(draft.program(), block, "default")->block();
  if (schedule::written_buffers(found).size() == 1) {
    if (tile_channels(draft, block, constants, target, choice)) return;
    // Rows first where the reduction runs along memory and the result's last axis does not.
    const std::vector<Read> reads = reads_of(found);
    const auto last_spatial =
        std::find_if(loops.rbegin(), loops.rend(), [](const NaiveLoop& l) { return !l.is_reduction; });
    const bool has_columns = last_spatial != loops.rend() && last_spatial->extent > 1 &&
                             std::any_of(reads.begin(), reads.end(), [&](const Read& read) {
                               return read.uses(*last_spatial) && read.is_strided_in(*last_spatial);
                             });
    if (!has_columns && reads.size() == 1 && reduce_rows(draft, block, target)) return;
    if (tile_for_registers(draft, block, constants, target, choice)) return;
    if (reduce_rows(draft, block, target)) return;
  }
  std::size_t spatial = 0;
  while (spatial < loops.size() && !loops[spatial].is_reduction) ++spatial;
  parallelize(draft, block, spatial, target);
}

/// Schedules all reductions by what is chosen for each, those without a choice left alone, then what else there is.
void schedule_all(Schedule& draft, std::span<const std::size_t> constants, const codegen::Target& target,
                  const std::function<std::optional<TileChoice>(const std::string&)>& choice_of) {
  std::vector<std::string> reductions;
  for (const schedule::Path& path : schedule::blocks(draft.program()))
    if (schedule::is_reduction(path.block())) reductions.push_back(path.block().name);
  for (const std::string& name : reductions)
    if (const std::optional<TileChoice> choice = choice_of(name))
      schedule_reduction(draft, name, constants, target, *choice);
  const Program reduced = draft.program();
  for (const schedule::Path& path : schedule::blocks(reduced))
    if (!schedule::is_reduction(path.block()) && !ir::find(path.block().annotations, schedule::kPrepack))
      schedule_elementwise(draft, path.block().name, target);
}

/// The schedule of a Winograd convolution with its neighbours, if the program is one.
std::optional<Schedule> winograd_schedule(const Program& naive, std::span<const std::size_t> constants,
                                          const codegen::Target& target) {
  if (!is_winograd(naive)) return std::nullopt;
  const ir::Expr weight = winograd_weight(naive);
  const bool is_constant =
      std::any_of(constants.begin(), constants.end(), [&](std::size_t i) { return naive.params[i].is(weight); });
  Result<schedule::Schedule> made = schedule_winograd(naive, is_constant, default_winograd_tile(naive, target), target);
  return made ? std::optional(*std::move(made)) : std::nullopt;
}

}  // namespace

std::int64_t default_winograd_tile(const Convolution3x3& conv, const codegen::Target& target) {
  constexpr std::int64_t kFewestChannels = 32;  // below, the transforms are most of the work
  if (conv.in_channels < kFewestChannels || conv.out_channels < kFewestChannels) return 0;
  const auto lanes = static_cast<double>(target.lanes(32));
  const double channels = static_cast<double>(conv.in_channels * conv.out_channels);
  const auto cycles = [&](std::int64_t m) {
    const std::int64_t tile = m == 0 ? 1 : m;
    const auto points = static_cast<double>(m == 0 ? 9 : (m + 2) * (m + 2));
    const auto tiles =
        static_cast<double>(conv.images * ((conv.height + tile - 1) / tile) * ((conv.width + tile - 1) / tile));
    const double products = points * tiles * channels / (target.multiply_adds * lanes) / 0.85;
    const double transforms =
        m == 0 ? 0 : 2.5 * points * tiles * static_cast<double>(conv.in_channels + conv.out_channels) / lanes;
    const double weight_bytes = points * channels * 4;
    const double rate =
        weight_bytes > static_cast<double>(target.l3_bytes) ? target.memory_bytes_per_cycle : target.l3_bytes_per_cycle;
    const double memory = weight_bytes > static_cast<double>(target.l2_bytes) / 2 ? weight_bytes / rate : 0;
    const double computing = (products + transforms) / std::max(1, target.threads);
    return std::max(computing, memory) + 0.25 * std::min(computing, memory);
  };
  std::int64_t best = 0;
  for (const std::int64_t m : {2, 4})
    if (cycles(m) < cycles(best)) best = m;
  return best;
}

std::string main_reduction(const ir::Function& naive) {
  std::string name;
  double most = 0;
  for (const schedule::Path& path : schedule::blocks(naive)) {
    if (!schedule::is_reduction(path.block())) continue;
    double points = 1;
    for (const ir::Iter& iter : path.block().iters) points *= static_cast<double>(ir::as_int(iter.extent).value_or(1));
    if (points > most) name = path.block().name;
    most = std::max(most, points);
  }
  return name;
}

void inline_blocks(Schedule& draft, std::span<const std::size_t> constants, const codegen::Target& target) {
  inline_injective(draft);
  sum_in_lanes(draft, constants, target);
  follow_layouts(draft);
}

void schedule_other_blocks(Schedule& draft, const std::string& done, std::span<const std::size_t> constants,
                           const codegen::Target& target) {
  schedule_all(draft, constants, target, [&](const std::string& block) -> std::optional<TileChoice> {
    return block == done ? std::nullopt : std::optional(TileChoice{});
  });
}

Schedule schedule_blocks(const ir::Function& naive, std::span<const std::size_t> constants,
                         const codegen::Target& target, const TileChoice& choice) {
  Schedule draft(naive);
  inline_blocks(draft, constants, target);
  const std::string main = main_reduction(naive);
  schedule_all(draft, constants, target, [&](const std::string& block) -> std::optional<TileChoice> {
    return block == main ? choice : TileChoice{};
  });
  return draft;
}

std::optional<Schedule> schedule_pattern(const ir::Function& naive, const codegen::Target& target) {
  if (const Result<AttentionTile> tile = default_attention_tile(naive, target))
    if (Result<Schedule> attention = schedule_attention(naive, *tile, target)) return *std::move(attention);
  if (Result<Schedule> rows = schedule_rows(naive, target)) return *std::move(rows);
  return std::nullopt;
}

Schedule default_schedule(const ir::Function& naive, std::span<const std::size_t> constants,
                          const codegen::Target& target) {
  if (target.is_gpu()) return gpu_default_schedule(naive, target);
  if (std::optional<Schedule> winograd = winograd_schedule(naive, constants, target)) return *std::move(winograd);
  if (std::optional<Schedule> known = schedule_pattern(naive, target)) return *std::move(known);
  return schedule_blocks(naive, constants, target);
}

schedule::KernelProgram default_program(const ir::Function& naive, std::span<const std::size_t> constants,
                                        const codegen::Target& target) {
  return schedule::split_packing(default_schedule(naive, constants, target).program());
}

}  // namespace hone::space
