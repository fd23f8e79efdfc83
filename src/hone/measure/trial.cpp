#include "hone/measure/trial.h"

#include <array>
#include <utility>

#include "hone/measure/statistics.h"

namespace hone::measure {
namespace {

template <typename Enum, std::size_t kCount>
using Names = std::array<std::pair<Enum, std::string_view>, kCount>;

constexpr Names<TrialStatus, 9> kStatusNames = {{{TrialStatus::Ok, "ok"},
                                                 {TrialStatus::CompileError, "compile error"},
                                                 {TrialStatus::RunError, "run error"},
                                                 {TrialStatus::Timeout, "timeout"},
                                                 {TrialStatus::Crash, "crash"},
                                                 {TrialStatus::OutOfMemory, "out of memory"},
                                                 {TrialStatus::WrongAnswer, "wrong answer"},
                                                 {TrialStatus::NotANumber, "nan"},
                                                 {TrialStatus::NotRun, "not run"}}};
constexpr Names<CacheState, 3> kCacheNames = {
    {{CacheState::Warm, "warm"}, {CacheState::Flushed, "flushed"}, {CacheState::Model, "model"}}};

template <typename Enum, std::size_t kCount>
std::string_view name_of(const Names<Enum, kCount>& names, Enum value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  return "unknown";
}

template <typename Enum, std::size_t kCount>
std::optional<Enum> find_name(const Names<Enum, kCount>& names, std::string_view wanted) {
  for (const auto& [value, name] : names)
    if (name == wanted) return value;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(TrialStatus status) { return name_of(kStatusNames, status); }
std::optional<TrialStatus> find_trial_status(std::string_view name) { return find_name(kStatusNames, name); }
std::string_view to_string(CacheState state) { return name_of(kCacheNames, state); }
std::optional<CacheState> find_cache_state(std::string_view name) { return find_name(kCacheNames, name); }

double MeasureResult::min_ns() const { return minimum(samples_ns); }

}  // namespace hone::measure
