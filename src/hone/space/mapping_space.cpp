#include "hone/space/mapping_space.h"

#include <algorithm>
#include <fmt/format.h>

#include "hone/space/default_program.h"
#include "hone/space/winograd_schedule.h"

namespace hone::space {
namespace {

using Options = std::vector<std::vector<std::int64_t>>;

/// A list of what was kept out, without those entries that are nothing.
void note(std::vector<LeftOut>& left_out, std::uint64_t count, std::string what, std::string reason) {
  if (count > 0) left_out.push_back({count, std::move(what), std::move(reason)});
}

/// Register tiles of rows by vectors: enough accumulators to hide the latency of multiply-adds, and few enough to leave
/// registers for what is multiplied.
Options register_tiles(const std::string& sketch, const codegen::Target& target, std::vector<LeftOut>& left_out) {
  const std::int64_t registers = target.vector_registers;
  Options tiles = {{0, 0}};
  std::uint64_t small = 0, large = 0;
  for (std::int64_t vectors = 1; vectors <= 4; ++vectors)
    for (const std::int64_t rows : {2, 3, 4, 5, 6, 7, 8, 12, 14, 28}) {
      if (rows * vectors < registers * 3 / 8)
        ++small;
      else if ((rows + 1) * vectors >= registers)
        ++large;
      else
        tiles.push_back({rows, vectors});
    }
  const std::string what = fmt::format("register tiles of '{}'", sketch);
  note(left_out, small, what, fmt::format("fewer than {} sums do not hide the latency", registers * 3 / 8));
  note(left_out, large, what, fmt::format("they need more than the {} vector registers", registers));
  return tiles;
}

/// The reduction loop whose steps may be blocked, if there are several.
std::int64_t outer_steps(const ir::Function& naive) {
  const std::string main = main_reduction(naive);
  if (main.empty()) return 0;
  const Result<schedule::Path> path = schedule::find_block(naive, main, "mapping");
  for (const ir::Iter& iter : path->block().iters)
    if (iter.kind == ir::IterKind::Reduce) return ir::as_int(iter.extent).value_or(0);
  return 0;
}

/// How operands are walked: an order, and steps of the reduction that are kept in the cache.
Options walks(const Algorithm& algorithm, const codegen::Target& target, std::vector<LeftOut>& left_out) {
  Options walks = {{0, 0}, {TileChoice::ColumnsOutside, -1}, {TileChoice::RowsOutside, -1}};
  const std::int64_t steps = outer_steps(algorithm.naive) / std::max(1, target.lanes(32));
  std::uint64_t uneven = 0;
  for (const std::int64_t part : {2, 4, 8}) {
    if (steps >= 2 * part && steps % part == 0)
      walks.push_back({0, part});
    else
      ++uneven;
  }
  const std::string what = fmt::format("walks of '{}'", algorithm.name);
  note(left_out, uneven, what, fmt::format("they do not cut {} steps into equal parts, two at least", steps));
  if (walks.size() > 5) {
    walks.erase(walks.begin() + 3);
    note(left_out, 1, what, "two ways of cutting are enough");
  }
  return walks;
}

class MappingSpace : public Space {
 public:
  MappingSpace(Task task, codegen::Target target) : task_(std::move(task)), target_(std::move(target)) {
    for (const Algorithm& algorithm : task_.algorithms) {
      Sketch sketch{algorithm.name, {}};
      if (is_winograd(algorithm.naive)) {
        // More tiles or channels at once, or other products, are worth 0.3 % in the mean of what was measured.
        sketch.knobs = {{"tiles", {{0}, {8}, {16}, {32}}},
                        {"product", {{0, 0}, {6, 4}, {8, 2}, {14, 2}}},
                        {"channels", {{0}, {32}, {64}, {128}}}};
        const std::size_t large = std::erase_if(sketch.knobs[1].options, [&](const auto& tile) {
          return (tile[0] + 1) * tile[1] >= target_.vector_registers;
        });
        note(notes_.left_out, large, fmt::format("products of '{}'", algorithm.name),
             fmt::format("they need more than the {} vector registers", target_.vector_registers));
      } else if (main_reduction(algorithm.naive).empty()) {
        note_undecided(algorithm, "there is no reduction to tile: rules decide everything");
      } else if (schedule_pattern(algorithm.naive, target_)) {
        note_undecided(algorithm, "the program is known as a whole: rules decide everything");
      } else {
        sketch.knobs = {{"tile", register_tiles(algorithm.name, target_, notes_.left_out)},
                        {"walk", walks(algorithm, target_, notes_.left_out)},
                        {"unroll", {{0}, {4}}}};
      }
      sketches_.push_back(std::move(sketch));
    }
    notes_.is_fallback =
        std::all_of(sketches_.begin(), sketches_.end(), [](const Sketch& s) { return s.knobs.empty(); });
  }

  std::string_view name() const override { return "mapping"; }
  const std::vector<Sketch>& sketches() const override { return sketches_; }
  Notes notes() const override { return notes_; }
  Candidate first() const override {
    return {task_.likely, std::vector<std::size_t>(sketches_[task_.likely].knobs.size(), 0)};
  }

  Result<schedule::Schedule> build(const Candidate& candidate) const override {
    const Sketch& sketch = sketches_[candidate.sketch];
    const ir::Function& naive = task_.algorithms[candidate.sketch].naive;
    const auto number = [&](std::size_t knob, std::size_t i) {
      return sketch.knobs[knob].options[candidate.choices[knob]][i];
    };
    if (sketch.knobs.empty()) return default_schedule(naive, task_.constants, target_);
    if (sketch.knobs[0].name == "tiles") {
      const WinogradChoice choice{number(0, 0), number(1, 0), number(1, 1), number(2, 0)};
      const ir::Expr weight = winograd_weight(naive);
      const bool is_constant = std::any_of(task_.constants.begin(), task_.constants.end(),
                                           [&](std::size_t i) { return naive.params[i].is(weight); });
      return schedule_winograd(naive, is_constant, default_winograd_tile(naive, target_, choice), target_);
    }
    return schedule_blocks(naive, task_.constants, target_,
                           {number(0, 0), number(0, 1), number(1, 0), number(1, 1), number(2, 0)});
  }

 private:
  void note_undecided(const Algorithm& algorithm, const char* reason) {
    constexpr std::uint64_t kKnobs = 3;
    note(notes_.left_out, kKnobs, fmt::format("knobs of '{}'", algorithm.name), reason);
  }

  Task task_;
  codegen::Target target_;
  std::vector<Sketch> sketches_;  ///< one for each algorithm, in their order
  Notes notes_;
};

}  // namespace

std::unique_ptr<Space> make_mapping_space(Task task, codegen::Target target) {
  return std::make_unique<MappingSpace>(std::move(task), std::move(target));
}

}  // namespace hone::space
