/// Who leads a task: the fastest candidates are timed in turns with the leader, and the winner is adopted.
#pragma once

#include "hone/measure/measurer.h"
#include "hone/search/task_state.h"

namespace hone::search {

/// A comparison to be made: the leader comes first.
struct Contest {
  std::vector<Contender> rivals;
  measure::MeasureJob job;
};

/// Whether something seems faster than the leader by more than noise.
bool has_challenger(const TaskState& state);

/// The leader, the default and the fastest of the others; nothing if one of them cannot be built.
std::optional<Contest> make_contest(TaskState& state, measure::Timing timing);

/// What a contest says.
struct Verdict {
  std::size_t best = 0;     ///< among the rivals
  bool is_adopted = false;  ///< whether it is to be recorded as adopted
  double first_ns = 0;      ///< of the default; infinity if it did not run
};

/// Lets the winner lead. Nothing if the leader did not run, and nobody else gave a right answer.
std::optional<Verdict> settle(TaskState& state, const Contest& contest,
                              const std::vector<measure::MeasureResult>& results);

}  // namespace hone::search
