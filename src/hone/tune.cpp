#include "hone/tune.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include "hone/finalists.h"
#include "hone/measure/statistics.h"
#include "hone/network_model.h"
#include "hone/patience.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/support/log.h"
#include "hone/tasks.h"
#include "hone/tuned.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

double elapsed_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Whether a file for a cost model is its network; if not, it is what the model learnt in an earlier run.
bool is_network(std::string_view cost_model, const std::string& file) {
  if (cost_model != "auto") return cost_model == "tlp" || cost_model == "mtl";
  constexpr std::string_view kLearnt = "hone cost model ";  // cost/model_file.h
  std::string begin(kLearnt.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin != kLearnt;
}

/// Tells the tuner what the file for the cost model is. One that will be written need not be there yet.
void sort_out_model_file(search::TunerOptions& options) {
  std::string& file = options.cost_model_file;
  std::error_code ignored;
  if (file.empty()) return;
  if (file == options.save_cost_model && !std::filesystem::exists(file, ignored))
    file.clear();
  else if (!is_network(options.cost_model, file))
    options.learnt_file = std::exchange(file, {});
}

/// What the finals will take, about: compiling kernels, and running some variants of the model some dozens of times.
double finals_seconds(const Session& session, double run_s, std::size_t tasks) {
  constexpr double kVariants = 4, kRuns = 200, kKernelSeconds = 0.1;
  return kRuns * run_s + kVariants * kKernelSeconds * static_cast<double>(tasks) / std::max(1, session.threads());
}

/// Of the whole time, what is kept for the finals: what they will take, but not more than a fifth.
double reserved_seconds(double all, double wanted) { return std::min(all * 0.2, wanted); }

/// How long a run takes that finds everything compiled.
Result<double> run_seconds(const Session& session, std::span<const Value> inputs) {
  HONE_TRY(session.run(inputs));
  const Clock::time_point begin = Clock::now();
  HONE_TRY(session.run(inputs));
  return elapsed_since(begin);
}

/// Puts what the finals decided into the report of the tuner.
void show_decisions(const FinalsReport& finals, search::TuneProgress& progress) {
  for (const FinalsDecision& decision : finals.tasks)
    for (search::TaskProgress& task : progress.tasks) {
      if (task.key != decision.key) continue;
      task.best = decision.candidate;
      task.first_ns = decision.default_ns;
      task.best_ns = measure::minimum(decision.samples_ns);
    }
}

/// Times the best candidates within the model, and stores what is decided.
Result<FinalsReport> hold_finals(const Session& session, std::span<const Value> inputs,
                                 const std::vector<TaskUse>& uses, const search::TunerOptions& options,
                                 const ModelTuning& model, double seconds, search::TuneReport& report) {
  std::vector<TunedUse> tuned;
  for (std::size_t i = 0; i < uses.size(); ++i) tuned.push_back({uses[i], report.progress.tasks[i].best});
  const codegen::Target& target = options.measurer.target;
  HONE_TRY(const std::vector<FinalsTask> tasks,
           find_finalists(tuned, *options.records, target, session.first_choice()));
  HONE_TRY(FinalsReport finals,
           run_finals(session, inputs, tasks, {.seconds = seconds, .stop = options.stop, .progress = model.progress}));
  if (finals.is_stopped) return finals;
  if (const auto stored = options.records->insert_all(finals_records(finals, tasks, target)); !stored)
    report.records_error = stored.error().message;
  show_decisions(finals, report.progress);
  return finals;
}

}  // namespace

Result<ModelTuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options,
                             const ModelTuning& model) {
  const Clock::time_point start = Clock::now();
  HONE_TRY(options.measurer.target, codegen::parse_target(session.target()));
  sort_out_model_file(options);
  options.make_model = [target = options.measurer.target, file = options.cost_model_file](
                           std::string_view name, const cost::ModelOptions& of_model) {
    return make_any_cost_model(name, of_model, target, file);
  };
  HONE_TRY(std::vector<TaskUse> uses, session.tasks(inputs));
  std::vector<search::TuneTask> tasks;
  for (std::size_t i = 0; i < uses.size();) {
    HONE_TRY(const auto space, space::make_space(options.space, *uses[i].task, options.measurer.target));
    if (space::size_of(*space) > 1) {
      const Chosen standard = default_choice(*uses[i].task, options.measurer.target, session.first_choice());
      tasks.push_back({.task = uses[i].task,
                       .name = uses[i].name,
                       .weight = static_cast<double>(uses[i].uses),
                       .standard = space::to_json(*standard.space, standard.candidate)});
      ++i;
    } else {
      uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  const bool has_finals = model.has_finals && options.records && !tasks.empty();
  const double whole_s = options.seconds;
  if (has_finals && whole_s > 0) {
    HONE_TRY(const double run_s, run_seconds(session, inputs));
    const double kept_s = reserved_seconds(whole_s, finals_seconds(session, run_s, tasks.size()));
    options.seconds = std::max(whole_s * 0.1, whole_s - kept_s - elapsed_since(start));
  }
  std::atomic<bool> is_patience_over = false;
  Patience patience(model.patience);
  options.enough = &is_patience_over;
  options.progress = [&, told = options.progress](const search::TuneProgress& progress) {
    if (patience.is_over(progress)) is_patience_over = true;
    if (told) told(progress);
  };

  HONE_TRY(search::TuneReport tuned, search::tune(tasks, options));
  ModelTuneReport report{std::move(tuned)};
  report.is_patience_over = is_patience_over;
  if (!has_finals || report.is_stopped) return report;
  const double left_s = whole_s > 0 ? std::max(1e-3, whole_s - elapsed_since(start)) : 0;
  Result<FinalsReport> finals = hold_finals(session, inputs, uses, options, model, left_s, report);
  if (finals) {
    report.is_stopped = finals->is_stopped;
    report.finals = *std::move(finals);
  } else {
    report.finals_error = finals.error().message;
    log::warning("tune", "no finals: {}", report.finals_error);
  }
  report.progress.elapsed_s = elapsed_since(start);
  return report;
}

Result<ModelTuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options,
                             const std::string& records_file, const ModelTuning& model) {
  Result<measure::Records> records = measure::Records::open(records_file);
  std::string problem;
  if (!records) {
    problem = records.error().message;
    log::warning("tune", "nothing will be stored: {}", problem);
    records = measure::Records::open(records_file, measure::Records::Mode::ReadOnly);  // what is known still helps
  }
  options.records = records ? &*records : nullptr;
  ModelTuning held = model;
  if (!problem.empty()) held.has_finals = false;  // nothing that they decide could be kept
  HONE_TRY(ModelTuneReport report, tune(session, inputs, std::move(options), held));
  if (!problem.empty()) report.records_error = problem;
  return report;
}

}  // namespace hone
