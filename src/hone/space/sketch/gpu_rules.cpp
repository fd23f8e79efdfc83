#include "hone/space/sketch/gpu_rules.h"

#include <algorithm>

#include "hone/schedule/primitives.h"
#include "hone/space/gpu_steps.h"
#include "hone/space/sketch/analysis.h"
#include "hone/space/sketch/gpu_actions.h"

namespace hone::space {
namespace {

constexpr std::string_view kInput = "input ";

/// Of a sum whose threads wait for each other, against a tile.
constexpr double kWaiting = 2;

bool is_input(const std::string& stage) { return stage.starts_with(kInput); }

bool was_applied(const Derivation& derivation, std::string_view rule, const std::string& block) {
  return std::any_of(derivation.applied.begin(), derivation.applied.end(),
                     [&](const Applied& one) { return one.rule == rule && one.block == block; });
}

bool is_tiled(const Derivation& derivation, const std::string& block) {
  return was_applied(derivation, "tile", block) || was_applied(derivation, "tile with fusion", block);
}

bool needs_tiles(const Derivation& derivation, const std::string& block) {
  const BlockParts parts = parts_of(derivation.program(), block);
  return parts.is_naive && !parts.is_empty && parts.is_reduction() && needs_tiling(parts);
}

/// What a stage makes: an input itself, or the only buffer that a block writes; null if there are several.
ir::Expr made_by(const Program& program, const std::string& stage) {
  if (!is_input(stage)) return parts_of(program, stage).written;
  const Result<ir::Expr> buffer = schedule::find_buffer(program, stage.substr(kInput.size()), "sketch");
  return buffer ? *buffer : ir::Expr();
}

/// The tiled blocks that read what a stage makes.
std::vector<std::string> tiled_readers(const Derivation& derivation, const std::string& stage) {
  std::vector<std::string> names;
  const ir::Expr buffer = made_by(derivation.program(), stage);
  if (!buffer || buffer.get<ir::Buffer>().shape.empty()) return names;
  for (const schedule::Path& reader : schedule::readers(derivation.program(), buffer))
    if (is_tiled(derivation, reader.block().name)) names.push_back(reader.block().name);
  return names;
}

/// The elementwise consumer of a block, unless that only fills shared memory.
std::optional<std::string> fusable_consumer(const Program& program, const std::string& block) {
  std::optional<std::string> consumer = elementwise_consumer(program, block);
  if (consumer && parts_of(program, *consumer).written.get<ir::Buffer>().scope == ir::Scope::Shared) consumer.reset();
  return consumer;
}

bool is_gpu_output(const Program& program, const std::string& block) {
  const ir::Expr written = parts_of(program, block).written;
  return !written || schedule::is_param(program, written);
}

/// Whether a block can be computed where it is read, and should be.
bool is_inlinable(const Program& program, const std::string& block) {
  return !is_input(block) && !is_gpu_output(program, block) && !parts_of(program, block).is_reduction() &&
         formula_loops(program, block).empty() && schedule::compute_inline(program, block);
}

/// The block whose formula depends on variables by cases that alone reads what a block makes.
std::optional<std::string> transforming_reader(const Program& program, const std::string& block) {
  if (is_input(block) || is_gpu_output(program, block)) return std::nullopt;
  const std::vector<schedule::Path> readers = schedule::readers(program, parts_of(program, block).written);
  if (readers.size() != 1 || formula_loops(program, readers[0].block().name).empty()) return std::nullopt;
  return readers[0].block().name;
}

Rule share_reads() {
  return {"add cache read",
          [](const Derivation& derivation, const std::string& stage, const RuleContext&) {
            return tiled_readers(derivation, stage).empty() ? Verdict::Skip : Verdict::ApplyAndStop;
          },
          [](const Derivation& derivation, const std::string& stage, const RuleContext&) -> std::vector<Derivation> {
            Derivation next = derivation;
            const std::string buffer = ir::name_of(made_by(derivation.program(), stage));
            for (const std::string& reader : tiled_readers(derivation, stage)) {
              const Result<std::string> copy = share_operand(next.schedule, reader, buffer);
              if (!copy) return {};
              next.actions.push_back(gpu_fetch_action(*copy, reader));
            }
            return {std::move(next)};
          }};
}

Rule compute_in_threads() {
  return {"special compute location",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            const bool fits =
                transforming_reader(derivation.program(), block) && is_inlinable(derivation.program(), block);
            return fits ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            Derivation next = visited(derivation);
            next.actions.push_back(gpu_in_thread_action(block, *transforming_reader(derivation.program(), block)));
            return std::vector<Derivation>{std::move(next)};
          }};
}

Rule inline_all() {
  return {"always inline",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            return is_inlinable(derivation.program(), block) ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext&) -> std::vector<Derivation> {
            Derivation next = visited(derivation);
            if (!next.schedule.apply(schedule::ComputeInline{block})) return {};
            return {std::move(next)};
          }};
}

Rule unroll_formulas() {
  return {"simplify const tensor",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            const bool fits = !is_input(block) && !formula_loops(derivation.program(), block).empty();
            return fits ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            Derivation next = visited(derivation);
            next.actions.push_back(gpu_transform_action(block, context));
            return std::vector<Derivation>{std::move(next)};
          }};
}

/// The only block that reads what a reduction makes, and how many of its outer axes are those of the reduction, all of
/// them.
struct RowConsumer {
  std::string block;
  std::size_t common = 0;
};

std::optional<RowConsumer> row_consumer(const Derivation& derivation, const std::string& block) {
  const Program& program = derivation.program();
  const BlockParts made = parts_of(program, block);
  if (!made.written || schedule::is_param(program, made.written)) return std::nullopt;
  const std::vector<schedule::Path> readers = schedule::readers(program, made.written);
  if (readers.size() != 1 || schedule::is_reduction(readers[0].block())) return std::nullopt;
  RowConsumer consumer{readers[0].block().name, made.spatial.size()};
  const BlockParts parts = parts_of(program, consumer.block);
  if (!parts.is_naive || parts.is_empty || is_tiled(derivation, consumer.block)) return std::nullopt;
  for (const Read& read : parts.reads) {
    if (!read.buffer.is(made.written)) continue;
    std::size_t leading = 0;
    while (leading < read.indices.size() && leading < parts.spatial.size() &&
           read.indices[leading].is(parts.spatial[leading].var))
      ++leading;
    consumer.common = std::min(consumer.common, leading);
  }
  // A row is one setting of the outer axes, and there is a row to share.
  if (consumer.common == 0 || consumer.common >= parts.spatial.size()) return std::nullopt;
  return consumer;
}

Rule sum_across_threads() {
  return {"cross thread reduction",
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            if (is_input(block) || was_applied(derivation, "add cache write", block)) return Verdict::Skip;
            const BlockParts parts = parts_of(derivation.program(), block);
            if (!parts.is_naive || parts.is_empty || !parts.is_reduction()) return Verdict::Skip;
            std::int64_t space = 1, reduced = 1;
            for (const NaiveLoop& loop : parts.spatial) space *= loop.extent;
            for (const NaiveLoop& loop : parts.reduced) reduced *= loop.extent;
            const bool fits = needs_tiling(parts) ? space <= context.target.gpu.max_threads && space < reduced
                                                  : reduced > context.target.gpu.warp;
            return fits ? Verdict::Apply : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            Derivation next = visited(derivation);
            if (needs_tiles(derivation, block)) next.cost *= kWaiting;
            const std::optional<RowConsumer> rows = row_consumer(derivation, block);
            std::optional<std::string> consumer;
            for (Action& action : next.actions) {
              if (!rows || action.block != rows->block) continue;
              // A second sum leaves its results in the rows that the first one made.
              const bool has_rows = !action.knobs.empty() && action.knobs.front().name == gpu_rows_knob(rows->block);
              if (!has_rows && !action.name.empty()) continue;
              if (!has_rows) action = gpu_rows_action(derivation.program(), rows->block, rows->common, context);
              consumer = rows->block;
            }
            next.actions.push_back(gpu_cross_thread_action(derivation.program(), block, consumer, context));
            return std::vector<Derivation>{std::move(next)};
          }};
}

/// The block sums into registers, which a copy then writes and which has its tiles; it is visited again.
Rule sum_locally() {
  return {"add cache write",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            if (is_input(block) || !needs_tiles(derivation, block) || fusable_consumer(derivation.program(), block))
              return Verdict::Skip;
            return schedule::cache_write(derivation.program(), block, ir::Scope::Local) ? Verdict::ApplyAndStop
                                                                                        : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext&) -> std::vector<Derivation> {
            Derivation next = derivation;
            if (!next.schedule.apply(schedule::CacheWrite{block, ir::Scope::Local})) return {};
            return {std::move(next)};
          }};
}

std::vector<Derivation> tile_on_gpu(const Derivation& derivation, const std::string& block, const RuleContext& context,
                                    const std::optional<std::string>& consumer) {
  Derivation next = visited(derivation);
  if (consumer) std::erase_if(next.actions, [&](const Action& action) { return action.block == *consumer; });
  next.actions.push_back(gpu_tile_action(derivation.program(), block, consumer, context));
  return {std::move(next)};
}

Rule tile_with_consumer() {
  return {"tile with fusion",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            const bool fits =
                !is_input(block) && needs_tiles(derivation, block) && fusable_consumer(derivation.program(), block);
            return fits ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            return tile_on_gpu(derivation, block, context, fusable_consumer(derivation.program(), block));
          }};
}

Rule tile_alone() {
  return {"tile",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            return !is_input(block) && needs_tiles(derivation, block) ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            return tile_on_gpu(derivation, block, context, std::nullopt);
          }};
}

Rule leave_plain() {
  return {"skip", [](const Derivation&, const std::string&, const RuleContext&) { return Verdict::Apply; },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            Derivation next = visited(derivation);
            if (!is_input(block)) next.actions.push_back(gpu_plain_action(derivation.program(), block, context));
            return std::vector<Derivation>{std::move(next)};
          }};
}

}  // namespace

std::vector<Rule> gpu_rules() {
  return {share_reads(), compute_in_threads(), inline_all(), unroll_formulas(), sum_across_threads(),
          sum_locally(), tile_with_consumer(), tile_alone(), leave_plain()};
}

std::vector<std::string> inputs_to_visit(const ir::Function& naive) {
  std::vector<std::string> inputs;
  for (const ir::Expr& param : naive.params)
    if (schedule::writers(naive, param).empty() && !schedule::readers(naive, param).empty())
      inputs.push_back(std::string(kInput) + ir::name_of(param));
  return inputs;
}

}  // namespace hone::space
