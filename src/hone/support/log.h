/// Logging by topic: silent until a program installs a sink.
#pragma once

#include <fmt/core.h>
#include <functional>
#include <string_view>
#include <utility>

namespace hone::log {

/// How much a message matters, from least to most.
enum class Level { Debug, Info, Warning, Error };

/// Receives every message that passes the filter; called from any thread, one call at a time.
using Sink = std::function<void(Level, std::string_view topic, std::string_view message)>;

/// Installs the sink (an empty one silences the library again).
void set_sink(Sink sink);

/// Chooses what passes, in the form of the variable HONE_LOG: "search=debug,codegen=info" or "debug" for all topics.
/// Topics that are not named pass from Warning on. Words that are neither are ignored.
void set_filter(std::string_view filter);

/// Whether a message of this level and topic would reach a sink.
bool is_enabled(Level level, std::string_view topic);

/// Hands a finished message to the sink.
void write(Level level, std::string_view topic, std::string_view message);

template <typename... Args>
void debug(std::string_view topic, fmt::format_string<Args...> format, Args&&... args) {
  if (is_enabled(Level::Debug, topic)) write(Level::Debug, topic, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void info(std::string_view topic, fmt::format_string<Args...> format, Args&&... args) {
  if (is_enabled(Level::Info, topic)) write(Level::Info, topic, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void warning(std::string_view topic, fmt::format_string<Args...> format, Args&&... args) {
  if (is_enabled(Level::Warning, topic)) write(Level::Warning, topic, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace hone::log
