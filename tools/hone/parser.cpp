#include "parser.h"

#include <CLI/Config.hpp>
#include <CLI/Error.hpp>
#include <CLI/Formatter.hpp>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "option_table.h"

namespace hone::command {
namespace {

/// "hone run": what the user typed to get to this parser.
std::string path_of(const CLI::App& parser) {
  return parser.get_parent() ? path_of(*parser.get_parent()) + " " + parser.get_name() : parser.get_name();
}

std::vector<std::string> names_of_commands() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

/// An argument that nothing takes.
Error unexpected(const CLI::App& parser, const std::string& argument) {
  const bool is_option = argument.starts_with("-");
  if (!is_option && !parser.get_parent())
    return error(ErrorCode::InvalidArgument, "there is no command '{}', allowed are {}", argument,
                 fmt::join(names_of_commands(), ", "));
  std::vector<std::string> allowed;
  for (const OptionRow& option : rows_of(parser)) {
    if (is_option && !option.is_positional()) allowed.push_back(option.names.back());
    if (!is_option && option.is_positional()) allowed.push_back(option.value);
  }
  return error(ErrorCode::InvalidArgument, "{} '{}' given to {}, allowed {} {}",
               is_option ? "unknown option" : "argument", argument, path_of(parser), allowed.size() == 1 ? "is" : "are",
               allowed.empty() ? "none" : fmt::format("{}", fmt::join(allowed, ", ")));
}

/// What CLI11 says, in our words where it leaves out what is allowed.
Error explain(const CLI::App& root, const CLI::ParseError& failure) {
  const CLI::App* parser = &root;
  while (!parser->get_subcommands().empty()) parser = parser->get_subcommands().back();
  if (dynamic_cast<const CLI::ExtrasError*>(&failure)) {
    const std::vector<std::string> extra = root.remaining(/*recurse=*/true);
    return unexpected(*parser, extra.empty() ? "" : extra.front());
  }
  std::string message = failure.what();
  if (!message.empty() && !message.starts_with("-"))
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  return error(ErrorCode::InvalidArgument, "{} (see {} --help)", message, path_of(*parser));
}

}  // namespace

std::string version_text() { return "hone " HONE_VERSION; }

Result<Request> parse_arguments(int count, const char* const* arguments) {
  const auto owner = std::make_shared<CLI::App>("Compiles and runs ONNX models on the machine at hand.", "hone");
  CLI::App& root = *owner;
  root.set_help_flag("-h,--help", "print this and exit");
  root.set_version_flag("--version", version_text(), "print the version and exit");
  root.get_formatter()->column_width(34);
  root.get_formatter()->label("SUBCOMMAND", "COMMAND");
  std::map<const CLI::App*, Action> actions;
  for (const Command& command : commands()) {
    CLI::App* parser = root.add_subcommand(command.name, command.summary)->group("Commands");
    actions[parser] = command.add(*parser);
  }
  root.require_subcommand(0, 1);
  try {
    root.parse(count, arguments);
  } catch (const CLI::CallForHelp&) { return Request{owner, {}, root.help()}; } catch (const CLI::CallForVersion&) {
    return Request{owner, {}, version_text() + "\n"};
  } catch (const CLI::ParseError& failure) { return explain(root, failure); }
  if (root.get_subcommands().empty())
    return error(ErrorCode::InvalidArgument, "no command given, allowed are {} (see hone --help)",
                 fmt::join(names_of_commands(), ", "));
  return Request{owner, actions.at(root.get_subcommands().front()), {}};
}

}  // namespace hone::command
