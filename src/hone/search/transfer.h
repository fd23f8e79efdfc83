/// Transfer: what records of other tasks teach a cost model before a task has any of its own (AutoTVM, arXiv
/// 1805.08166, section 4).
#pragma once

#include <span>

#include "hone/cost/cost_model.h"
#include "hone/measure/records/records.h"

namespace hone::search {

struct TransferOptions {
  /// Trials shown to a model at most: of each family to one that transfers within families, of all tasks to one that
  /// transfers between all, which fits them anew again and again.
  std::size_t most_of_family = 2000, most_of_all = 512;
};

/// Shows the model trials on the target of tasks that are not among these, as far as it transfers from them: equally
/// many of each, spread from the fastest to the slowest, failures last. Their programs are made anew from their traces;
/// what cannot be made is left out. Gives the number of trials shown. An error if records cannot be read.
Result<std::size_t> learn_from_records(cost::CostModel& model, const measure::Records& records,
                                       const std::string& target, std::span<const measure::TaskKey> tasks,
                                       const TransferOptions& options = {});

}  // namespace hone::search
