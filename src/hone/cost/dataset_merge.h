/// Merging data sets that several machines collected.
#pragma once

#include "hone/cost/dataset.h"

namespace hone::cost {

struct MergeCounts {
  std::size_t targets = 0, tasks = 0, programs = 0, labels = 0;  ///< new
  std::size_t left_out = 0;                                      ///< programs whose task has no such algorithm here
};

/// Adds to a data set what another one holds. Targets are known by their text, tasks by their key, programs by their
/// task and hash; what was measured already stays.
Result<MergeCounts> merge_dataset(const Dataset& from, DatasetFile& into);

}  // namespace hone::cost
