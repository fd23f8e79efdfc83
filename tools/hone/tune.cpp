// hone tune: searches for faster kernels of a model, and records them.
#include "hone/tune.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "busy.h"
#include "command.h"
#include "describe.h"
#include "interrupt.h"
#include "model.h"

#include "hone/measure/peak.h"
#include "hone/network_model.h"
#include "hone/search/presets.h"
#include "hone/tasks.h"

namespace hone::command {
namespace {

struct TuneOptions {
  ModelOptions model;
  std::string time = "5m", target_latency, space, search, exploit, preset = "auto";
  std::string cost_model, cost_model_file, save_cost_model, transfer = "on";
  std::int64_t trials = 0, trials_per_task = 0, explore = -1, early_stop = -1, seed = 1;
  double crossover = 0;
  std::int64_t patience = 25;
  bool has_no_finals = false, is_json = false;
};

/// A number as JSON; null if it is not known.
nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

/// Of the adopted candidate; NaN as long as its time is not known.
double gflops_of(const search::TaskProgress& task) {
  return std::isfinite(task.best_ns) ? task.flops / task.best_ns : std::numeric_limits<double>::quiet_NaN();
}

/// Shows how tuning goes on: one line that changes on a terminal, a line now and then elsewhere, or JSON.
class ProgressView {
 public:
  ProgressView(bool is_json, double peak) : is_json_(is_json), is_terminal_(isatty(STDERR_FILENO) != 0), peak_(peak) {}
  ~ProgressView() {
    if (is_terminal_ && has_line_) fmt::print(stderr, "\n");
  }
  ProgressView(const ProgressView&) = delete;
  ProgressView& operator=(const ProgressView&) = delete;

  void show(const search::TuneProgress& progress) {
    if (progress.tasks.empty()) return;
    if (!is_json_ && has_line_ && progress.elapsed_s - last_s_ < pause()) return;
    last_s_ = progress.elapsed_s;
    if (is_json_) {
      const search::TaskProgress& task = progress.tasks[progress.current];
      fmt::print("{}\n", nlohmann::json{{"elapsed_s", progress.elapsed_s},
                                        {"left_s", number(progress.left_s)},
                                        {"trials", progress.trials},
                                        {"tasks", progress.tasks.size()},
                                        {"tasks_done", tasks_done(progress)},
                                        {"task", task.name},
                                        {"key", task.key},
                                        {"reused", task.reused},
                                        {"task_weight", task.weight},
                                        {"task_trials", task.trials},
                                        {"first_ns", number(task.first_ns)},
                                        {"best_ns", number(task.best_ns)},
                                        {"gflops", number(gflops_of(task))},
                                        {"share_of_peak", number(gflops_of(task) / peak_)},
                                        {"model_first_ns", progress.first_ns()},
                                        {"model_best_ns", progress.best_ns()}}
                             .dump());
      std::fflush(stdout);
      return;
    }
    print(line(progress));
  }

  void show(const FinalsProgress& finals) {
    if (is_json_) {
      fmt::print("{}\n", nlohmann::json{{"finals", finals.stage},
                                        {"elapsed_s", finals.elapsed_s},
                                        {"left_s", number(finals.left_s)},
                                        {"variants", finals.variants},
                                        {"rounds", finals.rounds}}
                             .dump());
      std::fflush(stdout);
      return;
    }
    if (finals.stage == stage_ && finals.elapsed_s - last_finals_s_ < pause()) return;
    stage_ = finals.stage;
    last_finals_s_ = finals.elapsed_s;
    const std::string rounds = finals.rounds > 0 ? fmt::format(", round {}", finals.rounds) : "";
    const std::string left = std::isfinite(finals.left_s) ? fmt::format(", {} left", time_text(finals.left_s)) : "";
    print(fmt::format("finals within the model: {}, {} variants{}{}", finals.stage, finals.variants, rounds, left));
  }

 private:
  /// Seconds between two lines about much the same.
  double pause() const { return is_terminal_ ? 0.1 : 5; }

  void print(const std::string& text) {
    has_line_ = true;
    fmt::print(stderr, "{}{}{}", is_terminal_ ? "\r" : "", text, is_terminal_ ? "\033[K" : "\n");
    std::fflush(stderr);
  }

  static std::int64_t tasks_done(const search::TuneProgress& progress) {
    return std::count_if(progress.tasks.begin(), progress.tasks.end(), [](const auto& task) { return task.is_done; });
  }

  /// Fits on a wide terminal, whatever the kernel is called: what is wrapped cannot be written over.
  std::string line(const search::TuneProgress& progress) const {
    const search::TaskProgress& task = progress.tasks[progress.current];
    constexpr std::size_t kLongestName = 32;
    const std::string name =
        task.name.size() <= kLongestName ? task.name : task.name.substr(0, kLongestName - 3) + "...";
    const double gflops = gflops_of(task);
    const std::string speed =
        std::isfinite(gflops) ? fmt::format(", {:.1f} GFLOP/s, {:.0f} % of peak", gflops, gflops / peak_ * 100) : "";
    return fmt::format("{} of {} tasks done, {} trials, {} left | kernels {} -> {} ms | {:g} x {}: {} us{}",
                       tasks_done(progress), progress.tasks.size(), progress.trials, time_text(progress.left_s),
                       ms_text(progress.first_ns() * 1e-6), ms_text(progress.best_ns() * 1e-6), task.weight, name,
                       us_text(task.best_ns), speed);
  }

  bool is_json_, is_terminal_, has_line_ = false;
  double peak_, last_s_ = 0, last_finals_s_ = 0;
  std::string stage_;  ///< of the finals
};

void show_tasks(const search::TuneReport& report, double peak) {
  std::vector<const search::TaskProgress*> tasks;
  for (const search::TaskProgress& task : report.progress.tasks) tasks.push_back(&task);
  std::stable_sort(tasks.begin(), tasks.end(), [](const auto* a, const auto* b) {
    const auto time = [](const auto& task) { return std::isfinite(task.first_ns) ? task.weight * task.first_ns : 0; };
    return time(*a) > time(*b);
  });
  Table table(
      {"calls", "trials", "failed", "default us", "tuned us", "speedup", "of peak", "known before", "task: candidate"});
  for (const search::TaskProgress* task : tasks) {
    const bool is_known = std::isfinite(task->first_ns) && std::isfinite(task->best_ns);
    table.add({fmt::format("{:g}", task->weight), fmt::format("{}", task->trials), fmt::format("{}", task->failures),
               us_text(task->first_ns), us_text(task->best_ns),
               is_known ? fmt::format("{:.2f}", task->first_ns / task->best_ns) : "",
               is_known ? fmt::format("{:.0f} %", task->flops / task->best_ns / peak * 100) : "", task->reused,
               task->best.empty() ? task->name : fmt::format("{}: {}", task->name, task->best)});
  }
  fmt::print("{}", table.text());
}

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::Assembled:
      return "each task has what is fastest within the model";
    case Verdict::Alone:
      return "each task has what is fastest alone, which is fastest together as well";
    case Verdict::Default:
      return "nothing is surely faster than the default";
  }
  return "";
}

void show_finals(const ModelTuneReport& report) {
  if (!report.finals_error.empty()) fmt::print("no finals: {}\n", report.finals_error);
  if (!report.finals || report.finals->tasks.empty()) return;
  const FinalsReport& finals = *report.finals;
  std::size_t defaults = 0, changed = 0;
  for (const FinalsDecision& task : finals.tasks) {
    defaults += task.is_default ? 1 : 0;
    changed += task.is_changed ? 1 : 0;
  }
  fmt::print("finals: {} tasks, {} variants, {} rounds in {}; {} tasks changed, {} back to the default\n",
             finals.tasks.size(), finals.variants, finals.rounds, time_text(finals.seconds), changed, defaults);
  fmt::print("the model: {} ms by default, {} ms with what is fastest alone, {} ms now: {}\n",
             ms_text(finals.default_ns * 1e-6), ms_text(finals.alone_ns * 1e-6), ms_text(finals.chosen_ns * 1e-6),
             verdict_text(finals.verdict));
}

/// How tuning ended, if not for want of time or candidates.
std::string end_text(const ModelTuneReport& report, const std::string& target_latency) {
  if (report.is_stopped) return ", stopped";
  if (report.is_target_reached)
    return fmt::format(", ended as the kernels, timed alone, take no more than {} (--target-latency)", target_latency);
  return report.is_patience_over ? ", ended as it gained nothing any more (--patience)" : "";
}

void show_report(const ModelTuneReport& report, const TuneOptions& options, const std::string& target, double peak) {
  const search::TuneProgress& progress = report.progress;
  fmt::print("{} on {}: {} trials of {} tasks in {}{}\n", options.model.model, target, progress.trials,
             progress.tasks.size(), time_text(progress.elapsed_s), end_text(report, options.target_latency));
  if (!progress.tasks.empty()) show_tasks(report, peak);
  if (report.transferred > 0) fmt::print("the cost model began with {} trials of other tasks\n", report.transferred);
  if (progress.best_ns() > 0)
    fmt::print("kernels in all: {} ms before, {} ms now\n", ms_text(progress.first_ns() * 1e-6),
               ms_text(progress.best_ns() * 1e-6));
  show_finals(report);
}

/// The same for machines: one object, the last line. "finals" is what tells it from a trial.
void show_report_json(const ModelTuneReport& report, double peak) {
  const search::TuneProgress& progress = report.progress;
  const bool is_decided = report.finals && !report.finals->tasks.empty();
  nlohmann::json whole{{"finals", is_decided ? "decided" : "none"},
                       {"elapsed_s", progress.elapsed_s},
                       {"trials", progress.trials},
                       {"is_stopped", report.is_stopped},
                       {"is_target_reached", report.is_target_reached},
                       {"is_patience_over", report.is_patience_over},
                       {"model_first_ns", progress.first_ns()},
                       {"model_best_ns", progress.best_ns()},
                       {"tasks", nlohmann::json::array()}};
  for (const search::TaskProgress& task : progress.tasks)
    whole["tasks"].push_back({{"name", task.name},
                              {"key", task.key},
                              {"weight", task.weight},
                              {"trials", task.trials},
                              {"failures", task.failures},
                              {"reused", task.reused},
                              {"first_ns", number(task.first_ns)},
                              {"best_ns", number(task.best_ns)},
                              {"gflops", number(gflops_of(task))},
                              {"share_of_peak", number(gflops_of(task) / peak)},
                              {"candidate", task.best.empty() ? nlohmann::json() : nlohmann::json::parse(task.best)}});
  if (is_decided) {
    whole["finals_s"] = report.finals->seconds;
    whole["model_default_ns"] = report.finals->default_ns;
    whole["model_alone_ns"] = report.finals->alone_ns;
    whole["model_chosen_ns"] = report.finals->chosen_ns;
    for (const FinalsDecision& decision : report.finals->tasks)
      for (nlohmann::json& task : whole["tasks"])
        if (task["key"] == decision.key)
          task.update({{"is_default", decision.is_default}, {"is_changed", decision.is_changed}});
  }
  fmt::print("{}\n", whole.dump());
}

/// Says what the result is good for: the command that runs it, or why there is none.
Result<void> show_use(const ModelTuneReport& report, const Session& session, std::span<const Value> inputs,
                      const TuneOptions& options, const std::string& space, const std::string& file) {
  const std::vector<search::TaskProgress>& tasks = report.progress.tasks;
  if (tasks.empty()) {
    HONE_TRY(const std::vector<TaskUse> uses, session.tasks(inputs));
    if (uses.empty())
      fmt::print("nothing to tune: a run on these inputs calls no compiled kernels\n");
    else
      fmt::print("nothing to tune: there is only one candidate for each of the {} kernels in the space '{}'\n",
                 uses.size(), space);
  } else if (std::all_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.best.empty(); })) {
    fmt::print("no kernel has a result yet; the trials are stored in {}\n", file);
  } else {
    fmt::print("stored in {}; from now on used by: {}\n", file, run_line(session, options.model));
  }
  return {};
}

/// "5ms" or "800us" in seconds; 0 for an empty text.
Result<double> parse_latency(const std::string& text) {
  if (text.empty()) return 0;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double factor = unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : unit == "s" ? 1 : 0;
  if (end == text.c_str() || factor == 0 || !(number > 0) || !std::isfinite(number))
    return error(ErrorCode::InvalidArgument,
                 "--target-latency is '{}', expected a number above 0 with us, ms or s: 800us, 5ms", text);
  return number * factor;
}

/// Sets after how many trials, if ever, Droplet Search goes on.
Result<void> use_explore(const TuneOptions& options, search::TunerOptions& tuner) {
  constexpr std::size_t kPublished = 300;
  const bool is_never = options.exploit == "none";
  if (!options.exploit.empty() && options.explore >= 0 && (options.explore == 0) != is_never)
    return error(ErrorCode::InvalidArgument, "--explore is '{}', but --exploit is '{}', with which {} allowed",
                 options.explore, options.exploit, is_never ? "only 0 is" : "1 and more are");
  if (options.explore >= 0) tuner.explore = static_cast<std::size_t>(options.explore);
  if (is_never) tuner.explore = 0;
  if (options.exploit == "droplet" && tuner.explore == 0) tuner.explore = kPublished;
  return {};
}

Result<void> run_tune(const TuneOptions& options) {
  HONE_TRY(const double seconds, parse_time("--time", options.time));
  search::TunerOptions tuner;
  HONE_TRY(tuner.target_seconds, parse_latency(options.target_latency));
  HONE_TRY(search::use_preset(options.preset, tuner));
  HONE_TRY(use_explore(options, tuner));
  if (!options.space.empty()) tuner.space = options.space;
  if (!options.search.empty()) tuner.search = options.search;
  if (!options.cost_model.empty()) tuner.cost_model = options.cost_model;
  tuner.transfer = options.transfer == "on";
  tuner.cost_model_file = options.cost_model_file;
  tuner.save_cost_model = options.save_cost_model;
  tuner.search_options.evolutionary.crossover = options.crossover;
  if (options.early_stop >= 0) tuner.early_stop = static_cast<std::size_t>(options.early_stop);
  ModelOptions model = options.model;
  const std::string file = records_file(model);
  if (file.empty())
    return error(ErrorCode::InvalidArgument, "--records is 'none': tuning needs a file to keep its results in");
  model.records = "none";  // what is tuned is compared with the defaults
  HONE_TRY(const Session session, load_model(model, /*keeps_tasks=*/true));
  HONE_TRY(const std::vector<Value> inputs, make_inputs(session, model, Missing::Random));
  HONE_TRY(const codegen::Target target, codegen::parse_target(session.target()));
  HONE_TRY(const double peak, measure::fma_peak(target, session.threads()));
  warn_if_busy();

  ProgressView view(options.is_json, peak);
  const StopOnInterrupt guard;
  tuner.seed = static_cast<std::uint64_t>(options.seed);
  tuner.seconds = seconds;
  tuner.trials = options.trials;
  tuner.trials_per_task = options.trials_per_task;
  tuner.stop = &StopOnInterrupt::requested();
  tuner.progress = [&](const search::TuneProgress& progress) { view.show(progress); };
  const ModelTuning tuning{.has_finals = !options.has_no_finals,
                           .patience = static_cast<double>(options.patience) / 100,
                           .progress = [&](const FinalsProgress& finals) { view.show(finals); }};
  HONE_TRY(const ModelTuneReport report, tune(session, inputs, tuner, file, tuning));
  if (options.is_json)
    show_report_json(report, peak);
  else
    show_report(report, options, session.target(), peak);
  if (!report.records_error.empty())
    return error(ErrorCode::Unsupported, "not everything that was found is stored: {}", report.records_error);
  if (!report.model_error.empty()) return error(ErrorCode::Unsupported, "{}", report.model_error);
  if (!options.is_json) HONE_TRY(show_use(report, session, inputs, options, tuner.space, file));
  if (!options.is_json && !options.save_cost_model.empty())
    fmt::print("what the cost model learnt is in {}\n", options.save_cost_model);
  return {};
}

void add_share(CLI::App& parser, const char* name, double& share, const char* help) {
  const auto check = [](const std::string& text) {
    double found = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), found);
    const bool is_share = status == std::errc() && end == text.data() + text.size() && found >= 0 && found <= 1;
    return is_share ? std::string() : fmt::format("'{}' given, allowed are numbers in 0..1", text);
  };
  parser.add_option(name, share, help)->type_name("SHARE")->check(check);
}

}  // namespace

Action add_tune(CLI::App& parser) {
  const auto options = std::make_shared<TuneOptions>();
  options->model.add_to(parser);
  add_text(parser, "--time", options->time, "TIME", "how long to search, finals included: 90s, 5m or 1h (5m)");
  constexpr std::int64_t kWholeTime = 100;
  add_number(
      parser, "--patience", options->patience, 0, kWholeTime,
      "end when for this percentage of the time so far the kernels gained less than 0.1 % together; 0: never (25)");
  add_text(parser, "--target-latency", options->target_latency, "TIME",
           "end when the kernels that are tuned, timed alone, take no longer in one run: 800us or 5ms (never)");
  parser.add_flag("--no-finals", options->has_no_finals,
                  "adopt what is fastest alone, without timing the best candidates within the running model; what "
                  "earlier finals decided stays");
  constexpr std::int64_t kMostTrials = 1'000'000'000;
  add_number(parser, "--trials", options->trials, 1, kMostTrials, "how many candidates to measure at most (all)");
  add_number(parser, "--trials-per-task", options->trials_per_task, 1, kMostTrials,
             "how many candidates of each task to measure at most (all)");
  add_number(parser, "--early-stop", options->early_stop, 0, kMostTrials,
             "trials of a task without a gain after which it is left alone; 0: never (the preset's)");
  add_text(parser, "--preset", options->preset, "auto|hidet|autotvm|ansor|ansor-droplet",
           "the space, search and cost model of a published system (auto)");
  add_text(parser, "--space", options->space, "auto|mapping|sketch|ansor|template",
           "which candidates there are; auto: the mapping space, and sketches where it has nothing to decide (the "
           "preset's)");
  add_text(parser, "--search", options->search, "auto|exhaustive|random|grid|genetic|annealing|evolutionary|droplet",
           "where to look next; auto: everywhere in a small space, evolutionary in a large one (the preset's)");
  add_text(parser, "--cost-model", options->cost_model,
           fmt::format("{}", fmt::join(any_cost_model_names(), "|")).c_str(),
           "what looks fast; auto: a trained network, corrected by boosted trees as soon as something is measured (the "
           "preset's)");
  add_text(parser, "--cost-model-file", options->cost_model_file, "FILE",
           "the network of auto, tlp and mtl (HONE_COST_MODEL, or the one that comes with hone); or what "
           "--save-cost-model wrote for this cost model, which then learns nothing from records");
  add_text(parser, "--save-cost-model", options->save_cost_model, "FILE",
           "where to write what the cost model knows at the end; --cost-model-file may name the same file, even before "
           "it is there (nowhere)");
  add_text(parser, "--transfer", options->transfer, "on|off",
           "whether the cost model begins with what records say of other tasks on this target (on)");
  add_number(parser, "--explore", options->explore, 0, kMostTrials,
             "trials of a task after which Droplet Search goes on from the best; 0: never (the preset's)");
  add_text(parser, "--exploit", options->exploit, "droplet|none",
           "what goes on after --explore; with droplet, that is 300 trials unless the option or the preset says "
           "otherwise (the preset's)");
  add_share(parser, "--crossover", options->crossover,
            "of the children in the evolutionary search, the share with two parents, 0..1 (0)");
  add_number(parser, "--tuning-seed", options->seed, 0, kMostTrials, "of random decisions of the search (1)");
  parser.add_flag("--json", options->is_json,
                  "print a line of JSON for each trial, each round of the finals, and what came of it, instead");
  return [options] { return run_tune(*options); };
}

}  // namespace hone::command
