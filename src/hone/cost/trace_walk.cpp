#include "hone/cost/trace_walk.h"

#include <algorithm>

namespace hone::cost {

using schedule::Step;

void TraceWalk::begin(const NaiveBlocks& naive) {
  loops_.clear();
  blocks_.clear();
  decided_.clear();
  for (const NaiveBlock& block : naive.blocks) {
    WalkedBlock walked{block.name, &block, {}};
    for (const NaiveAxis& axis : block.axes) {
      walked.loops.push_back(loops_.size());
      loops_.push_back({axis.loop, blocks_.size(), &axis, axis.extent, 0, axis.is_reduction, 0});
    }
    blocks_.push_back(std::move(walked));
  }
}

void TraceWalk::apply(const Step& step) {
  using namespace schedule;
  if (const auto* split_step = std::get_if<Split>(&step)) {
    if (const WalkedLoop* loop = find_exact(split_step->loop)) split(*loop, factors(*split_step));
  } else if (const auto* variable = std::get_if<SplitVariable>(&step)) {
    const std::int64_t inner = std::max<std::int64_t>(1, number(variable->factor));
    if (const WalkedLoop* loop = find_variable(variable->block, variable->variable))
      split(*loop, std::vector<std::int64_t>{(loop->extent + inner - 1) / inner, inner});
  } else if (const auto* fuse_step = std::get_if<Fuse>(&step)) {
    fuse(fuse_step->loops);
  } else if (const auto* order = std::get_if<Reorder>(&step)) {
    reorder(order->loops);
  } else if (const auto* write = std::get_if<CacheWrite>(&step)) {
    add_block(write->block + ".copy", write->block);
  } else if (const auto* read = std::get_if<CacheRead>(&step)) {
    add_block(read->buffer + ".copy", read->block);
  } else if (const auto* factored = std::get_if<Rfactor>(&step)) {
    add_block(factored->block + ".rf", factored->block);
  } else if (const auto* tile = std::get_if<SampleTile>(&step)) {
    decided_.push_back({tile->name, tile->decision});
  } else if (const auto* choice = std::get_if<SampleChoice>(&step)) {
    const std::size_t place = choice->decision.empty() ? 0 : static_cast<std::size_t>(choice->decision[0]);
    if (place < choice->options.size()) decided_.push_back({choice->name, {choice->options[place]}});
  }
}

const WalkedLoop* TraceWalk::find_exact(std::string_view name) const {
  for (std::size_t i = loops_.size(); i-- > 0;)
    if (loops_[i].name == name) return &loops_[i];
  return nullptr;
}

const WalkedLoop* TraceWalk::find_loop(std::string_view name) const {
  while (!name.empty()) {
    if (const WalkedLoop* loop = find_exact(name)) return loop;
    const std::size_t end = name.find_last_of("._@");
    if (end == std::string_view::npos) return nullptr;
    name = name.substr(0, end);
  }
  return nullptr;
}

std::size_t TraceWalk::find_block(std::string_view name) const {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const WalkedBlock& b) { return b.name == name; });
  return static_cast<std::size_t>(found - blocks_.begin());
}

const WalkedLoop* TraceWalk::find_variable(std::string_view block, std::string_view variable) const {
  const std::size_t place = find_block(block);
  if (place == blocks_.size() || !blocks_[place].naive) return nullptr;
  // The parts of a variable that was split have its name and a number.
  const std::string_view root = variable.substr(0, variable.find('.'));
  for (const NaiveAxis& axis : blocks_[place].naive->axes)
    if (axis.variable == root) return find_exact(axis.loop + std::string(variable.substr(root.size())));
  return nullptr;
}

std::size_t TraceWalk::place_of(const WalkedLoop& loop) const {
  const std::vector<std::size_t>& around = blocks_[loop.block].loops;
  const auto id = static_cast<std::size_t>(&loop - loops_.data());
  return static_cast<std::size_t>(std::find(around.begin(), around.end(), id) - around.begin());
}

std::int64_t TraceWalk::number(const schedule::Number& number) const {
  if (number.decision.empty()) return number.value;
  for (const Decided& decided : decided_)
    if (decided.name == number.decision && static_cast<std::size_t>(number.element) < decided.values.size())
      return decided.values[static_cast<std::size_t>(number.element)];
  return 0;
}

std::vector<std::int64_t> TraceWalk::factors(const schedule::Split& split) const {
  std::vector<std::int64_t> factors;
  std::int64_t known = 1;
  for (const schedule::Number& factor : split.factors) {
    factors.push_back(number(factor));
    known *= std::max<std::int64_t>(1, factors.back());
  }
  const WalkedLoop* loop = find_exact(split.loop);
  const std::int64_t extent = loop ? loop->extent : 1;
  for (std::int64_t& factor : factors)
    if (factor == 0) factor = (extent + known - 1) / known;
  return factors;
}

void TraceWalk::replace(std::size_t block, std::span<const std::size_t> gone, std::vector<WalkedLoop> made) {
  std::vector<std::size_t> ids;
  for (WalkedLoop& loop : made) {
    ids.push_back(loops_.size());
    loops_.push_back(std::move(loop));
  }
  std::vector<std::size_t>& around = blocks_[block].loops;
  const auto first = std::find(around.begin(), around.end(), gone.front());
  around.insert(first, ids.begin(), ids.end());
  std::erase_if(around, [&](std::size_t id) { return std::find(gone.begin(), gone.end(), id) != gone.end(); });
}

void TraceWalk::split(const WalkedLoop& loop, std::span<const std::int64_t> factors) {
  std::int64_t iterations = 1;
  for (const std::int64_t factor : factors) iterations *= factor;
  const double waste = 1 - (1 - loop.waste) * static_cast<double>(loop.extent) /
                               static_cast<double>(std::max<std::int64_t>(1, iterations));
  std::vector<WalkedLoop> parts;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    WalkedLoop part = loop;
    part.name += "." + std::to_string(i);
    part.extent = factors[i];
    part.level = loop.level + (i == 0 ? 0 : 1);
    part.waste = std::max(0.0, waste);
    parts.push_back(std::move(part));
  }
  const auto id = static_cast<std::size_t>(&loop - loops_.data());
  replace(loop.block, std::span(&id, 1), std::move(parts));
}

void TraceWalk::fuse(const schedule::Names& names) {
  std::vector<std::size_t> gone;
  WalkedLoop fused;
  for (const std::string& name : names) {
    const WalkedLoop* loop = find_exact(name);
    if (!loop) return;
    if (gone.empty()) fused = {.name = "", .block = loop->block, .axis = loop->axis};
    gone.push_back(static_cast<std::size_t>(loop - loops_.data()));
    fused.name += (fused.name.empty() ? "" : "@") + name;
    fused.extent *= loop->extent;
    fused.level = std::max(fused.level, loop->level);
    fused.is_reduction |= loop->is_reduction;
    fused.waste = 1 - (1 - fused.waste) * (1 - loop->waste);
  }
  if (!gone.empty()) replace(fused.block, gone, {fused});
}

void TraceWalk::reorder(const schedule::Names& names) {
  std::vector<std::size_t> ids;
  for (const std::string& name : names) {
    const WalkedLoop* loop = find_exact(name);
    if (!loop) return;
    ids.push_back(static_cast<std::size_t>(loop - loops_.data()));
  }
  if (ids.empty()) return;
  // They take the places that they have, in the new order.
  std::size_t next = 0;
  for (std::size_t& id : blocks_[loops_[ids[0]].block].loops)
    if (next < ids.size() && std::find(ids.begin(), ids.end(), id) != ids.end()) id = ids[next++];
}

void TraceWalk::add_block(std::string name, std::string_view before) {
  if (find_block(before) < blocks_.size()) blocks_.push_back({std::move(name), nullptr, {}});
}

}  // namespace hone::cost
