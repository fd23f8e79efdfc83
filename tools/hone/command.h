/// The sub-commands of `hone`. One more is one more file, and its line in commands.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "hone/support/result.h"

namespace CLI {
class App;
}

namespace hone::command {

/// What a sub-command does once its options are parsed. An error becomes one sentence and exit code 2.
using Action = std::function<Result<void>()>;

/// A sub-command.
struct Command {
  const char* name;
  const char* summary;              ///< what it does: lower case, no full stop
  Action (*add)(CLI::App& parser);  ///< declares its options, and gives what fills and uses them
};

/// All of them, in the order in which they are shown.
std::span<const Command> commands();

}  // namespace hone::command
