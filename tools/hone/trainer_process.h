/// Runs hone_trainer, the program that has libtorch.
#pragma once

#include <string>
#include <vector>

#include "hone/support/result.h"

namespace hone::command {

/// The file: what HONE_TRAINER names, or else beside this program, one folder up, or where `cmake --install` puts it.
Result<std::string> find_trainer();

/// Runs it with these arguments; what it prints goes where ours goes. An error if it fails.
Result<void> run_trainer(std::string program, const std::vector<std::string>& arguments);

}  // namespace hone::command
