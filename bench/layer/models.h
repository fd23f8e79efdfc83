/// The layers of model files.
#pragma once

#include <string>
#include <vector>

namespace hone::bench {

/// Prints a table of every distinct task of a model that is of some size: what its default program reaches of the
/// multiply-add peak and of the memory's speed, on each number of threads.
void time_model(const std::string& file, const std::vector<int>& threads, int rounds);

}  // namespace hone::bench
