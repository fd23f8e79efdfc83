#include "hone/cost/first_weights.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hone::cost {
namespace {

using Json = nlohmann::json;

/// Whether two networks are made of the same, but for their heads.
Result<void> check_same_kind(const NetworkSpec& spec, const NetworkSpec& before) {
  if (before.members != 1)
    return error(ErrorCode::InvalidArgument, "it has {} members, expected the weights of one", before.members);
  const Json wanted = Json::parse(to_json(spec)), found = Json::parse(to_json(before));
  for (const char* part : {"schema", "shape", "body", "layers", "direct", "head", "masked", "positions", "one head"})
    if (found.at(part) != wanted.at(part))
      return error(ErrorCode::InvalidArgument, "its '{}' is {}, expected {}", part, found.at(part).dump(),
                   wanted.at(part).dump());
  return {};
}

bool is_among(const std::string& target, const std::vector<std::string>& targets) {
  return std::find(targets.begin(), targets.end(), target) != targets.end();
}

}  // namespace

std::size_t nearest_target(const NetworkSpec& spec, const std::string& target, const UnitOf& unit_of) {
  const auto own = std::find(spec.targets.begin(), spec.targets.end(), target);
  if (own != spec.targets.end()) return static_cast<std::size_t>(own - spec.targets.begin());
  const std::optional<ComputeUnit> unit = unit_of(target);
  std::size_t best = 0;
  int best_points = -1;
  for (std::size_t i = 0; unit && i < spec.targets.size(); ++i) {
    const std::optional<ComputeUnit> other = unit_of(spec.targets[i]);
    if (!other) continue;
    const int points = (other->lanes == unit->lanes ? 2 : 0) + ((other->threads > 1) == (unit->threads > 1) ? 1 : 0);
    if (points > best_points) {
      best = i;
      best_points = points;
    }
  }
  return best;
}

Result<FirstWeights> weights_to_begin_with(const NetworkSpec& spec, const NetworkSpec& before, const Weights& weights,
                                           const UnitOf& unit_of) {
  HONE_TRY(check_same_kind(spec, before));
  FirstWeights first{weights, {}, {}};
  if (spec.has_one_head) return first;
  std::erase_if(first.weights, [](const auto& weight) { return weight.first.starts_with("head."); });
  for (std::size_t h = 0; h < spec.targets.size(); ++h) {
    const std::size_t place = nearest_target(before, spec.targets[h], unit_of);
    if (before.targets[place] != spec.targets[h]) first.borrowed[spec.targets[h]] = before.targets[place];
    const std::string from = fmt::format("head.{}.", place);
    for (auto own = weights.lower_bound(from); own != weights.end() && own->first.starts_with(from); ++own)
      first.weights[fmt::format("head.{}.{}", h, own->first.substr(from.size()))] = own->second;
  }
  for (const std::string& target : before.targets)
    if (!is_among(target, spec.targets)) first.left.push_back(target);
  return first;
}

}  // namespace hone::cost
