#include "hone/search/presets.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <vector>

namespace hone::search {

std::span<const Preset> presets() {
  static constexpr Preset kPresets[] = {
      {"auto", "auto", "auto", "auto", 0, 64},
      {"hidet", "mapping", "exhaustive", "none", 0, 0},
      {"autotvm", "template", "annealing", "rank-curve", 0, 0},
      {"ansor", "sketch", "evolutionary", "ansor", 0, 0},
      {"ansor-droplet", "sketch", "evolutionary", "ansor", 300, 0},
  };
  return kPresets;
}

Result<void> use_preset(std::string_view name, TunerOptions& options) {
  const std::span<const Preset> all = presets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Preset& preset) { return preset.name == name; });
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (const Preset& preset : all) names.push_back(preset.name);
    return error(ErrorCode::InvalidArgument, "there is no preset '{}', only: {}", name, fmt::join(names, ", "));
  }
  options.space = found->space;
  options.search = found->search;
  options.cost_model = found->cost_model;
  options.explore = found->explore;
  options.early_stop = found->early_stop;
  return {};
}

}  // namespace hone::search
