#include "option_table.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include "options.h"

namespace hone::command {

std::vector<OptionRow> rows_of(const CLI::App& parser) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : parser.get_options()) {
    OptionRow row;
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) row.value = option->get_type_name();
    row.choices = choices_of(row.value);
    row.help = option->get_description();
    row.is_repeated = option->get_items_expected_max() > 1;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<CommandRow> commands_of(const CLI::App& parser) {
  std::vector<CommandRow> rows;
  for (const CLI::App* command : parser.get_subcommands([](const CLI::App*) { return true; }))
    rows.push_back({command->get_name(), command->get_description(), rows_of(*command)});
  return rows;
}

std::string joined_names(const std::vector<CommandRow>& commands) {
  std::string text;
  for (const CommandRow& command : commands) text += (text.empty() ? "" : " ") + command.name;
  return text;
}

std::string joined_names(const std::vector<OptionRow>& options) {
  std::string text;
  for (const OptionRow& option : options)
    for (const std::string& name : option.names) text += (text.empty() ? "" : " ") + name;
  return text;
}

}  // namespace hone::command
