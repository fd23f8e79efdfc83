#include "hone/cost/dataset_merge.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hone::cost {
namespace {

/// Adds one data set to another, a task at a time.
class DatasetMerger {
 public:
  DatasetMerger(const Dataset& from, DatasetFile& into) : from_(from), into_(into) {}

  Result<MergeCounts> run() {
    HONE_TRY(add_notes());
    const std::size_t targets = into_.data().targets.size(), tasks = into_.data().tasks.size();
    for (const std::string& target : from_.targets) {
      HONE_TRY(const std::size_t place, into_.add_target(target));
      targets_.push_back(place);
    }
    for (const DatasetTask& task : from_.tasks) HONE_TRY(add_task(task));
    counts_.targets = into_.data().targets.size() - targets;
    counts_.tasks = into_.data().tasks.size() - tasks;
    return counts_;
  }

 private:
  /// What both say differently, such as their machines, stands there one after the other.
  Result<void> add_notes() {
    for (const auto& [name, text] : from_.notes) {
      const auto known = into_.data().notes.find(name);
      const std::string both = known == into_.data().notes.end() ? text : known->second + "; " + text;
      if (known == into_.data().notes.end() || known->second.find(text) == std::string::npos)
        HONE_TRY(into_.note(name, both));
    }
    return {};
  }

  Result<void> add_task(const DatasetTask& task) {
    const std::size_t tasks = into_.data().tasks.size();
    HONE_TRY(const std::size_t place, into_.add_task(task));
    const bool is_new = place == tasks;
    for (const auto& [network, calls] : task.networks) HONE_TRY(into_.add_use(place, network, calls));
    std::unordered_map<std::string, std::size_t> known;
    for (const std::size_t program : into_.data().tasks[place].programs)
      known.emplace(into_.data().programs[program].hash, program);
    for (const std::size_t program : task.programs) HONE_TRY(add_program(task, place, program, known));
    if (is_new && !task.done.empty()) HONE_TRY(into_.finish_task(place, task.done));
    return {};
  }

  Result<void> add_program(const DatasetTask& task, std::size_t place, std::size_t from,
                           std::unordered_map<std::string, std::size_t>& known) {
    const DatasetProgram& program = from_.programs[from];
    const std::optional<std::size_t> algorithm = find_algorithm(task, into_.data().tasks[place], program.algorithm);
    if (!algorithm) {
      ++counts_.left_out;
      return {};
    }
    const auto [found, is_new] = known.emplace(program.hash, into_.data().programs.size());
    if (is_new) {
      DatasetProgram added = program;
      added.task = place;
      added.algorithm = *algorithm;
      added.drawn_for = targets_[program.drawn_for];
      HONE_TRY(into_.add_program(std::move(added)));
      ++counts_.programs;
    }
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const double seconds = program.seconds[t];
      if (std::isnan(seconds) || !std::isnan(into_.data().programs[found->second].seconds[targets_[t]])) continue;
      const auto reason = from_.reasons.find({from, t});
      HONE_TRY(into_.add_label(found->second, targets_[t], seconds,
                               reason == from_.reasons.end() ? "failed" : reason->second));
      ++counts_.labels;
    }
    return {};
  }

  /// The place of an algorithm of a task in the same task of another data set. Ansor's tasks have none.
  static std::optional<std::size_t> find_algorithm(const DatasetTask& task, const DatasetTask& other,
                                                   std::size_t algorithm) {
    if (task.algorithms.empty() && other.algorithms.empty()) return 0;
    if (task.algorithms.empty()) return std::nullopt;
    const auto found = std::find_if(other.algorithms.begin(), other.algorithms.end(), [&](const auto& one) {
      return one.name == task.algorithms[algorithm].name && one.text == task.algorithms[algorithm].text;
    });
    if (found == other.algorithms.end()) return std::nullopt;
    return static_cast<std::size_t>(found - other.algorithms.begin());
  }

  const Dataset& from_;
  DatasetFile& into_;
  std::vector<std::size_t> targets_;  ///< where those of the one stand in the other
  MergeCounts counts_;
};

}  // namespace

Result<MergeCounts> merge_dataset(const Dataset& from, DatasetFile& into) { return DatasetMerger(from, into).run(); }

}  // namespace hone::cost
