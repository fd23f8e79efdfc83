#include "hone/search/reuse.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/space/candidate.h"
#include "hone/space/make_space.h"

namespace hone::search {
namespace {

constexpr double kUnlike = std::numeric_limits<double>::infinity();

/// Candidates are not carried over to tasks that differ by more than this: a batch or a length that is some times as
/// large, not another layer. Where all decisions keep their meaning, they reach farther.
constexpr double kFarthest = 4, kFarthestCompatible = 8;

/// Folds a function of two extents over all parameters of two tasks; infinity if their ranks differ.
template <typename Fold>
double over_extents(const measure::TaskKey& a, const measure::TaskKey& b, double value, Fold&& fold) {
  if (a.shapes.size() != b.shapes.size()) return kUnlike;
  for (std::size_t i = 0; i < a.shapes.size(); ++i) {
    if (a.shapes[i].size() != b.shapes[i].size()) return kUnlike;
    for (std::size_t j = 0; j < a.shapes[i].size(); ++j) value = fold(value, a.shapes[i][j], b.shapes[i][j]);
  }
  return value;
}

/// How unlike two tasks of a family are: the factors by which their extents differ, as powers of two.
double distance(const measure::TaskKey& a, const measure::TaskKey& b) {
  const auto size = [](std::int64_t extent) { return std::log2(1 + static_cast<double>(extent)); };
  return over_extents(a, b, 0, [&](double sum, std::int64_t one, std::int64_t other) {
    return sum + std::fabs(size(one) - size(other));
  });
}

/// How many times as large the extents of a task are as those of another one; infinity if these do not divide them.
double ratio(const measure::TaskKey& task, const measure::TaskKey& other) {
  return over_extents(task, other, 1, [](double product, std::int64_t extent, std::int64_t part) {
    if (extent == part) return product;
    return part > 0 && extent % part == 0 ? product * static_cast<double>(extent) / static_cast<double>(part) : kUnlike;
  });
}

/// Tiles carry over to other sizes, algorithms do not: which one is fastest changes with the sizes.
bool has_likely_algorithm(const space::Space& space, const space::Candidate& candidate) {
  const auto algorithm = [&](const space::Candidate& of) { return algorithm_of(space.sketches()[of.sketch]); };
  return algorithm(candidate) == algorithm(space.first());
}

/// The candidate of a record of this task in its space; as near as there is if the space has changed, which its time
/// then says nothing about.
std::optional<Reused> exact_choice(const measure::Record& record, const space::Task& task,
                                   const codegen::Target& target) {
  Result<std::unique_ptr<space::Space>> space = space::make_space(space::space_of(record.candidate), task, target);
  if (!space) return std::nullopt;
  if (const Result<space::Candidate> candidate = space::parse_candidate(**space, record.candidate))
    return Reused{*std::move(space), *candidate, Origin::Exact, record};
  const std::optional<space::Candidate> candidate = space::nearest_candidate(**space, record.candidate);
  if (!candidate) return std::nullopt;
  return Reused{*std::move(space), *candidate, Origin::Nearest, record};
}

/// The candidate of a smaller task, all of whose decisions exist here.
std::optional<Reused> compatible_choice(const measure::Record& record, const space::Task& task,
                                        const codegen::Target& target) {
  Result<std::unique_ptr<space::Space>> space = space::make_space(space::space_of(record.candidate), task, target);
  if (!space) return std::nullopt;
  const Result<space::Candidate> candidate = space::parse_candidate(**space, record.candidate);
  if (!candidate || !has_likely_algorithm(**space, *candidate)) return std::nullopt;
  return Reused{*std::move(space), *candidate, Origin::Compatible, record};
}

/// What was found for other tasks, the nearest first, fitted to this task, in the space of the nearest.
std::optional<Reused> nearest_choice(const std::vector<const measure::Record*>& family, const space::Task& task,
                                     const codegen::Target& target) {
  if (family.empty()) return std::nullopt;
  const std::string name = space::space_of(family[0]->candidate);
  Result<std::unique_ptr<space::Space>> space = space::make_space(name, task, target);
  if (!space) return std::nullopt;
  std::vector<std::string> others;
  for (const measure::Record* record : family)
    if (space::space_of(record->candidate) == name) others.push_back(record->candidate);
  const std::optional<space::Candidate> candidate = (*space)->refit(others);
  if (!candidate || !has_likely_algorithm(**space, *candidate)) return std::nullopt;
  return Reused{*std::move(space), *candidate, Origin::Nearest, *family[0]};
}

}  // namespace

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::Exact:
      return "tuned";
    case Origin::Compatible:
      return "compatible";
    case Origin::Nearest:
      return "nearest";
    case Origin::Predicted:
      return "predicted";
    case Origin::Default:
      return "default";
  }
  return "?";
}

Result<std::optional<Reused>> find_reusable(const measure::Records& records, const space::Task& task,
                                            const codegen::Target& target) {
  const measure::TaskKey key = measure::task_key(task.naive(), task.constants);
  const std::string text = codegen::to_string(target);
  HONE_TRY(const std::optional<measure::Record> exact, records.adopted(key.key, text));
  if (exact)
    if (std::optional<Reused> found = exact_choice(*exact, task, target)) return found;

  HONE_TRY(const std::vector<measure::Record> family, records.adopted_of_family(key, text));
  std::vector<std::pair<double, const measure::Record*>> smaller, near;
  for (const measure::Record& record : family) {
    const double far = distance(key, record.task), scaled_ns = record.min_ns() * ratio(key, record.task);
    if (std::isfinite(scaled_ns) && far <= kFarthestCompatible) smaller.emplace_back(scaled_ns, &record);
    if (far <= kFarthest) near.emplace_back(far, &record);
  }
  const auto is_less = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(smaller.begin(), smaller.end(), is_less);
  std::stable_sort(near.begin(), near.end(), is_less);
  for (const auto& [scaled_ns, record] : smaller)
    if (std::optional<Reused> found = compatible_choice(*record, task, target)) return found;
  std::vector<const measure::Record*> nearest;
  for (const auto& [far, record] : near) nearest.push_back(record);
  return nearest_choice(nearest, task, target);
}

}  // namespace hone::search
