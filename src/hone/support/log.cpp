#include "hone/support/log.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace hone::log {

namespace {

struct State {
  std::mutex mutex;
  Sink sink;
  Level default_level = Level::Warning;
  std::map<std::string, Level, std::less<>> levels;
};

State& state() {
  static State instance;
  return instance;
}

std::atomic<bool> has_sink = false;

bool parse_level(std::string_view word, Level& level) {
  if (word == "debug") return level = Level::Debug, true;
  if (word == "info") return level = Level::Info, true;
  if (word == "warning") return level = Level::Warning, true;
  if (word == "error") return level = Level::Error, true;
  return false;
}

void apply_filter(State& s, std::string_view filter) {
  while (!filter.empty()) {
    const std::string_view item = filter.substr(0, filter.find(','));
    filter.remove_prefix(item.size() == filter.size() ? item.size() : item.size() + 1);
    const std::size_t equals = item.find('=');
    Level level;
    if (equals == std::string_view::npos) {
      if (parse_level(item, level)) s.default_level = level;
    } else if (parse_level(item.substr(equals + 1), level)) {
      s.levels[std::string(item.substr(0, equals))] = level;
    }
  }
}

}  // namespace

void set_sink(Sink sink) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.sink = std::move(sink);
  if (const char* filter = std::getenv("HONE_LOG"); filter && s.levels.empty()) apply_filter(s, filter);
  has_sink = static_cast<bool>(s.sink);
}

void set_filter(std::string_view filter) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.levels.clear();
  s.default_level = Level::Warning;
  apply_filter(s, filter);
}

bool is_enabled(Level level, std::string_view topic) {
  if (!has_sink.load(std::memory_order_relaxed)) return false;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = s.levels.find(topic);
  return level >= (found == s.levels.end() ? s.default_level : found->second);
}

void write(Level level, std::string_view topic, std::string_view message) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.sink) s.sink(level, topic, message);
}

}  // namespace hone::log
