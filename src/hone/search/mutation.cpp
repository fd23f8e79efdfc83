#include "hone/search/mutation.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace hone::search {
namespace {

using space::Candidate;
using space::Knob;

bool is_tile(const Knob& knob) {
  return std::all_of(knob.options.begin(), knob.options.end(), [](const auto& option) { return option.size() > 1; });
}

/// By how much `large` is a multiple of `small`; 0 if it is not.
std::int64_t factor(std::int64_t large, std::int64_t small) {
  return small > 0 && large > small && large % small == 0 ? large / small : 0;
}

/// Whether one factor moves between two numbers, or into or out of one of them.
bool is_one_move(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
  if (from.size() != to.size()) return false;
  std::int64_t given = 0, taken = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    std::int64_t& moved = from[i] > to[i] ? given : taken;
    if (moved != 0) return false;
    moved = from[i] > to[i] ? factor(from[i], to[i]) : factor(to[i], from[i]);
    if (moved == 0) return false;
  }
  return given == taken ? given != 0 : given == 0 || taken == 0;
}

}  // namespace

std::vector<std::size_t> tile_moves(const Knob& knob, std::size_t option) {
  std::vector<std::size_t> moves;
  for (std::size_t i = 0; i < knob.options.size(); ++i)
    if (is_one_move(knob.options[option], knob.options[i])) moves.push_back(i);
  return moves;
}

std::vector<std::size_t> near_options(const Knob& knob, std::size_t option) {
  if (!is_tile(knob)) return {};
  const std::vector<std::int64_t>& from = knob.options[option];
  // The nearest option found for each number that grows and each that shrinks; past the last one: none does.
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::int64_t, std::size_t>> nearest;
  for (std::size_t i = 0; i < knob.options.size(); ++i) {
    const std::vector<std::int64_t>& to = knob.options[i];
    if (to.size() != from.size()) continue;
    std::size_t grows = from.size(), shrinks = from.size(), changes = 0;
    for (std::size_t j = 0; j < from.size(); ++j) {
      if (to[j] == from[j]) continue;
      ++changes;
      (to[j] > from[j] ? grows : shrinks) = j;
    }
    if (changes == 0 || changes > 2 || (changes == 2 && !is_one_move(from, to))) continue;
    const std::size_t changed = std::min(grows, shrinks);
    const std::int64_t distance = std::abs(to[changed] - from[changed]);
    const auto [found, is_new] = nearest.try_emplace({grows, shrinks}, distance, i);
    if (!is_new && distance < found->second.first) found->second = {distance, i};
  }
  std::vector<std::size_t> near;
  for (const auto& [numbers, found] : nearest) near.push_back(found.second);
  return near;
}

Mutator::Mutator(const space::Space& space, double tile_share) : space_(space), tile_share_(tile_share) {
  for (const space::Sketch& sketch : space.sketches()) {
    Open& open = open_.emplace_back();
    for (std::size_t i = 0; i < sketch.knobs.size(); ++i)
      if (sketch.knobs[i].options.size() > 1) (is_tile(sketch.knobs[i]) ? open.tiles : open.others).push_back(i);
  }
}

const std::vector<std::size_t>& Mutator::moves(const Candidate& candidate, std::size_t knob) {
  const auto [found, is_new] = moves_.try_emplace({candidate.sketch, knob, candidate.choices[knob]});
  if (is_new) found->second = tile_moves(space_.sketches()[candidate.sketch].knobs[knob], candidate.choices[knob]);
  return found->second;
}

Candidate Mutator::mutate(const Candidate& candidate, Rng& rng) {
  const auto& [tiles, others] = open_[candidate.sketch];
  if (tiles.empty() && others.empty()) return candidate;
  const bool is_on_tile = others.empty() || (!tiles.empty() && rng.chance(tile_share_));
  const std::size_t knob = rng.choose(is_on_tile ? tiles : others);
  Candidate changed = candidate;
  if (is_on_tile && !moves(candidate, knob).empty()) {
    changed.choices[knob] = rng.choose(moves(candidate, knob));
    return changed;
  }
  const std::size_t options = space_.sketches()[candidate.sketch].knobs[knob].options.size();
  const auto other = static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(options) - 2));
  changed.choices[knob] = other < candidate.choices[knob] ? other : other + 1;
  return changed;
}

}  // namespace hone::search
