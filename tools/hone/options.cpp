#include "options.h"

#include <CLI/Option.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::command {
namespace {

constexpr double kDay = 86400;

template <typename T>
bool parses(const std::string& text, T& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size();
}

}  // namespace

CLI::Option* add_number(CLI::App& parser, const char* name, std::int64_t& number, std::int64_t low, std::int64_t high,
                        const char* help) {
  const auto check = [low, high](const std::string& text) {
    std::int64_t found = 0;
    if (parses(text, found) && found >= low && found <= high) return std::string();
    return fmt::format("'{}' given, allowed are whole numbers in {}..{}", text, low, high);
  };
  return parser.add_option(name, number, help)->type_name("N")->check(check);
}

CLI::Option* add_seconds(CLI::App& parser, const char* name, double& seconds, const char* help) {
  const auto check = [](const std::string& text) {
    double found = 0;
    if (parses(text, found) && found > 0 && found <= kDay) return std::string();
    return fmt::format("'{}' given, allowed are numbers above 0, up to {}", text, kDay);
  };
  return parser.add_option(name, seconds, help)->type_name("S")->check(check);
}

CLI::Option* add_text(CLI::App& parser, const char* name, std::string& text, const char* value, const char* help) {
  CLI::Option* option = parser.add_option(name, text, help)->type_name(value);
  const std::vector<std::string> choices = choices_of(value);
  if (choices.empty()) return option;
  return option->check([choices](const std::string& given) {
    if (std::find(choices.begin(), choices.end(), given) != choices.end()) return std::string();
    return fmt::format("'{}' given, allowed are {}", given, fmt::join(choices, ", "));
  });
}

CLI::Option* add_texts(CLI::App& parser, const char* name, std::vector<std::string>& texts, const char* value,
                       const char* help) {
  return parser.add_option(name, texts, help)->type_name(value)->allow_extra_args(false);
}

Result<double> parse_time(const char* option, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (end == text.c_str() || factor == 0 || !(number > 0) || !std::isfinite(number))
    return error(ErrorCode::InvalidArgument, "{} is '{}', expected a number above 0 with s, m or h: 90s, 5m, 1h",
                 option, text);
  return number * factor;
}

std::vector<std::string> choices_of(const std::string& value) {
  std::vector<std::string> choices;
  for (std::size_t begin = 0; value.find('|') != std::string::npos && begin <= value.size();) {
    const std::size_t end = std::min(value.find('|', begin), value.size());
    choices.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

}  // namespace hone::command
