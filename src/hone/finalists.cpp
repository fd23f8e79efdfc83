#include "hone/finalists.h"

#include <algorithm>
#include <optional>

#include "hone/ir/equal.h"
#include "hone/schedule/trace.h"
#include "hone/space/candidate.h"
#include "hone/tuned.h"

namespace hone {
namespace {

/// What takes so many times as long alone as the fastest is not faster within a model. It takes part only against
/// nobody but the default.
constexpr double kHopeless = 1.5;

/// Collects candidates whose programs differ.
class Collector {
 public:
  Collector(const space::Task& task, const codegen::Target& target) : task_(task), target_(target) {}

  /// The place of the candidate, or of one that is the same program; nothing if it cannot be built.
  std::optional<std::size_t> add(const std::string& candidate) {
    if (const auto known = std::find(all.begin(), all.end(), candidate); known != all.end())
      return static_cast<std::size_t>(known - all.begin());
    const Result<Chosen> chosen = parse_choice(candidate, task_, target_);
    if (!chosen) return std::nullopt;  // of another version of hone
    const Result<schedule::Schedule> built = chosen->space->build(chosen->candidate);
    if (!built) return std::nullopt;
    const ir::Hash128 hash = ir::structural_hash(built->program());
    if (const auto known = std::find(hashes_.begin(), hashes_.end(), hash); known != hashes_.end())
      return static_cast<std::size_t>(known - hashes_.begin());
    hashes_.push_back(hash);
    all.push_back(candidate);
    return all.size() - 1;
  }

  std::vector<std::string> all;

 private:
  const space::Task& task_;
  const codegen::Target& target_;
  std::vector<ir::Hash128> hashes_;
};

/// The trials of a task that were right, the fastest first.
Result<std::vector<measure::Record>> good_trials(const measure::Records& records, const std::string& key,
                                                 const std::string& target) {
  HONE_TRY(std::vector<measure::Record> found, records.find({.task = key,
                                                             .target = target,
                                                             .status = measure::TrialStatus::Ok,
                                                             .cache = measure::CacheState::Warm,
                                                             .only_checked = true}));
  std::erase_if(found, [](const measure::Record& record) { return measure::find_adoption(record).has_value(); });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.min_ns() < b.min_ns(); });
  return found;
}

}  // namespace

Result<std::vector<FinalsTask>> find_finalists(std::span<const TunedUse> tasks, const measure::Records& records,
                                               const codegen::Target& target, const FirstChoice& first,
                                               std::size_t most) {
  const std::string text = codegen::to_string(target);
  std::vector<FinalsTask> finals;
  for (const TunedUse& tuned : tasks) {
    const space::Task& task = *tuned.use.task;
    FinalsTask made{.use = tuned.use, .key = measure::task_key(task.naive(), task.constants).key, .candidates = {}};
    HONE_TRY(const std::vector<measure::Record> trials, good_trials(records, made.key, text));
    HONE_TRY(const std::optional<measure::Record> adopted, records.adopted(made.key, text));
    Collector collector(task, target);
    const auto add = [&](const Chosen& chosen) { collector.add(space::to_json(*chosen.space, chosen.candidate)); };
    add(default_choice(task, target, first));
    if (!tuned.leader.empty()) made.leader = collector.add(tuned.leader).value_or(0);
    if (adopted) collector.add(adopted->candidate);
    add(default_choice(task, target));
    for (const measure::Record& trial : trials) {
      const bool is_hopeless = trial.min_ns() > trials.front().min_ns() * kHopeless;
      if (collector.all.size() >= most || (is_hopeless && collector.all.size() > 1)) break;
      collector.add(trial.candidate);
    }
    made.candidates = std::move(collector.all);
    if (made.candidates.size() > 1) finals.push_back(std::move(made));
  }
  return finals;
}

std::vector<measure::Record> finals_records(const FinalsReport& report, std::span<const FinalsTask> tasks,
                                            const codegen::Target& target) {
  std::vector<measure::Record> records;
  for (const FinalsDecision& decision : report.tasks) {
    const auto found =
        std::find_if(tasks.begin(), tasks.end(), [&](const FinalsTask& task) { return task.key == decision.key; });
    if (found == tasks.end()) continue;
    const space::Task& task = *found->use.task;
    const Result<Chosen> chosen = parse_choice(decision.candidate, task, target);
    if (!chosen) continue;
    const Result<schedule::Schedule> built = chosen->space->build(chosen->candidate);
    measure::Record record;
    record.task = measure::task_key(task.naive(), task.constants);
    record.target = codegen::to_string(target);
    record.candidate = decision.candidate;
    if (built) record.trace = schedule::to_json(built->trace());
    record.status = measure::TrialStatus::Ok;
    record.samples_ns = decision.samples_ns;
    record.cache = measure::CacheState::Model;
    record.is_checked = true;  // in its trials; the default is what they were checked against
    record.tags = measure::adopted_tags({decision.default_ns, found->candidates.front(), /*in_model=*/true});
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace hone
