#include "hone/report.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/measure/measurer.h"
#include "hone/measure/peak.h"
#include "hone/search/task_data.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/tasks.h"

namespace hone {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A task on its way into the report.
struct Subject {
  TaskUse use;
  codegen::Target target;
  measure::TaskKey key;
  Chosen standard, chosen;  ///< the default, and what a session would compile now
  std::vector<measure::Record> records;
};

double bytes_of(const ir::Function& naive) {
  double bytes = 0;
  for (const ir::Expr& param : naive.params) {
    double elements = 1;
    for (const ir::Expr& extent : param.get<ir::Buffer>().shape)
      elements *= static_cast<double>(ir::as_int(extent).value_or(1));
    bytes += elements * param.type().bits() / 8;
  }
  return bytes;
}

Result<std::vector<Subject>> gather(const Session& session, std::span<const Value> inputs,
                                    const codegen::Target& target, const std::string& file,
                                    const std::optional<measure::Records>& records) {
  HONE_TRY(const std::vector<TaskUse> uses, session.tasks(inputs));
  Tuned tuned(file, session.first_choice());
  std::vector<Subject> subjects;
  for (const TaskUse& use : uses) {
    Subject subject{.use = use, .target = target, .key = measure::task_key(use.task->naive(), use.task->constants)};
    subject.standard = default_choice(*use.task, target, session.first_choice());
    subject.chosen = tuned.choose(*use.task, target);
    if (!subject.chosen.space->build(subject.chosen.candidate))  // of another version of hone, or another shape
      subject.chosen = default_choice(*use.task, target, session.first_choice());
    if (records) {
      HONE_TRY(subject.records, records->find({.task = subject.key.key, .target = codegen::to_string(target)}));
    }
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

/// The least that a candidate took in its trials.
double fastest_trial(const Subject& subject, const Chosen& of) {
  const std::string wanted = space::to_json(*of.space, of.candidate);
  double ns = kInfinity;
  for (const measure::Record& record : subject.records)
    if (record.status == measure::TrialStatus::Ok && record.candidate == wanted && !measure::find_adoption(record))
      ns = std::min(ns, record.min_ns());
  return ns;
}

/// Whether nothing is known from tuning.
bool is_untuned(const Chosen& chosen) { return chosen.origin == Origin::Default || chosen.origin == Origin::Predicted; }

/// Whether a stored candidate, of whatever space, is the program of the default.
bool is_default(const Subject& subject, const std::string& json) {
  const auto hash_of = [](const space::Space& space, const space::Candidate& candidate) -> std::optional<ir::Hash128> {
    const Result<schedule::Schedule> built = space.build(candidate);
    return built ? std::optional(ir::structural_hash(built->program())) : std::nullopt;
  };
  const auto space = space::make_space(space::space_of(json), *subject.use.task, subject.target);
  if (!space) return false;
  const Result<space::Candidate> candidate = space::parse_candidate(**space, json);
  return candidate && hash_of(**space, *candidate) == hash_of(*subject.standard.space, subject.standard.candidate);
}

/// Takes the times from the records. What was adopted was timed in turns with the first candidate of its space, which
/// is the better comparison where that is the default.
void fill_times(const Subject& subject, ReportTask& task) {
  task.default_ns = fastest_trial(subject, subject.standard);
  task.chosen_ns = kInfinity;
  if (is_untuned(subject.chosen)) {
    task.chosen_ns = task.default_ns;
  } else if (subject.chosen.origin != Origin::Exact) {  // its record, if any, is of a task of other shapes
    task.chosen_ns = fastest_trial(subject, subject.chosen);
  } else {
    task.chosen_ns = subject.chosen.record->min_ns();
    const std::optional<measure::Adoption> adoption = measure::find_adoption(*subject.chosen.record);
    if (adoption && std::isfinite(adoption->first_ns) && is_default(subject, adoption->first))
      task.default_ns = adoption->first_ns;
    task.is_decided_in_model = adoption && adoption->in_model;
    if (task.chosen_text.candidate == task.default_text.candidate) task.default_ns = task.chosen_ns;
  }
}

void count_failure(const measure::Record& record, std::vector<ReportFailure>& failures) {
  const std::string_view reason = measure::to_string(record.status);
  auto found =
      std::find_if(failures.begin(), failures.end(), [&](const auto& known) { return known.reason == reason; });
  if (found == failures.end()) found = failures.insert(failures.end(), {std::string(reason), record.message, 0});
  ++found->count;
}

/// What the records say about how tuning went: its trials in the order of time, over all tasks.
void fill_history(const std::vector<Subject>& subjects, Report& report) {
  constexpr std::int64_t kPauseMs = 60'000;  // nothing was recorded for as long: nobody was tuning
  struct Event {
    const measure::Record* record;
    std::size_t task;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < subjects.size(); ++i)
    for (const measure::Record& record : subjects[i].records) events.push_back({&record, i});
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.record->time_ms < b.record->time_ms; });
  if (events.empty()) return;
  report.first_ms = events.front().record->time_ms;
  report.last_ms = events.back().record->time_ms;
  std::int64_t active_ms = 0, last_ms = report.first_ms;
  for (const Event& event : events) {
    const std::int64_t gap = event.record->time_ms - last_ms;
    if (gap < kPauseMs) active_ms += gap;
    last_ms = event.record->time_ms;
    ReportTask& task = report.tasks[event.task];
    const bool is_adopted = measure::find_adoption(*event.record).has_value();
    const bool is_ok = event.record->status == measure::TrialStatus::Ok;
    if (!is_adopted) {
      ++task.trials;
      if (!is_ok) count_failure(*event.record, task.failures);
    }
    task.history.push_back(
        {static_cast<double>(active_ms) * 1e-3, is_ok ? event.record->min_ns() : kInfinity, is_adopted});
  }
  report.tuning_s = static_cast<double>(active_ms) * 1e-3;
}

/// What all kernels together took at each moment: the default of each task until a candidate was adopted. The last
/// point is what they take now.
void fill_curve(Report& report) {
  struct Event {
    const ReportTrial* trial;
    std::size_t task;
  };
  std::vector<Event> events;
  std::vector<double> ns;
  for (std::size_t i = 0; i < report.tasks.size(); ++i) {
    ns.push_back(report.tasks[i].default_ns);
    for (const ReportTrial& trial : report.tasks[i].history) events.push_back({&trial, i});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.trial->seconds < b.trial->seconds; });
  if (report.timed_tasks() == 0 || events.empty()) return;
  const auto sum = [&] {
    double all = 0;
    for (std::size_t i = 0; i < ns.size(); ++i)
      if (report.tasks[i].is_timed()) all += ns[i] * static_cast<double>(report.tasks[i].uses);
    return all;
  };
  report.curve.push_back({0, 0, sum()});
  std::int64_t trials = 0;
  for (const Event& event : events) {
    if (!event.trial->is_adopted) {
      ++trials;
      continue;
    }
    ns[event.task] = event.trial->ns;
    report.curve.push_back({trials, event.trial->seconds, sum()});
  }
  report.curve.push_back({trials, report.tuning_s, report.chosen_ns()});
}

/// Times what the records say nothing about, or anew: the default and the present kernel of each task in turns.
Result<void> measure_tasks(const std::vector<Subject>& subjects, const codegen::Target& target, Report& report) {
  HONE_TRY(measure::Measurer measurer, measure::Measurer::start({.target = target}));
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Subject& subject = subjects[i];
    ReportTask& task = report.tasks[i];
    const auto data = search::make_task_data(*subject.use.task, target);
    std::vector<measure::MeasureInput> inputs;
    for (const Chosen* choice : {&subject.standard, &subject.chosen}) {
      HONE_TRY(const schedule::Schedule built, choice->space->build(choice->candidate));
      inputs.push_back({schedule::split_packing(built.program()), data});
      if (task.default_text.candidate == task.chosen_text.candidate) break;
    }
    const auto results = measurer.compare(inputs, measurer.options().timing);
    task.default_ns = results.front().min_ns();
    task.chosen_ns = results.back().min_ns();
  }
  report.is_measured = true;
  return {};
}

/// Shows the kernels of all tasks; compiling them takes a while, so all cores do.
Result<void> write_kernels(const std::vector<Subject>& subjects, const codegen::Target& target, std::size_t most_bytes,
                           Report& report) {
  constexpr std::size_t kTextsOfATask = 4, kFewestBytes = 4 << 10, kMostBytes = 48 << 10;
  const std::size_t share = most_bytes / std::max<std::size_t>(1, kTextsOfATask * subjects.size());
  const std::size_t bytes = std::clamp(share, kFewestBytes, kMostBytes);
  std::vector<std::optional<Error>> errors(subjects.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < subjects.size(); i = next++) {
      ReportTask& task = report.tasks[i];
      const auto write = [&](const Chosen& choice, KernelText& text) {
        Result<KernelText> made = kernel_text(*choice.space, choice.candidate, target, bytes);
        if (made)
          text = *std::move(made);
        else
          errors[i] = std::move(made).error();
      };
      write(subjects[i].standard, task.default_text);
      task.chosen_text = task.default_text;
      if (!is_untuned(subjects[i].chosen)) write(subjects[i].chosen, task.chosen_text);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < std::min<int>(target.cores, static_cast<int>(subjects.size())); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  for (const std::optional<Error>& problem : errors)
    if (problem) return *problem;
  return {};
}

Result<void> measure_peak(const codegen::Target& target, Report& report) {
  HONE_TRY(report.peak_gflops, measure::fma_peak(target, report.threads));
  constexpr std::int64_t kMostBytes = 256 << 20;  // of all threads; more would take long to fill
  const std::int64_t beyond = std::min(kMostBytes, 4 * target.l3_bytes) / std::max(1, report.threads);
  for (auto [memory, bytes] :
       {std::pair{"L1", target.l1_bytes / 2}, std::pair{"L2", target.l2_bytes / 2}, std::pair{"memory", beyond}}) {
    HONE_TRY(const double gbytes, measure::read_bandwidth(target, report.threads, bytes));
    report.bandwidths.push_back({memory, bytes, gbytes});
  }
  return {};
}

/// Which other targets have records of these tasks.
Result<void> find_other_targets(const std::vector<Subject>& subjects, const measure::Records& records, Report& report) {
  HONE_TRY(const std::vector<measure::TaskSummary> summaries, records.summaries());
  for (const measure::TaskSummary& summary : summaries)
    for (const Subject& subject : subjects)
      if (subject.key.key == summary.task.key && summary.target != report.target)
        report.other_targets[summary.target] += summary.trials;
  return {};
}

/// What takes longest comes first; what is not known is ordered by its FLOPs.
void order_tasks(Report& report) {
  const auto time = [](const ReportTask& task) {
    const double ns = std::isfinite(task.default_ns) ? task.default_ns : task.chosen_ns;
    return std::isfinite(ns) ? ns * static_cast<double>(task.uses) : -1;
  };
  const auto work = [](const ReportTask& task) { return task.flops * static_cast<double>(task.uses); };
  std::stable_sort(report.tasks.begin(), report.tasks.end(), [&](const ReportTask& a, const ReportTask& b) {
    return time(a) != time(b) ? time(a) > time(b) : work(a) > work(b);
  });
}

}  // namespace

std::int64_t ReportTask::failed() const {
  std::int64_t count = 0;
  for (const ReportFailure& failure : failures) count += failure.count;
  return count;
}

bool ReportTask::is_timed() const { return std::isfinite(default_ns) && std::isfinite(chosen_ns); }

double ReportTask::gflops() const { return std::isfinite(chosen_ns) && chosen_ns > 0 ? flops / chosen_ns : 0; }

std::int64_t Report::trials() const {
  std::int64_t count = 0;
  for (const ReportTask& task : tasks) count += task.trials;
  return count;
}

std::map<std::string, std::int64_t> Report::failures() const {
  std::map<std::string, std::int64_t> counts;
  for (const ReportTask& task : tasks)
    for (const ReportFailure& failure : task.failures) counts[failure.reason] += failure.count;
  return counts;
}

std::size_t Report::timed_tasks() const {
  return static_cast<std::size_t>(
      std::count_if(tasks.begin(), tasks.end(), [](const ReportTask& task) { return task.is_timed(); }));
}

double Report::default_ns() const {
  double ns = 0;
  for (const ReportTask& task : tasks)
    if (task.is_timed()) ns += task.default_ns * static_cast<double>(task.uses);
  return ns;
}

double Report::chosen_ns() const {
  double ns = 0;
  for (const ReportTask& task : tasks)
    if (task.is_timed()) ns += task.chosen_ns * static_cast<double>(task.uses);
  return ns;
}

Result<Report> make_report(const Session& session, std::span<const Value> inputs, const ReportOptions& options) {
  HONE_TRY(const codegen::Target target, codegen::parse_target(session.target()));
  std::optional<measure::Records> records;
  if (!options.records_file.empty()) {
    HONE_TRY(records, measure::Records::open(options.records_file, measure::Records::Mode::ReadOnly));
  }
  HONE_TRY(const std::vector<Subject> subjects, gather(session, inputs, target, options.records_file, records));

  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Report report{.model = options.model,
                .target = session.target(),
                .machine = codegen::host_cpu_name(),
                .version = options.version,
                .threads = session.threads(),
                .made_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count(),
                .records_file = options.records_file};
  for (const Subject& subject : subjects) {
    ReportTask task{.name = subject.use.name,
                    .key = subject.key.key,
                    .shapes = subject.key.shapes,
                    .uses = subject.use.uses,
                    .flops = subject.use.task->flops,
                    .bytes = bytes_of(subject.use.task->naive()),
                    .origin = subject.chosen.origin};
    if (task.origin == Origin::Compatible || task.origin == Origin::Nearest)
      task.near_shapes = subject.chosen.record->task.shapes;
    report.tasks.push_back(std::move(task));
  }
  HONE_TRY(write_kernels(subjects, target, options.most_text_bytes, report));
  for (std::size_t i = 0; i < subjects.size(); ++i) fill_times(subjects[i], report.tasks[i]);
  fill_history(subjects, report);
  if (options.measures_peak) HONE_TRY(measure_peak(target, report));
  if (options.measures_tasks) HONE_TRY(measure_tasks(subjects, target, report));
  fill_curve(report);  // which ends at what kernels take now
  if (records) HONE_TRY(find_other_targets(subjects, *records, report));
  order_tasks(report);
  return report;
}

}  // namespace hone
