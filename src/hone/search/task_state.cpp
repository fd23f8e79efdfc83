#include "hone/search/task_state.h"

#include <algorithm>

#include "hone/measure/statistics.h"
#include "hone/space/candidate.h"

namespace hone::search {

Contender TaskState::contender(const Candidate& candidate) const {
  return {.json = space::to_json(*space, candidate), .here = candidate};
}

std::shared_ptr<const Built> TaskState::build(const Contender& contender) const {
  return contender.here ? builder->build(*contender.here) : contender.elsewhere;
}

double TaskState::fastest() const {
  double seconds = std::numeric_limits<double>::infinity();
  for (const Trial& trial : ok) seconds = std::min(seconds, trial.outcome.seconds);
  return seconds;
}

void TaskState::count(const Trial& trial) {
  ++progress->trials;
  untold.push_back(trial);
  if (!trial.outcome.is_ok()) {
    ++progress->failures;
    return;
  }
  ok.push_back(trial);
  if (const double ns = trial.outcome.seconds * 1e9; ns < progress->tried_ns) {
    progress->tried_ns = ns;
    progress->tried = space::to_json(*space, trial.candidate);
  }
  if (trial.candidate == standard.here) progress->first_ns = std::min(progress->first_ns, trial.outcome.seconds * 1e9);
}

void TaskState::lead(const Contender& contender, double ns) {
  leader = contender;
  is_leader_recorded = true;
  leader_seconds = ns * 1e-9;
  progress->best_ns = ns;
  progress->best = contender.json;
}

Outcome outcome_of(const std::vector<double>& samples_ns) {
  Outcome outcome{measure::minimum(samples_ns) * 1e-9, {}};
  for (const double sample : samples_ns) outcome.samples.push_back(sample * 1e-9);
  return outcome;
}

}  // namespace hone::search
