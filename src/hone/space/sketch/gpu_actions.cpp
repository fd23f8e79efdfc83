#include "hone/space/sketch/gpu_actions.h"

#include <fmt/format.h>

#include "hone/schedule/primitives.h"
#include "hone/space/gpu_steps.h"
#include "hone/space/sketch/analysis.h"

namespace hone::space {
namespace {

/// A knob about how many threads a block has, with Ansor's choice, a warp, first.
Knob thread_knob(const std::string& block, const codegen::Target& target) {
  Knob knob{fmt::format("{}.threads", block), {}};
  for (const std::int64_t count : thread_counts(target)) knob.options.push_back({count});
  return knob;
}

}  // namespace

Action gpu_plain_action(const Program& program, const std::string& block, const RuleContext& context) {
  const BlockParts parts = parts_of(program, block);
  Action action{.block = block};
  if (!parts.is_naive || parts.is_empty) return action;
  action.knobs = {thread_knob(block, context.target)};
  const std::string threads = action.knobs.front().name, unroll = fmt::format("{}.unroll", block);
  std::string sum;
  if (parts.is_reduction()) {
    action.knobs.push_back({unroll, {{0}, {16}, {64}, {512}, {1024}}});
    sum = parts.reduced.front().name;
  }
  action.first.assign(action.knobs.size(), 0);
  action.apply = [=](Building& building) -> Result<void> {
    run_on_threads(building.schedule, block, building.decided(threads)[0]);
    const std::int64_t budget = sum.empty() ? 0 : building.decided(unroll)[0];
    return budget > 0 ? building.apply(schedule::Annotate{sum, "unroll", std::to_string(budget)}) : Result<void>();
  };
  return action;
}

Action gpu_transform_action(const std::string& block, const RuleContext& context) {
  Action action{.block = block, .name = fmt::format("{}(cases)", block), .has_tiles = false};
  action.knobs = {thread_knob(block, context.target)};
  action.first = {0};
  action.apply = [=, threads = action.knobs.front().name](Building& building) -> Result<void> {
    HONE_TRY(const std::string loop, write_out_cases(building.schedule, block, building.decided(threads)[0]));
    if (!loop.empty()) building.levels[block] = {loop};
    return {};
  };
  return action;
}

Action gpu_in_thread_action(const std::string& block, const std::string& consumer) {
  Action action{.block = block};
  action.apply = [=](Building& building) -> Result<void> {
    const auto place = building.levels.find(consumer);
    if (place == building.levels.end()) return {};
    const ir::Expr written = parts_of(building.program(), block).written;
    HONE_TRY(building.apply(schedule::ComputeAt{block, place->second.front()}));
    return building.apply(schedule::SetScope{ir::name_of(written), ir::Scope::Local});
  };
  return action;
}

}  // namespace hone::space
