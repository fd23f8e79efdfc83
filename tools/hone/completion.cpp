// hone completion: scripts for shells, made from the table of options.
#include <CLI/Option.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.h"
#include "option_table.h"
#include "options.h"

namespace hone::command {
namespace {

/// The text with a backslash before each of the characters.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// In single quotes, as bash and zsh read them.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The words that bash's compgen takes to complete a value.
std::string bash_values(const OptionRow& option) {
  if (option.is_folder()) return "-d";
  if (option.is_file()) return "-f";
  return fmt::format("-W {}", in_quotes(fmt::format("{}", fmt::join(option.choices, " "))));
}

std::string bash_script(const CLI::App& root) {
  const std::vector<CommandRow> commands = commands_of(root);
  std::string cases, values;
  for (const CommandRow& command : commands) {
    std::string positional = "-W ''";
    for (const OptionRow& option : command.options) {
      if (option.is_positional()) positional = bash_values(option);
      if (option.is_positional() || option.value.empty()) continue;
      for (const std::string& name : option.names)
        values += fmt::format("    {}:{}) how=({}) ;;\n", command.name, name, bash_values(option));
    }
    cases += fmt::format("    {}) options={} how=({}) ;;\n", command.name, in_quotes(joined_names(command.options)),
                         positional);
  }
  return fmt::format(
      R"(# bash completion for hone, made by `hone completion bash`: source it, or put it into
# ~/.local/share/bash-completion/completions/hone
_hone() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options= how=()
  case ${{COMP_WORDS[1]}} in
{}  esac
  if ((COMP_CWORD == 1)); then
    options={}
    how=(-W {})
  fi
  case ${{COMP_WORDS[1]}}:$before in
{}  esac
  if [[ $word == = ]]; then word=; fi
  if [[ $before == = || ${{COMP_WORDS[COMP_CWORD]}} == = ]]; then how=(-f); fi
  if [[ $word == -* ]]; then how=(-W "$options"); fi
  if [[ ${{how[0]}} != -W ]]; then compopt -o filenames 2>/dev/null; fi
  mapfile -t COMPREPLY < <(compgen "${{how[@]}}" -- "$word")
}}
complete -F _hone hone
)",
      cases, in_quotes(joined_names(rows_of(root))), in_quotes(joined_names(commands)), values);
}

/// What zsh's _arguments takes for a value: a message, and what completes it.
std::string zsh_value(const OptionRow& option) {
  if (option.value.empty()) return "";
  std::string how = " ";
  if (option.is_file()) how = "_files";
  if (option.is_folder()) how = "_files -/";
  if (!option.choices.empty()) how = fmt::format("({})", fmt::join(option.choices, " "));
  return fmt::format(":{}:{}", escaped(option.value, ":"), how);
}

std::string zsh_options(const std::vector<OptionRow>& options) {
  std::string text;
  for (const OptionRow& option : options) {
    if (option.is_positional()) text += " \\\n        " + in_quotes("1" + zsh_value(option));
    for (const std::string& name : option.names)
      text += " \\\n        " +
              in_quotes(fmt::format("{}{}{}[{}]{}", option.is_repeated ? "*" : "", name,
                                    option.value.empty() ? "" : "=", escaped(option.help, "[]:"), zsh_value(option)));
  }
  return text;
}

std::string zsh_script(const CLI::App& root) {
  std::string described, cases;
  for (const CommandRow& command : commands_of(root)) {
    described += "    " + in_quotes(command.name + ":" + escaped(command.summary, ":")) + "\n";
    cases += fmt::format("    {})\n      _arguments{} ;;\n", command.name, zsh_options(command.options));
  }
  return fmt::format(
      R"(#compdef hone
# zsh completion for hone, made by `hone completion zsh`: put it into a folder of $fpath as _hone
_hone() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    _arguments{}
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
{}  esac
}}
if [[ $funcstack[1] == _hone ]]; then _hone "$@"; else compdef _hone hone; fi
)",
      described, zsh_options(rows_of(root)), cases);
}

std::string fish_options(const std::string& condition, const std::vector<OptionRow>& options) {
  std::string text;
  for (const OptionRow& option : options) {
    text += fmt::format("complete -c hone -n '{}'", condition);
    for (const std::string& name : option.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (option.is_file() || option.is_folder())
      text += option.is_positional() ? " -F" : " -r -F";
    else if (!option.value.empty() && !option.is_positional())
      text += " -x";
    if (!option.choices.empty()) text += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
    text += fmt::format(" -d '{}'\n", escaped(option.help, "'\\"));
  }
  return text;
}

std::string fish_script(const CLI::App& root) {
  std::string text =
      "# fish completion for hone, made by `hone completion fish`: put it into ~/.config/fish/completions/hone.fish\n"
      "complete -c hone -f\n";
  text += fish_options("__fish_use_subcommand", rows_of(root));
  for (const CommandRow& command : commands_of(root)) {
    text += fmt::format("complete -c hone -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        escaped(command.summary, "'\\"));
    text += fish_options("__fish_seen_subcommand_from " + command.name, command.options);
  }
  return text;
}

}  // namespace

Action add_completion(CLI::App& parser) {
  const auto shell = std::make_shared<std::string>();
  add_text(parser, "shell", *shell, "bash|zsh|fish", "the shell to write for")->required();
  return [shell, &parser]() -> Result<void> {
    const CLI::App& root = *parser.get_parent();
    fmt::print("{}", *shell == "bash" ? bash_script(root) : *shell == "zsh" ? zsh_script(root) : fish_script(root));
    return {};
  };
}

}  // namespace hone::command
