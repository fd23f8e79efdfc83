#include "hone/cost/training_options.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <numbers>
#include <numeric>

namespace hone::cost {

double rate_in(int epoch, const TrainingOptions& options) {
  if (options.is_steady) return options.rate;
  constexpr double kLeft = 0.02;
  const double done = static_cast<double>(epoch - 1) / options.epochs;
  return options.rate * (kLeft + (1 - kLeft) * (1 + std::cos(std::numbers::pi * done)) / 2);
}

Result<std::vector<std::size_t>> find_targets(const Dataset& data, std::span<const std::string> texts) {
  std::vector<std::size_t> places;
  for (const std::string& text : texts) {
    std::vector<std::size_t> found;
    for (std::size_t t = 0; t < data.targets.size(); ++t)
      if (data.targets[t].find(text) != std::string::npos) found.push_back(t);
    if (const auto whole = data.find_target(text)) found = {*whole};
    if (found.size() != 1)
      return error(ErrorCode::NotFound, "target '{}' is in {} targets of the data set, expected one of: {}", text,
                   found.size(), fmt::join(data.targets, "; "));
    if (std::find(places.begin(), places.end(), found[0]) != places.end())
      return error(ErrorCode::InvalidArgument, "target '{}' is given twice", data.targets[found[0]]);
    places.push_back(found[0]);
  }
  if (!places.empty()) return places;
  places.resize(data.targets.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

}  // namespace hone::cost
