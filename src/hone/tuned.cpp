#include "hone/tuned.h"

#include <utility>

#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/support/log.h"

namespace hone {

Chosen default_choice(const space::Task& task, const codegen::Target& target, const FirstChoice& first) {
  FirstCandidate choice = first.choose(task, target);
  return {.space = std::move(choice.space),
          .candidate = std::move(choice.candidate),
          .origin = choice.is_predicted ? Origin::Predicted : Origin::Default};
}

Result<Chosen> parse_choice(const std::string& candidate, const space::Task& task, const codegen::Target& target) {
  HONE_TRY(std::unique_ptr<space::Space> space, space::make_space(space::space_of(candidate), task, target));
  HONE_TRY(space::Candidate parsed, space::parse_candidate(*space, candidate));
  return Chosen{.space = std::move(space), .candidate = std::move(parsed), .origin = Origin::Exact};
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
  Result<std::optional<search::Reused>> found = search::find_reusable(*records_, task, target);
  if (!found && !std::exchange(has_warned_, true))
    log::warning("records", "tuning is not used where it cannot be read: {}", found.error().message);
  if (!found || !*found) return std::nullopt;
  search::Reused& reused = **found;
  return Chosen{std::move(reused.space), reused.candidate, reused.origin, std::move(reused.record)};
}

Chosen Tuned::choose(const space::Task& task, const codegen::Target& target) {
  {
    const std::scoped_lock lock(mutex_);
    if (std::optional<Chosen> found = find(task, target)) return *std::move(found);
  }
  return default_choice(task, target, first_);
}

}  // namespace hone
