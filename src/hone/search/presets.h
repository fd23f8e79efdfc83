/// Presets: combinations of space, search and cost model, named after the systems that they come from.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "hone/search/tuner.h"

namespace hone::search {

/// A published system, or what we make of them.
struct Preset {
  std::string_view name;
  std::string_view space, search, cost_model;
  std::size_t explore;     ///< see TunerOptions
  std::size_t early_stop;  ///< see TunerOptions
};

/// All of them; the first is the one to take if nothing is asked for.
std::span<const Preset> presets();

/// Sets what a preset says in the options, or gives an error that lists the presets there are.
Result<void> use_preset(std::string_view name, TunerOptions& options);

}  // namespace hone::search
