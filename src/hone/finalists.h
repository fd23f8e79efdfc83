/// Who takes part in the finals of tuning, and what becomes of the winners: both are records.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/finals.h"
#include "hone/first_choice.h"
#include "hone/measure/records/records.h"

namespace hone {

/// A task that was tuned, and the candidate that leads it when timed alone, as JSON; empty if there is none.
struct TunedUse {
  TaskUse use;
  std::string leader;
};

/// The candidates of each task that take part: the default, which is the session's first choice, the leader, what is
/// adopted, what rules say, and those that records say are next; no program twice. Tasks with a single one are left
/// out.
Result<std::vector<FinalsTask>> find_finalists(std::span<const TunedUse> tasks, const measure::Records& records,
                                               const codegen::Target& target, const FirstChoice& first,
                                               std::size_t most = 4);

/// The records of what the finals decided, as adopted; they are stored together or not at all.
std::vector<measure::Record> finals_records(const FinalsReport& report, std::span<const FinalsTask> tasks,
                                            const codegen::Target& target);

}  // namespace hone
