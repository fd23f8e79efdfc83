#include "hone/search/transfer.h"

#include <algorithm>
#include <deque>
#include <map>

#include "hone/ir/text.h"
#include "hone/schedule/trace.h"
#include "hone/support/log.h"

namespace hone::search {
namespace {

using measure::TrialStatus;

/// What is known of another task.
struct OtherTask {
  std::string key, family;
  std::int64_t trials = 0;
};

/// The tasks that a model can learn from, by the groups that share a number of trials: families, or all.
Result<std::map<std::string, std::vector<OtherTask>>> others(const cost::CostModel& model,
                                                             const measure::Records& records, const std::string& target,
                                                             std::span<const measure::TaskKey> tasks) {
  HONE_TRY(const std::vector<measure::TaskSummary> summaries, records.summaries());
  std::map<std::string, std::vector<OtherTask>> groups;
  for (const measure::TaskSummary& summary : summaries) {
    const auto is_same = [&](const measure::TaskKey& task) { return task.key == summary.task.key; };
    const auto is_like = [&](const measure::TaskKey& task) { return task.family == summary.task.family; };
    if (summary.target != target || std::any_of(tasks.begin(), tasks.end(), is_same)) continue;
    const bool is_all = model.transfers_to() == cost::TransfersTo::All;
    if (is_all || std::any_of(tasks.begin(), tasks.end(), is_like))
      groups[is_all ? "" : summary.task.family].push_back({summary.task.key, summary.task.family, summary.trials});
  }
  return groups;
}

/// At most `most` of a task's trials, spread evenly from the fastest to the slowest.
std::vector<measure::Record> spread(std::vector<measure::Record> all, std::size_t most) {
  std::erase_if(all, [](const measure::Record& record) {
    return measure::find_adoption(record) || record.status == TrialStatus::NotRun || record.trace == "[]" ||
           record.cache != measure::CacheState::Warm;
  });
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.min_ns() < b.min_ns(); });
  if (all.size() <= most) return all;
  std::vector<measure::Record> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(std::move(all[i * all.size() / most]));
  return chosen;
}

/// Trials of one task, their programs made anew.
struct Lesson {
  ir::Function naive;
  std::vector<schedule::Program> programs;
  std::vector<schedule::Trace> traces;
  std::vector<double> seconds;

  Lesson(const std::vector<measure::Record>& records, ir::Function computes) : naive(std::move(computes)) {
    for (const measure::Record& record : records) {
      Result<schedule::Trace> trace = schedule::parse_trace(record.trace);
      if (!trace) continue;
      Result<schedule::Program> program = schedule::replay(naive, *trace);
      if (!program) continue;  // of another algorithm than the direct one, whose program is not stored
      programs.push_back(*std::move(program));
      traces.push_back(*std::move(trace));
      seconds.push_back(record.status == TrialStatus::Ok ? record.min_ns() * 1e-9 : cost::kFailed);
    }
  }

  std::vector<cost::Subject> subjects(const OtherTask& task) const {
    std::vector<cost::Subject> subjects;
    for (std::size_t i = 0; i < programs.size(); ++i)
      subjects.push_back(
          {.task = task.key, .family = task.family, .program = &programs[i], .trace = &traces[i], .naive = &naive});
    return subjects;
  }
};

}  // namespace

Result<std::size_t> learn_from_records(cost::CostModel& model, const measure::Records& records,
                                       const std::string& target, std::span<const measure::TaskKey> tasks,
                                       const TransferOptions& options) {
  if (model.transfers_to() == cost::TransfersTo::None) return 0;
  HONE_TRY(const auto groups, others(model, records, target, tasks));
  const std::size_t most =
      model.transfers_to() == cost::TransfersTo::All ? options.most_of_all : options.most_of_family;
  std::deque<Lesson> lessons;  // subjects point into them
  std::vector<cost::Subject> subjects;
  std::vector<double> seconds;
  for (const auto& [name, group] : groups) {
    const std::size_t share = std::max<std::size_t>(1, most / group.size());
    for (std::size_t i = 0; i < std::min(group.size(), most); ++i) {
      HONE_TRY(std::vector<measure::Record> found, records.find({.task = group[i].key, .target = target}));
      if (found.empty()) continue;
      const Result<ir::Function> naive = ir::parse_function(found.front().task.text);
      if (!naive) continue;
      const Lesson& lesson = lessons.emplace_back(spread(std::move(found), share), *naive);
      const std::vector<cost::Subject> its = lesson.subjects(group[i]);
      subjects.insert(subjects.end(), its.begin(), its.end());
      seconds.insert(seconds.end(), lesson.seconds.begin(), lesson.seconds.end());
    }
  }
  if (subjects.empty()) return 0;
  if (const Result<void> learnt = model.learn_from_others(subjects, seconds); !learnt) {
    log::warning("search", "nothing is learnt from other tasks: {}", learnt.error().message);
    return 0;
  }
  return subjects.size();
}

}  // namespace hone::search
