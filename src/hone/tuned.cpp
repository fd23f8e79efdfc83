#include "hone/tuned.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/space/mapping_space.h"
#include "hone/support/log.h"

namespace hone {
namespace {

/// Candidates are not carried over to tasks that differ by more than this: a batch or a length that is some times as
/// large, not another layer.
constexpr double kFarthest = 4;

/// How unlike two tasks of a family are: the factors by which their extents differ, as powers of two, over all
/// parameters.
double distance(const measure::TaskKey& a, const measure::TaskKey& b) {
  if (a.shapes.size() != b.shapes.size()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < a.shapes.size(); ++i) {
    if (a.shapes[i].size() != b.shapes[i].size()) return std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < a.shapes[i].size(); ++j) {
      const auto size = [](std::int64_t extent) { return std::log2(1 + static_cast<double>(extent)); };
      sum += std::fabs(size(a.shapes[i][j]) - size(b.shapes[i][j]));
    }
  }
  return sum;
}

/// The candidate of a record in its space; as near as there is if the space has changed.
std::optional<Chosen> exact_choice(const measure::Record& record, const space::Task& task,
                                   const codegen::Target& target) {
  Result<std::unique_ptr<space::Space>> space = space::make_space(space::space_of(record.candidate), task, target);
  if (!space) return std::nullopt;
  std::optional<space::Candidate> candidate;
  if (const Result<space::Candidate> parsed = space::parse_candidate(**space, record.candidate))
    candidate = *parsed;
  else
    candidate = space::nearest_candidate(**space, record.candidate);
  if (!candidate) return std::nullopt;
  return Chosen{*std::move(space), *candidate, Origin::Exact, record};
}

/// What was found for other tasks of a family, the nearest first, fitted to this task, in the space of the nearest.
std::optional<Chosen> nearest_choice(const std::vector<const measure::Record*>& family, const space::Task& task,
                                     const codegen::Target& target) {
  if (family.empty()) return std::nullopt;
  const std::string name = space::space_of(family[0]->candidate);
  Result<std::unique_ptr<space::Space>> space = space::make_space(name, task, target);
  if (!space) return std::nullopt;
  std::vector<std::string> others;
  for (const measure::Record* record : family)
    if (space::space_of(record->candidate) == name) others.push_back(record->candidate);
  const std::optional<space::Candidate> candidate = (*space)->refit(others);
  // Tiles carry over, algorithms do not: which one is fastest changes with the sizes.
  const auto algorithm = [&](const space::Candidate& of) { return algorithm_of((*space)->sketches()[of.sketch]); };
  if (!candidate || algorithm(*candidate) != algorithm((*space)->first())) return std::nullopt;
  return Chosen{*std::move(space), *candidate, Origin::Nearest, *family[0]};
}

}  // namespace

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::Default:
      return "default";
    case Origin::Exact:
      return "tuned";
    case Origin::Nearest:
      return "nearest";
  }
  return "?";
}

Chosen default_choice(const space::Task& task, const codegen::Target& target) {
  std::unique_ptr<space::Space> space = space::make_mapping_space(task, target);
  const space::Candidate first = space->first();
  return {.space = std::move(space), .candidate = first};
}

std::optional<Chosen> Tuned::find(const space::Task& task, const codegen::Target& target) {
  if (!is_opened_) {
    is_opened_ = true;
    if (file_.empty()) return std::nullopt;
    Result<measure::Records> opened = measure::Records::open(file_, measure::Records::Mode::ReadOnly);
    if (opened)
      records_ = *std::move(opened);
    else if (opened.error().code != ErrorCode::NotFound)
      log::warning("records", "tuning is not used: {}", opened.error().message);
  }
  if (!records_) return std::nullopt;
  const measure::TaskKey key = measure::task_key(task.naive(), task.constants);
  const std::string text = codegen::to_string(target);
  if (const auto exact = records_->adopted(key.key, text); exact && *exact)
    if (std::optional<Chosen> chosen = exact_choice(**exact, task, target)) return chosen;
  const Result<std::vector<measure::Record>> family = records_->adopted_of_family(key, text);
  if (!family) return std::nullopt;
  std::vector<const measure::Record*> near;
  for (const measure::Record& record : *family)
    if (distance(record.task, key) <= kFarthest) near.push_back(&record);
  std::stable_sort(near.begin(), near.end(), [&](const measure::Record* a, const measure::Record* b) {
    return distance(a->task, key) < distance(b->task, key);
  });
  return nearest_choice(near, task, target);
}

Chosen Tuned::choose(const space::Task& task, const codegen::Target& target) {
  {
    const std::scoped_lock lock(mutex_);
    if (std::optional<Chosen> found = find(task, target)) return *std::move(found);
  }
  return default_choice(task, target);
}

}  // namespace hone
