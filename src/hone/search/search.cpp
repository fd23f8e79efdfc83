#include "hone/search/search.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/search/searches.h"

namespace hone::search {
namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<Search> (*make)(const Space& space, SearchSetup setup);
  bool needs_scorer = false;
};

constexpr std::array kSearches = {
    Named{"random", random_search},
    Named{"grid", grid_search},
    Named{"genetic", genetic_search},
    Named{"annealing", annealing_search, /*needs_scorer=*/true},
    Named{"evolutionary", evolutionary_search},
    Named{"droplet", droplet_search},
    Named{"exhaustive", exhaustive_search},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kSearches.size()> names;
  std::transform(kSearches.begin(), kSearches.end(), names.begin(), [](const Named& named) { return named.name; });
  return names;
}();

}  // namespace

std::span<const std::string_view> search_names() { return kNames; }

Result<std::unique_ptr<Search>> make_search(std::string_view name, const Space& space, SearchSetup setup) {
  HONE_TRY(check(setup.options));
  const auto found = std::find_if(kSearches.begin(), kSearches.end(), [&](const Named& s) { return s.name == name; });
  if (found == kSearches.end())
    return error(ErrorCode::InvalidArgument, "there is no search '{}', only: {}", name, fmt::join(kNames, ", "));
  if (found->needs_scorer && !setup.scorer)
    return error(ErrorCode::InvalidArgument, "search '{}' needs a cost model", name);
  return found->make(space, std::move(setup));
}

}  // namespace hone::search
