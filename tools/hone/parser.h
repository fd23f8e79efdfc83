/// The parser of the whole command line, from which help, manual page and completions are made as well.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "command.h"

namespace hone::command {

/// What the user asked for: an action, or a text to print (help, version).
struct Request {
  std::shared_ptr<CLI::App> parser;  ///< what the action reads from
  Action action;
  std::string text;
};

/// Reads the arguments. The error says in one sentence what is wrong with them.
Result<Request> parse_arguments(int count, const char* const* arguments);

/// "hone 0.1.0".
std::string version_text();

}  // namespace hone::command
