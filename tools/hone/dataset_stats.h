/// What a data set holds, as tables for people.
#pragma once

#include "hone/cost/dataset.h"

namespace hone::command {

/// Prints counts, the split into training and test, and how labels are spread.
void show_stats(const cost::Dataset& data);

}  // namespace hone::command
