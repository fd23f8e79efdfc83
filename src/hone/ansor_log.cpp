#include "hone/ansor_log.h"

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "hone/ir/text.h"
#include "hone/space/sketch/ansor_export.h"
#include "hone/space/sketch/ansor_record.h"

namespace hone {
namespace {

using Json = nlohmann::ordered_json;
using measure::TrialStatus;
namespace ansor = space::ansor;

constexpr std::string_view kOwnPrefix = "hone:";
constexpr const char* kSpace = "ansor";
constexpr std::size_t kBatch = 1000;  ///< records that are stored at once

/// A task that lines may belong to.
struct KnownTask {
  measure::TaskKey key;
  space::Task task;
  ansor::Ids sizes;  ///< of all parameters
};

Result<KnownTask> known_task(const measure::TaskKey& key) {
  HONE_TRY(ir::Function naive, ir::parse_function(key.text));
  KnownTask known{key, {}, {}};
  known.task.algorithms.push_back({"direct", std::move(naive)});
  known.task.constants = key.constants;
  for (const std::vector<std::int64_t>& shape : key.shapes)
    known.sizes.insert(known.sizes.end(), shape.begin(), shape.end());
  return known;
}

Result<std::vector<KnownTask>> known_tasks(const measure::Records& records) {
  HONE_TRY(const std::vector<measure::TaskSummary> summaries, records.summaries());
  std::vector<KnownTask> tasks;
  for (const measure::TaskSummary& summary : summaries) {
    if (std::any_of(tasks.begin(), tasks.end(), [&](const auto& task) { return task.key.key == summary.task.key; }))
      continue;
    HONE_TRY(KnownTask task, known_task(summary.task));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// The errors of Ansor: 0 none, 1 instantiation, 2 and 3 compiling, 4 running, 5 wrong answer, 6 and 7 too late to
/// compile and to run, 8 something else.
TrialStatus status_of(std::int64_t error) {
  switch (error) {
    case 0:
      return TrialStatus::Ok;
    case 1:
    case 2:
    case 3:
      return TrialStatus::CompileError;
    case 5:
      return TrialStatus::WrongAnswer;
    case 6:
    case 7:
      return TrialStatus::Timeout;
    default:
      return TrialStatus::RunError;
  }
}

std::int64_t error_of(TrialStatus status) {
  switch (status) {
    case TrialStatus::Ok:
      return 0;
    case TrialStatus::CompileError:
      return 2;
    case TrialStatus::RunError:
    case TrialStatus::Crash:
    case TrialStatus::OutOfMemory:
      return 4;
    case TrialStatus::WrongAnswer:
    case TrialStatus::NotANumber:
      return 5;
    case TrialStatus::Timeout:
      return 7;
    case TrialStatus::NotRun:
      return 8;
  }
  return 8;
}

/// The same for the same text, so that a line that is taken in twice is one record.
std::string uid_of(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a, from two beginnings
  std::uint64_t a = 0xcbf29ce484222325, b = 0x84222325cbf29ce4;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * kPrime;
    b = (b ^ (static_cast<unsigned char>(c) + 1U)) * kPrime;
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

measure::Record record_of(const ansor::Record& line, const KnownTask& known, const schedule::Schedule& made) {
  measure::Record record;
  record.task = known.key;
  record.target = "ansor: " + line.target;
  record.candidate = Json{{"space", kSpace}, {"steps", Json::parse(ansor::to_json(line.steps))}}.dump();
  record.trace = schedule::to_json(made.trace());
  record.status = status_of(line.error);
  if (record.status == TrialStatus::Ok)
    for (const double cost : line.costs_s) record.samples_ns.push_back(cost * 1e9);
  if (record.samples_ns.empty() && record.status == TrialStatus::Ok) record.status = TrialStatus::RunError;
  record.message = line.error == 0 ? "" : fmt::format("error {} of Ansor", line.error);
  const std::string text = ansor::to_json(line);
  record.tags = Json{{kSpace, Json::parse(text)}}.dump();
  record.time_ms = line.time_s * 1000;
  record.uid = uid_of(text);
  return record;
}

/// Takes in the lines of a log, one after the other.
class Reader {
 public:
  Reader(measure::Records& records, std::vector<KnownTask> tasks) : records_(records), tasks_(std::move(tasks)) {}

  /// Lets lines whose workload has this name belong to a task.
  Result<void> assign(const std::string& name, const std::string& digits) {
    for (const KnownTask& known : tasks_)
      if (known.key.key.starts_with(digits)) {
        assigned_[name] = &known;
        return {};
      }
    return error(ErrorCode::NotFound, "no task in {} begins with '{}', which workload '{}' is said to be",
                 records_.file(), digits, name);
  }

  Result<void> take(const std::string& text, std::int64_t number) {
    const Result<ansor::Record> line = ansor::parse_record(text);
    if (!line) {
      ++tally_.refused[fmt::format("line {}: {}", number, line.error().message)];
      return {};
    }
    const std::vector<const KnownTask*> fitting = tasks_of(line->workload);
    if (fitting.empty()) ++tally_.workloads[line->workload];
    std::string first_refusal;
    for (const KnownTask* known : fitting) {
      const Result<schedule::Schedule> made = ansor::import_steps(known->task, line->steps, line->rewrite);
      if (!made) {
        if (first_refusal.empty()) first_refusal = made.error().message;
        continue;
      }
      waiting_.push_back(record_of(*line, *known, *made));
      return waiting_.size() < kBatch ? Result<void>() : store();
    }
    if (!first_refusal.empty()) ++tally_.refused[first_refusal];
    return {};
  }

  /// Stores what was taken since the last time.
  Result<void> store() {
    const auto count = static_cast<std::int64_t>(waiting_.size());
    HONE_TRY(const std::int64_t added, records_.insert_all(std::exchange(waiting_, {})));
    tally_.taken += added;
    tally_.known += count - added;
    return {};
  }

  AnsorTally& tally() { return tally_; }

 private:
  std::vector<const KnownTask*> tasks_of(const std::string& workload) const {
    const std::string name = ansor::name_of(workload);
    if (const auto assigned = assigned_.find(name); assigned != assigned_.end()) return {assigned->second};
    const ansor::Ids sizes = ansor::numbers_of(workload);
    std::vector<const KnownTask*> fitting;
    for (const KnownTask& known : tasks_) {
      const bool is_own = name.starts_with(kOwnPrefix);
      if (is_own ? name.substr(kOwnPrefix.size()) == known.key.key : sizes == known.sizes) fitting.push_back(&known);
    }
    return fitting;
  }

  measure::Records& records_;
  std::vector<KnownTask> tasks_;
  std::map<std::string, const KnownTask*> assigned_;
  std::vector<measure::Record> waiting_;
  AnsorTally tally_;
};

/// The line that a record was taken in from.
std::optional<std::string> original_line(const measure::Record& record) {
  const Json tags = Json::parse(record.tags, nullptr, /*allow_exceptions=*/false);
  if (!tags.is_object() || !tags.contains(kSpace)) return std::nullopt;
  return tags[kSpace].dump();
}

Result<ansor::Record> line_of(const measure::Record& record) {
  HONE_TRY(const KnownTask known, known_task(record.task));
  HONE_TRY(const schedule::Trace trace, schedule::parse_trace(record.trace));
  if (trace.empty() && record.status != TrialStatus::Ok)
    return error(ErrorCode::Unsupported, "ansor: the candidate could not be built");
  HONE_TRY(ansor::Exported exported, ansor::export_steps(known.task, trace));
  ansor::Record line;
  Json workload = Json::array({std::string(kOwnPrefix) + record.task.key});
  for (const std::vector<std::int64_t>& shape : record.task.shapes) workload.push_back(shape);
  line.workload = workload.dump();
  line.target = "llvm -keys=cpu";
  if (const Result<codegen::Target> target = codegen::parse_target(record.target)) {
    line.target += fmt::format(" -mcpu={} -num-cores={}", target->mcpu, target->threads);
    line.hardware = {target->threads, target->vector_bits / 8, target->cache_line_bytes, 0, 0, 0, 0, 0};
  }
  line.rewrite = exported.rewrite;
  line.steps = std::move(exported.steps);
  for (const double sample : record.samples_ns) line.costs_s.push_back(sample * 1e-9);
  if (line.costs_s.empty()) line.costs_s.push_back(ansor::kFailedCost);
  line.error = error_of(record.status);
  line.all_cost_s = record.compile_ms * 1e-3;
  line.time_s = record.time_ms / 1000;
  return line;
}

}  // namespace

Result<AnsorTally> import_ansor(measure::Records& records, std::istream& in,
                                const std::map<std::string, std::string>& tasks) {
  HONE_TRY(std::vector<KnownTask> known, known_tasks(records));
  Reader reader(records, std::move(known));
  for (const auto& [name, digits] : tasks) HONE_TRY(reader.assign(name, digits));
  std::int64_t number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.empty() || text[0] == '#' || text[0] == ' ' || text[0] == '\r') continue;
    HONE_TRY(reader.take(text, number));
  }
  HONE_TRY(reader.store());
  return std::move(reader.tally());
}

Result<AnsorTally> export_ansor(const measure::Records& records, std::ostream& out) {
  AnsorTally tally;
  HONE_TRY(records.for_each({}, [&](const measure::Record& record) {
    std::optional<std::string> text = original_line(record);
    if (!text) {
      const Result<ansor::Record> line = line_of(record);
      if (!line) {
        ++tally.refused[line.error().message];
        return;
      }
      text = ansor::to_json(*line);
    }
    out << *text << '\n';
    ++tally.taken;
  }));
  if (!out.flush()) return error(ErrorCode::Unsupported, "records: not everything could be written");
  return tally;
}

}  // namespace hone
