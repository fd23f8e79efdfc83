/// Searches of all tasks of a model at once, and when one of them was as far as another.
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runs.h"

#include "hone/search/tuner.h"

namespace hone::bench {

/// A search goes on until its trials say that it is so far below what it is to reach: they may have been lucky.
inline constexpr double kSurely = 0.97;

/// The course of a search: which candidates led their tasks, and from when on.
struct ModelSearch {
  struct Lead {
    std::size_t task;
    std::string candidate;
    double at_s;
    std::int64_t trials;
    double ns = 0;  ///< timed in turns with what is compared with
  };
  std::vector<Lead> leads;                                    ///< in the order of time
  std::vector<bool> has_choice;                               ///< for each task: whether it has several candidates
  double tried_ns = std::numeric_limits<double>::infinity();  ///< one run of all kernels by their fastest trials
  double seconds = 0;                                         ///< that the search took in all
  std::int64_t trials = 0;

  /// What led a task in the end; null if nothing did.
  Lead* last(std::size_t task);

  /// When one run of the kernels of these tasks, each by what led then, took no longer than this; nothing if never.
  std::optional<Lead> reached(double ns, const std::vector<search::TuneTask>& tasks,
                              const std::vector<bool>& counts) const;
};

/// The tasks of a model, 128 tokens long where it leaves that open.
Result<std::vector<search::TuneTask>> tasks_of(const std::filesystem::path& file, const codegen::Target& target);

/// Searches until the budget of `how` is used up, nothing is left to try, or the trials say that one run of all kernels
/// takes no longer than `enough_ns` (0: never).
Result<ModelSearch> search_model(const std::vector<search::TuneTask>& tasks, const How& how, double enough_ns,
                                 const codegen::Target& target);

/// Times what led each of these tasks in turns with what led it at the end of the search it is compared with, and gives
/// what one run of all kernels of the latter takes. The fastest of many trials is a lucky one, and the more so the more
/// trials there were; so times of trials do not tell when a search was as far as another.
Result<double> time_leads(const std::vector<search::TuneTask>& tasks, const std::vector<bool>& counts,
                          ModelSearch& search, ModelSearch& goal, const codegen::Target& target);

/// Prints the tasks that make the difference between two searches whose leads were timed.
void print_difference(const std::vector<search::TuneTask>& tasks, const std::vector<bool>& counts, ModelSearch& search,
                      ModelSearch& goal);

}  // namespace hone::bench
