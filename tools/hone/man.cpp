// hone man: the manual page, made from the table of options.
#include <CLI/App.hpp>
#include <cctype>
#include <fmt/format.h>

#include "command.h"
#include "option_table.h"
#include "parser.h"

namespace hone::command {
namespace {

/// Plain text in roff: hyphens that can be copied, no backslashes or controls.
std::string escaped(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\')
      roff += "\\e";
    else if (c == '-')
      roff += "\\-";
    else
      roff += c;
  }
  return !roff.empty() && (roff[0] == '.' || roff[0] == '\'') ? "\\&" + roff : roff;
}

std::string option_head(const OptionRow& option) {
  std::string head;
  for (const std::string& name : option.names)
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", escaped(name));
  if (!option.value.empty()) head += fmt::format("{}\\fI{}\\fR", head.empty() ? "" : " ", escaped(option.value));
  return head;
}

std::string options_text(const std::vector<OptionRow>& options) {
  std::string text;
  for (const OptionRow& option : options)
    text += fmt::format(".TP\n{}\n{}\n", option_head(option), escaped(option.help));
  return text;
}

/// A variable of the environment, and what it is for.
struct Variable {
  const char *name, *help;
};

constexpr Variable kVariables[] = {
    {"HONE_RECORDS",
     "the file of records of every command without --records (hone/records.db in XDG_DATA_HOME or ~/.local/share)"},
    {"HONE_COST_MODEL",
     "the network of the cost models auto, tlp and mtl and of --first-choice network (the one that comes with hone)"},
    {"HONE_WORKER",
     "the program in which candidates are compiled and timed (hone_worker, installed with this command)"},
    {"HONE_TRAINER",
     "the program that `hone cost-model train` runs (hone_trainer beside this command, or a folder up)"},
    {"HONE_LOG", "what to log to the standard error, by topic: debug, or lower=debug,codegen=info"},
};

std::string page(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH HONE 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\nhone \\- compiles and runs ONNX models\n"
      ".SH SYNOPSIS\n.B hone\n.I COMMAND\n[\\fIargument\\fR ...]\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n",
      escaped(version_text()), escaped(root.get_description()), options_text(rows_of(root)));
  for (const CommandRow& command : commands_of(root)) {
    std::string usage = fmt::format("\\fBhone {}\\fR", escaped(command.name));
    for (const OptionRow& option : command.options)
      if (option.is_positional()) usage += " \\fI" + escaped(option.value) + "\\fR";
    std::string summary = command.summary;
    summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
    text += fmt::format(".SS {} [\\fIoption\\fR ...]\n{}.\n{}", usage, escaped(summary), options_text(command.options));
  }
  text +=
      ".SH EXIT STATUS\n.TP\n0\nall went well\n.TP\n2\nwrong arguments, or a file or model that cannot be used; one "
      "sentence "
      "on the standard error says why\n.TP\n1\na mistake of hone itself, or output that cannot be written\n"
      ".SH ENVIRONMENT\n";
  for (const Variable& variable : kVariables)
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", variable.name, escaped(variable.help));
  return text;
}

}  // namespace

Action add_man(CLI::App& parser) {
  return [&parser]() -> Result<void> {
    fmt::print("{}", page(*parser.get_parent()));
    return {};
  };
}

}  // namespace hone::command
