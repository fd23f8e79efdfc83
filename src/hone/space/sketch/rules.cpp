#include "hone/space/sketch/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/default_program.h"
#include "hone/space/layout.h"
#include "hone/space/sketch/analysis.h"
#include "hone/space/sketch/gpu_rules.h"
#include "hone/space/sketch/plain.h"
#include "hone/space/sketch/tile.h"
#include "hone/space/winograd_schedule.h"

namespace hone::space {
namespace {

/// What it may cost to write results a second time, and to bring them into another order.
constexpr double kCopying = 1.02, kTransposing = 1.05;

/// Of a schedule that was made for one pattern, and of one that nothing is known about.
constexpr double kKnown = 0.5, kUncertain = 5;

bool is_tileable(const BlockParts& parts) {
  if (!parts.is_naive || parts.is_empty || !parts.is_reduction()) return false;
  return std::any_of(parts.spatial.begin(), parts.spatial.end(), [](const NaiveLoop& l) { return l.extent > 1; });
}

bool reuses(const Derivation& derivation, const std::string& block) {
  const BlockParts parts = parts_of(derivation.program(), block);
  return is_tileable(parts) && needs_tiling(parts);
}

/// The axis of the block's result that a loop runs through, and how many there are.
struct ResultAxis {
  std::size_t axis = 0, rank = 0;
  bool is_last() const { return axis + 1 == rank; }
};

std::optional<ResultAxis> result_axis(const Program& program, const std::string& block, const std::string& loop) {
  const Result<schedule::Path> path = schedule::find_block(program, block, "sketch");
  std::optional<ResultAxis> found;
  for (const NaiveLoop& naive : naive_loops(program, block)) {
    if (naive.name != loop) continue;
    ir::walk(path->block().body, [&](const ir::Stmt& s) {
      const ir::Store* store = s.as<ir::Store>();
      for (std::size_t i = 0; store && i < store->indices.size(); ++i)
        if (store->indices[i].is(naive.var)) found = ResultAxis{i, store->indices.size()};
    });
  }
  return found;
}

/// Tiles the block in each way in which it can run in lanes; the results of lanes must be stored side by side.
std::vector<Derivation> tile(const Derivation& derivation, const std::string& block, const RuleContext& context,
                             const std::string& structure, const std::optional<std::string>& consumer) {
  std::vector<Derivation> found;
  const bool is_output = schedule::is_param(derivation.program(), parts_of(derivation.program(), block).written);
  for (const std::string& loop : vector_loops(derivation.program(), block, context)) {
    Derivation next = visited(derivation);
    const std::optional<ResultAxis> axis = result_axis(derivation.program(), block, loop);
    if (axis && !axis->is_last()) {
      if (is_output) continue;
      std::vector<std::string> from, to;
      for (std::size_t i = 0; i < axis->rank; ++i) {
        from.push_back(fmt::format("d{}", i));
        if (i != axis->axis) to.push_back(from.back());
      }
      to.push_back(from[axis->axis]);
      const std::string buffer = ir::name_of(parts_of(derivation.program(), block).written);
      if (!next.schedule.apply(schedule::TransformLayout{
              buffer, fmt::format("({}) -> ({})", fmt::join(from, ", "), fmt::join(to, ", "))}))
        continue;
      next.cost *= kTransposing;
    }
    if (consumer) std::erase_if(next.actions, [&](const Action& action) { return action.block == *consumer; });
    next.actions.push_back(tile_action(next.program(), {block, structure, loop, consumer}, context));
    found.push_back(std::move(next));
  }
  return found;
}

/// Attention, softmax and norms over rows are known as a whole: one more sketch, in which nothing is left to decide.
Rule pattern() {
  return {"pattern",
          [](const Derivation& derivation, const std::string&, const RuleContext& context) {
            const bool fits = context.tiles == Tiles::Hardware && derivation.actions.empty() &&
                              derivation.schedule.trace().empty() &&
                              schedule_pattern(derivation.program(), context.target);
            return fits ? Verdict::Apply : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            Derivation next = derivation;
            next.pending.clear();
            next.schedule = *schedule_pattern(derivation.program(), context.target);
            next.actions.push_back({.block = block, .name = "as a whole", .cost = kKnown});
            return std::vector<Derivation>{std::move(next)};
          }};
}

/// Winograd convolutions have a schedule of their own, with decisions of its own.
Rule winograd() {
  const auto build = [](const Program& naive, const WinogradChoice& choice, const Task& task,
                        const codegen::Target& target) {
    const ir::Expr weight = winograd_weight(naive);
    const bool is_constant = std::any_of(task.constants.begin(), task.constants.end(),
                                         [&](std::size_t i) { return naive.params[i].is(weight); });
    return schedule_winograd(naive, is_constant, default_winograd_tile(naive, target, choice), target);
  };
  return {"winograd",
          [build](const Derivation& derivation, const std::string&, const RuleContext& context) {
            const bool fits = derivation.actions.empty() && derivation.schedule.trace().empty() &&
                              is_winograd(derivation.program()) &&
                              build(derivation.program(), {}, context.task, context.target);
            return fits ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [build](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            Derivation next = derivation;
            next.pending.clear();
            Action action{.block = block};
            action.knobs = {{"tiles", {{0}, {4}, {8}, {12}, {16}, {24}, {32}, {48}, {64}}},
                            {"product", {{0, 0}}},
                            {"channels", {{0}, {16}, {32}, {48}, {64}, {96}, {128}, {192}, {256}}}};
            for (std::int64_t rows = 2; rows <= 14; ++rows)
              for (std::int64_t vectors = 1; vectors <= 4; ++vectors)
                if (rows * vectors >= 8 && (rows + 1) * vectors < context.target.vector_registers)
                  action.knobs[1].options.push_back({rows, vectors});
            action.first = {0, 0, 0};
            action.apply = [=, naive = derivation.program(), task = context.task,
                            target = context.target](Building& building) -> Result<void> {
              const std::vector<std::int64_t>& product = building.decided("product");
              HONE_TRY(
                  building.schedule,
                  build(naive, {building.decided("tiles")[0], product[0], product[1], building.decided("channels")[0]},
                        task, target));
              return {};
            };
            next.actions.push_back(std::move(action));
            return std::vector<Derivation>{std::move(next)};
          }};
}

Rule always_inline() {
  return {"always inline",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            if (!is_strictly_inlinable(derivation.program(), block)) return Verdict::Skip;
            // What a tiled block reads again and again is not computed again and again without being asked.
            const ir::Expr written = parts_of(derivation.program(), block).written;
            if (!written) return Verdict::Skip;
            for (const schedule::Path& reader : schedule::readers(derivation.program(), written))
              if (schedule::is_reduction(reader.block()) &&
                  !reads_of(schedule::find_block(derivation.program(), block, "sketch")->block()).empty())
                return Verdict::Skip;
            return schedule::compute_inline(derivation.program(), block) ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext&) -> std::vector<Derivation> {
            Derivation next = visited(derivation);
            if (!next.schedule.apply(schedule::ComputeInline{block})) return {};
            return {std::move(next)};
          }};
}

/// Sums with few results are cut into parts for the workers; those that the other rules leave alone are anyway.
Rule add_rfactor() {
  return {"add rfactor",
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            const BlockParts parts = parts_of(derivation.program(), block);
            if (!is_tileable(parts) || !needs_rfactor(parts, context.target)) return Verdict::Skip;
            // Once is enough where there are both families of tiles; Ansor's rule is about tiled blocks, on any target.
            const bool fits = context.is_published ? needs_tiling(parts)
                                                   : context.tiles == Tiles::Hardware && context.target.threads > 1 &&
                                                         (needs_tiling(parts) || runs_along_space(parts));
            const schedule::Trace& done = derivation.schedule.trace();
            const bool is_copied = std::any_of(done.begin(), done.end(), [&](const schedule::Step& step) {
              const schedule::CacheWrite* copy = std::get_if<schedule::CacheWrite>(&step);
              return copy && copy->block == block;
            });
            return fits && !is_copied ? Verdict::Apply : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            Derivation next = visited(derivation);
            next.actions.push_back(plain_action(derivation.program(), block, context));
            next.actions.back().name = block + "(parts)";
            next.actions.back().cost = kUncertain;
            return std::vector<Derivation>{std::move(next)};
          }};
}

/// The block writes through a copy, which then follows its tiles; it is visited again.
Rule add_cache_write() {
  return {"add cache write",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            if (!reuses(derivation, block) || elementwise_consumer(derivation.program(), block)) return Verdict::Skip;
            return schedule::cache_write(derivation.program(), block, ir::Scope::Global) ? Verdict::Apply
                                                                                         : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext&) -> std::vector<Derivation> {
            Derivation next = derivation;
            if (!next.schedule.apply(schedule::CacheWrite{block, ir::Scope::Global})) return {};
            next.cost *= kCopying;
            return {std::move(next)};
          }};
}

Rule tile_with_fusion() {
  return {"tile with fusion",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            const bool fits = reuses(derivation, block) && elementwise_consumer(derivation.program(), block);
            return fits ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            return tile(derivation, block, context, "SSRSRS", elementwise_consumer(derivation.program(), block));
          }};
}

Rule multi_level_tile() {
  return {"tile",
          [](const Derivation& derivation, const std::string& block, const RuleContext&) {
            return reuses(derivation, block) ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            return tile(derivation, block, context, "SSRSRS", std::nullopt);
          }};
}

/// Windows and sums over outer axes: a tile of results at once. Ansor has no such rule.
Rule tile_windows() {
  return {"tile windows",
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            const BlockParts parts = parts_of(derivation.program(), block);
            const bool fits = !context.is_published && is_tileable(parts) && runs_along_space(parts);
            return fits ? Verdict::ApplyAndStop : Verdict::Skip;
          },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            return tile(derivation, block, context, "SRS", elementwise_consumer(derivation.program(), block));
          }};
}

Rule skip() {
  return {"skip", [](const Derivation&, const std::string&, const RuleContext&) { return Verdict::Apply; },
          [](const Derivation& derivation, const std::string& block, const RuleContext& context) {
            Derivation next = visited(derivation);
            next.actions.push_back(plain_action(derivation.program(), block, context));
            return std::vector<Derivation>{std::move(next)};
          }};
}

}  // namespace

Derivation visited(const Derivation& derivation) {
  Derivation next = derivation;
  next.pending.pop_back();
  return next;
}

bool RuleContext::is_constant(const Program& program, const ir::Expr& buffer) const {
  return std::any_of(task.constants.begin(), task.constants.end(),
                     [&](std::size_t i) { return i < program.params.size() && program.params[i].is(buffer); });
}

std::vector<Rule> cpu_rules() {
  return {pattern(),          winograd(),         always_inline(), add_rfactor(), add_cache_write(),
          tile_with_fusion(), multi_level_tile(), tile_windows(),  skip()};
}

std::vector<Derivation> derive(const ir::Function& naive, const RuleContext& context, const SketchOptions& options,
                               std::vector<LeftOut>& left_out) {
  std::vector<Rule> rules = options.rules;
  const bool is_gpu = context.target.is_gpu();
  for (Rule& rule : is_gpu ? gpu_rules() : cpu_rules()) rules.push_back(std::move(rule));
  Derivation start{schedule::Schedule(naive), {}, {}};
  if (!is_gpu && !is_winograd(naive)) follow_layouts(start.schedule);  // its own schedule does
  if (is_gpu) start.pending = inputs_to_visit(naive);
  for (const schedule::Path& path : schedule::blocks(naive)) start.pending.push_back(path.block().name);

  std::vector<Derivation> work = {std::move(start)}, done;
  while (!work.empty() && done.size() < options.most_sketches) {
    const Derivation here = std::move(work.back());
    work.pop_back();
    if (here.pending.empty()) {
      done.push_back(here);
      continue;
    }
    const std::string block = here.pending.back();
    std::vector<Derivation> next;
    for (const Rule& rule : rules) {
      const Verdict verdict = rule.test(here, block, context);
      if (verdict == Verdict::Skip) continue;
      for (Derivation& derivation : rule.apply(here, block, context)) {
        derivation.applied.push_back({rule.name, block});
        next.push_back(std::move(derivation));
      }
      if (verdict == Verdict::ApplyAndStop && !next.empty()) break;
    }
    work.insert(work.end(), std::make_move_iterator(next.rbegin()), std::make_move_iterator(next.rend()));
  }
  if (!work.empty())
    left_out.push_back({work.size(), "ways to go on with a sketch",
                        fmt::format("there are {} sketches already", options.most_sketches)});
  return done;
}

}  // namespace hone::space
