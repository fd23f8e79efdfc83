#include "hone/search/earlier_runs.h"

#include <algorithm>
#include <cmath>

#include "hone/search/reuse.h"
#include "hone/space/candidate.h"

namespace hone::search {
namespace {

/// What was decided in a model is faster there; alone, it is only as fast as its own trials say.
void keep_if_decided_in_model(TaskState& state, const Reused& found) {
  const std::optional<measure::Adoption> adoption = measure::find_adoption(found.record);
  if (!adoption || !adoption->in_model) return;
  state.is_decided_in_model = true;
  for (const Trial& trial : state.ok)
    if (trial.candidate == state.leader.here)
      state.leader_seconds = std::min(state.leader_seconds, trial.outcome.seconds);
}

/// Lets a candidate of another space lead: what is found here has to be faster.
void lead_from_elsewhere(TaskState& state, const Reused& found) {
  const Result<schedule::Schedule> made = found.space->build(found.candidate);
  if (!made) return;
  state.lead({.json = found.record.candidate,
              .elsewhere = std::make_shared<const Built>(Built{made->program(), made->trace()})},
             found.record.min_ns());
}

}  // namespace

Result<std::vector<Trial>> take_known_trials(TaskState& state, const measure::Records& records,
                                             const codegen::Target& target) {
  HONE_TRY(const auto found, records.find({.task = state.key.key, .target = codegen::to_string(target)}));
  std::vector<Trial> known;
  for (const measure::Record& record : found) {
    const Result<Candidate> candidate = space::parse_candidate(*state.space, record.candidate);
    if (!candidate || measure::find_adoption(record)) continue;  // an adopted one was a trial before
    const bool is_ok = record.status == measure::TrialStatus::Ok;
    known.push_back({*candidate, is_ok ? outcome_of(record.samples_ns) : Outcome{}});
    state.count(known.back());
  }
  return known;
}

Result<std::optional<Candidate>> take_adopted(TaskState& state, const measure::Records& records,
                                              const space::Task& task, const codegen::Target& target) {
  HONE_TRY(const std::optional<Reused> found, find_reusable(records, task, target));
  if (!found) return std::optional<Candidate>();
  state.progress->reused = to_string(found->origin);
  const Result<Candidate> as_recorded = space::parse_candidate(*state.space, found->record.candidate);
  if (found->origin == Origin::Exact && as_recorded) {
    state.lead(state.contender(*as_recorded), found->record.min_ns());
    if (const std::optional<measure::Adoption> adoption = measure::find_adoption(found->record))
      if (std::isfinite(adoption->first_ns)) state.progress->first_ns = adoption->first_ns;
    keep_if_decided_in_model(state, *found);
    return std::optional<Candidate>();
  }
  if (found->origin == Origin::Exact) {
    lead_from_elsewhere(state, *found);
    keep_if_decided_in_model(state, *found);
    return std::optional<Candidate>();
  }
  const auto fitted = space::parse_candidate(*state.space, space::to_json(*found->space, found->candidate));
  return fitted ? std::optional(*fitted) : std::nullopt;
}

}  // namespace hone::search
