/// The options of a parser as a plain table, for whatever shows them: manual page, completions, messages.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hone::command {

/// An option, a flag or an argument without a name.
struct OptionRow {
  std::vector<std::string> names;    ///< "-h", "--help"; none: it is told by its place
  std::string value;                 ///< "FILE", "NAME=FILE", "N", "bash|zsh|fish"; empty: a flag
  std::vector<std::string> choices;  ///< the values allowed, if they are a few words
  std::string help;
  bool is_repeated = false;

  bool is_positional() const { return names.empty(); }
  /// Whether a shell completes the value to a file; is_folder: to a folder.
  bool is_file() const { return value == "FILE" || value.ends_with("=FILE"); }
  bool is_folder() const { return value == "DIR"; }
};

/// The rows of a parser, in the order in which they were declared.
std::vector<OptionRow> rows_of(const CLI::App& parser);

/// A sub-command with its rows.
struct CommandRow {
  std::string name, summary;
  std::vector<OptionRow> options;
};

/// The sub-commands of a parser, in the order in which they were declared.
std::vector<CommandRow> commands_of(const CLI::App& parser);

/// The first words of all commands or options: their names, separated by spaces.
std::string joined_names(const std::vector<CommandRow>& commands);
std::string joined_names(const std::vector<OptionRow>& options);

}  // namespace hone::command
