#include "hone/search/crown.h"

#include <algorithm>
#include <cmath>

#include "hone/measure/statistics.h"
#include "hone/schedule/prepack.h"

namespace hone::search {
namespace {

/// Candidates that are timed in turns with the leader.
constexpr std::size_t kChallengers = 3;
/// A challenger must gain this much: less is noise, or not worth another kernel.
constexpr double kSmallestGain = 0.01;
constexpr double kSignificance = 0.05;
constexpr int kRepeats = 15;

/// Whether two programs differ, by the faster half of the samples of each: the others were disturbed.
bool is_surely_other(std::vector<double> a, std::vector<double> b) {
  for (std::vector<double>* samples : {&a, &b}) {
    std::sort(samples->begin(), samples->end());
    samples->resize((samples->size() + 1) / 2);
  }
  return measure::welch_p_value(a, b) < kSignificance;
}

}  // namespace

bool has_challenger(const TaskState& state) { return state.fastest() < state.leader_seconds * (1 - kSmallestGain); }

std::optional<Contest> make_contest(TaskState& state, measure::Timing timing) {
  Contest contest;
  std::vector<Contender>& rivals = contest.rivals;
  rivals.push_back(state.leader);
  if (state.leader != state.standard) rivals.push_back(state.standard);
  const std::size_t known = rivals.size();
  std::stable_sort(state.ok.begin(), state.ok.end(),
                   [](const Trial& a, const Trial& b) { return a.outcome.seconds < b.outcome.seconds; });
  for (const Trial& trial : state.ok) {
    if (rivals.size() == known + kChallengers) break;
    Contender challenger = state.contender(trial.candidate);
    if (std::find(rivals.begin(), rivals.end(), challenger) == rivals.end()) rivals.push_back(std::move(challenger));
  }
  for (const Contender& rival : rivals) {
    const std::shared_ptr<const Built> built = state.build(rival);
    if (!built) return std::nullopt;
    contest.job.inputs.push_back({schedule::split_packing(built->program), state.data});
  }
  timing.repeats = std::max(timing.repeats, kRepeats);
  timing.enough_ms *= 4;
  contest.job.timing = timing;
  return contest;
}

std::optional<Verdict> settle(TaskState& state, const Contest& contest,
                              const std::vector<measure::MeasureResult>& results) {
  const std::vector<Contender>& rivals = contest.rivals;
  Verdict verdict{.first_ns = std::numeric_limits<double>::infinity()};
  std::size_t& best = verdict.best;
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (!results[i].is_ok() || !results[i].is_checked) continue;
    const bool is_faster = results[i].min_ns() < results[best].min_ns() * (best == 0 ? 1 - kSmallestGain : 1);
    const bool is_sure = !results[0].is_ok() || is_surely_other(results[i].samples_ns, results[0].samples_ns);
    if (is_faster && is_sure) best = i;
  }
  if (!results[best].is_ok() || !results[best].is_checked) return std::nullopt;
  for (std::size_t i = 0; i < rivals.size(); ++i)
    if (rivals[i] == state.standard && results[i].is_ok()) verdict.first_ns = results[i].min_ns();
  if (std::isfinite(verdict.first_ns)) state.progress->first_ns = verdict.first_ns;
  verdict.is_adopted = !state.is_decided_in_model && (best != 0 || !state.is_leader_recorded);
  state.lead(rivals[best], results[best].min_ns());
  // What was beaten in turns is as slow as that says: it does not challenge again.
  for (Trial& trial : state.ok)
    for (std::size_t i = 0; i < rivals.size(); ++i)
      if (trial.candidate == rivals[i].here && results[i].is_ok()) trial.outcome = outcome_of(results[i].samples_ns);
  return verdict;
}

}  // namespace hone::search
