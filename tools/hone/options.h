/// Declares options: what they allow is said in one way, and checked before anything runs.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "hone/support/result.h"

namespace hone::command {

/// A whole number within [low, high].
CLI::Option* add_number(CLI::App& parser, const char* name, std::int64_t& number, std::int64_t low, std::int64_t high,
                        const char* help);
/// A number of seconds: more than 0, up to a day.
CLI::Option* add_seconds(CLI::App& parser, const char* name, double& seconds, const char* help);
/// A text, shown as `value` in the help: FILE and DIR are completed as such, words with | between them are a choice.
CLI::Option* add_text(CLI::App& parser, const char* name, std::string& text, const char* value, const char* help);
/// An option that may be given several times, with one text each time.
CLI::Option* add_texts(CLI::App& parser, const char* name, std::vector<std::string>& texts, const char* value,
                       const char* help);

/// "90", "90s", "5m" or "1h" in seconds; the error names the option.
Result<double> parse_time(const char* option, const std::string& text);

/// The words of a choice; none if the value is not one.
std::vector<std::string> choices_of(const std::string& value);

}  // namespace hone::command
