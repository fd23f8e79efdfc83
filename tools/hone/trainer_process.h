/// Runs hone_trainer, the program that has libtorch.
#pragma once

#include <string>
#include <vector>

#include "hone/support/result.h"

namespace hone::command {

/// Runs it with these arguments; what it prints goes where ours goes. An error if it is not there, or fails.
Result<void> run_trainer(const std::vector<std::string>& arguments);

}  // namespace hone::command
