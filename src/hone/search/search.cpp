#include "hone/search/search.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/search/searches.h"
#include "hone/space/candidate.h"

namespace hone::search {
namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<Search> (*make)(const Space& space, SearchSetup setup);
  bool needs_scorer = false;
};

/// As many candidates can all be tried, the likely ones first; of more, only some ever are.
constexpr std::uint64_t kTriedAll = 4096;

std::unique_ptr<Search> auto_search(const Space& space, SearchSetup setup) {
  return tries_all("auto", space) ? exhaustive_search(space, std::move(setup))
                                  : evolutionary_search(space, std::move(setup));
}

constexpr std::array kSearches = {
    Named{"auto", auto_search},
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

bool tries_all(std::string_view name, const Space& space) {
  return name == "exhaustive" || (name == "auto" && space::size_of(space) <= kTriedAll);
}

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
