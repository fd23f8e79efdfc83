// What networks that were trained before save: search time, and all of it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "claims.h"
#include "runs.h"

#include "hone/first_choice.h"
#include "hone/model_tasks.h"
#include "hone/network_model.h"
#include "hone/search/tuner.h"
#include "hone/space/candidate.h"

namespace hone::bench {
namespace {

/// A network that was trained before needs no rounds to learn from, so they can be short: every task has had one
/// sooner. What is tried then is the best of more candidates.
constexpr std::size_t kShortRound = 2, kManyPerTrial = 32;

/// A search goes on until its trials say that it is so far below what it is to reach: they may have been lucky.
constexpr double kSurely = 0.97;

/// When a search is over.
struct Until {
  std::int64_t trials = 0;  ///< 0: no limit
  double seconds = 0;       ///< 0: no limit
  double ns = 0;            ///< of one run of all kernels, each by its fastest trial
};

/// The course of a search: which candidates led their tasks, and from when on.
struct Searched {
  struct Lead {
    std::size_t task;
    std::string candidate;
    double at_s;
    std::int64_t trials;
    double ns = 0;  ///< timed in turns with what is compared with
  };
  std::vector<Lead> leads;                                    ///< in the order of time
  double tried_ns = std::numeric_limits<double>::infinity();  ///< one run of all kernels by their fastest trials
  double seconds = 0;                                         ///< that the search took in all

  /// What led a task in the end; null if nothing did.
  Lead* last(std::size_t task) {
    const auto found = std::find_if(leads.rbegin(), leads.rend(), [&](const Lead& lead) { return lead.task == task; });
    return found == leads.rend() ? nullptr : &*found;
  }

  /// When one run of all kernels, each by what led then, took no longer than this; nothing if never.
  std::optional<Lead> reached(double ns, const std::vector<search::TuneTask>& tasks,
                              const std::vector<bool>& is_open) const {
    std::vector<double> of_task(tasks.size(), std::numeric_limits<double>::infinity());
    for (const Lead& lead : leads) {
      of_task[lead.task] = lead.ns;
      double sum = 0;
      for (std::size_t i = 0; i < tasks.size(); ++i) sum += is_open[i] ? tasks[i].weight * of_task[i] : 0;
      if (sum <= ns) return lead;
    }
    return std::nullopt;
  }
};

/// A cost model to compare with trees.
struct Contender {
  std::string name, model, file;
};

std::string seconds_text(const std::optional<Searched::Lead>& lead) {
  return lead ? fmt::format("{:.1f}", lead->at_s) : "never";
}

Result<std::vector<search::TuneTask>> tasks_of(const std::filesystem::path& file, const codegen::Target& target) {
  constexpr std::int64_t kSequence = 128;
  HONE_TRY(const auto found, hone::model_tasks(file, target, {{.name = "", .dims = {{"sequence", kSequence}}}}));
  if (!found[0]) return found[0].error();
  std::vector<search::TuneTask> tasks;
  for (const TaskUse& use : *found[0]) tasks.push_back({use.task, use.name, static_cast<double>(use.uses)});
  return tasks;
}

Result<Searched> search_network(const std::vector<search::TuneTask>& tasks, const std::string& model,
                                const std::string& file, const Until& until, const ClaimOptions& options) {
  std::atomic<bool> stop = false;
  Searched end;
  search::TunerOptions tuner;
  tuner.measurer.target = options.target;
  tuner.space = options.published ? "ansor" : "sketch";
  tuner.search = "evolutionary";
  tuner.cost_model = model;
  tuner.make_model = [&](std::string_view name, const cost::ModelOptions& made) {
    return make_any_cost_model(name, made, options.target, file);
  };
  tuner.trials = until.trials;
  tuner.seconds = until.seconds;
  tuner.seed = options.seed;
  tuner.tries_rules_first = false;
  if (!file.empty()) {
    tuner.batch = kShortRound;
    tuner.search_options.evolutionary.per_trial = kManyPerTrial;
  }
  tuner.stop = &stop;
  // What is adopted may be what rules choose, which no search is told of: a search's own trials count.
  std::vector<std::string> leading(tasks.size());
  tuner.progress = [&](const search::TuneProgress& progress) {
    if (stop) return;
    end.tried_ns = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const search::TaskProgress& task = progress.tasks[i];
      if (task.space_size <= 1) continue;
      end.tried_ns += task.weight * task.tried_ns;
      if (task.tried == leading[i]) continue;
      leading[i] = task.tried;
      end.leads.push_back({i, task.tried, progress.elapsed_s, progress.trials});
    }
    stop = end.tried_ns <= until.ns;
  };
  HONE_TRY(const search::TuneReport report, search::tune(tasks, tuner));
  end.seconds = report.progress.elapsed_s;
  return end;
}

/// Times what led each task of a search in turns with what led it at the end of the one it is compared with, and gives
/// what one run of all kernels of the latter takes. The fastest of many trials is a lucky one, and the more so the more
/// trials there were; so times of trials do not tell when a search was as far as another.
Result<double> time_leads(const std::vector<search::TuneTask>& tasks, Searched& search, Searched& goal,
                          const codegen::Target& target) {
  constexpr std::size_t kAtOnce = 7;
  double sum = 0;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    Searched::Lead* const rival = goal.last(task);
    if (!rival) continue;
    std::vector<Searched::Lead*> leads;
    for (Searched::Lead& lead : search.leads)
      if (lead.task == task) leads.push_back(&lead);
    std::vector<double> rival_ns;
    for (std::size_t begin = 0; begin == 0 || begin < leads.size(); begin += kAtOnce) {
      const std::size_t end = std::min(begin + kAtOnce, leads.size());
      std::vector<std::string> candidates = {rival->candidate};
      for (std::size_t i = begin; i < end; ++i) candidates.push_back(leads[i]->candidate);
      HONE_TRY(const std::vector<double> times,
               time_in_turns({tasks[task].name, tasks[task].task}, candidates, target));
      if (!std::isfinite(times[0]))
        return error(ErrorCode::Unsupported, "{}: what led in the end runs no more", tasks[task].name);
      rival_ns.push_back(times[0]);
      // In units of the rival, so that groups are comparable whatever the machine did between them.
      for (std::size_t i = begin; i < end; ++i) leads[i]->ns = times[i - begin + 1] / times[0];
    }
    const double ns = *std::min_element(rival_ns.begin(), rival_ns.end());
    rival->ns = ns;
    for (Searched::Lead* const lead : leads) lead->ns *= ns;
    sum += tasks[task].weight * ns;
  }
  return sum;
}

/// The tasks that make the difference between two searches.
void print_difference(const std::vector<search::TuneTask>& tasks, Searched& search, Searched& goal) {
  constexpr double kWorthTelling = 0.002;
  double sum = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (const Searched::Lead* const lead = goal.last(i)) sum += tasks[i].weight * lead->ns;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Searched::Lead *const mine = search.last(i), *const lead = goal.last(i);
    if (!lead) continue;
    if (!mine) {
      fmt::print(stderr, "  {} {}: nothing against {:.4f} ms\n", i, tasks[i].name, lead->ns * 1e-6);
      continue;
    }
    const double lost = tasks[i].weight * (mine->ns - lead->ns);
    if (std::abs(lost) > kWorthTelling * sum)
      fmt::print(stderr, "  {} {}: {:.4f} ms against {:.4f}, {:+.1f} % of the network; {} against {}\n", i,
                 tasks[i].name, mine->ns * 1e-6, lead->ns * 1e-6, 100 * lost / sum, mine->candidate, lead->candidate);
  }
}

}  // namespace

Result<Report> tlp_claim(const ClaimOptions& options) {
  if (options.networks.empty())
    return error(ErrorCode::InvalidArgument, "the claim tlp needs --network FILE, as hone cost-model train writes it");
  const std::int64_t trials = options.trials > 0 ? options.trials : 2000;
  const std::string title = "TLP: search time to the latency that boosted trees reach";
  Report report{
      .claim = options.published ? "tlp-published" : "tlp",
      .title = options.published ? title + " in Ansor's space" : title,
      .how = fmt::format(
          "{}, evolutionary search over all tasks of a network that no model was "
          "trained on: {} trials with Ansor's boosted trees, which learn as they go; how long "
          "does the same search need for that latency (summed over calls, within 1 %) "
          "with a network that was trained before and does not learn{}? It gets as long as the trees "
          "at most, and rounds of {}, chosen among more candidates; the trees have rounds of 16, "
          "after which they learn. No search is told what the rules of hone would choose. All kernels that "
          "were the fastest of a search at some time are timed again, in turns with those that the trees "
          "ended with, since the fastest of many trials is a lucky one. Bars: 9.1 "
          "times less with TLP, 4.7 with MTL-TLP on 7 % of the labels. Beside it, how long it "
          "takes to within 5 %.",
          options.published ? "Ansor's space as published (tiles that divide extents, direct convolutions)"
                            : "The sketch space",
          trials, options.learns ? ", and with one that trees correct, which learn from what is tried (auto)" : "",
          kShortRound),
      .columns = {"network", "trees ms", "trees s"},
      .rows = {},
      .results = {}};
  std::vector<Contender> contenders;
  for (const std::string& file : options.networks) {
    const std::string name = std::filesystem::path(file).stem().string();
    contenders.push_back({name, "tlp", file});
    if (options.learns) contenders.push_back({name + " corrected", "auto", file});
  }
  for (const Contender& one : contenders)
    report.columns.insert(report.columns.end(), {one.name + " 5 % s", one.name + " trials", one.name + " s", "ratio"});
  constexpr double kNear = 1.05;
  std::vector<std::vector<double>> ratios(contenders.size());
  for (const char* network : {"resnet50", "mobilenet_v2", "resnext50", "bert_base", "bert_tiny"}) {
    if (!options.wants(network)) continue;
    HONE_TRY(const std::vector<search::TuneTask> tasks,
             tasks_of(options.models / (std::string(network) + ".onnx"), options.target));
    HONE_TRY(Searched trees, search_network(tasks, "gbt", "", {.trials = trials}, options));
    std::vector<bool> is_open;
    for (std::size_t i = 0; i < tasks.size(); ++i) is_open.push_back(trees.last(i) != nullptr);
    std::vector<std::string> row = {network, "", fmt::format("{:.1f}", trees.seconds)};
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      HONE_TRY(Searched led, search_network(tasks, contenders[i].model, contenders[i].file,
                                            {.seconds = trees.seconds, .ns = kSurely * trees.tried_ns}, options));
      HONE_TRY(const double goal, time_leads(tasks, led, trees, options.target));
      print_difference(tasks, led, trees);
      if (row[1].empty()) row[1] = fmt::format("{:.3f}", goal * 1e-6);
      const auto there = led.reached(kEqual * goal, tasks, is_open), close = led.reached(kNear * goal, tasks, is_open);
      ratios[i].push_back(there ? trees.seconds / there->at_s : 1);
      row.insert(row.end(), {seconds_text(close), there ? std::to_string(there->trials) : "–", seconds_text(there),
                             there ? fmt::format("{:.1f}", ratios[i].back()) : "< 1"});
    }
    for (const std::string& cell : row) fmt::print(stderr, "{}  ", cell);
    fmt::print(stderr, "\n");
    report.rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < contenders.size(); ++i)
    report.results.push_back(fmt::format("{}: {:.1f} times less time, those that never got there counted as 1",
                                         contenders[i].name, geometric_mean(ratios[i])));
  return report;
}

Result<Report> zero_claim(const ClaimOptions& options) {
  const double seconds = options.seconds > 0 ? options.seconds : 30;
  Report report{
      .claim = "zero",
      .title = "Without any trial",
      .how = fmt::format("Every task of a model compiled to what the rules of the mapping space say, to what a "
                         "trained network chooses near that, and to the best that {:g} s of tuning found; the "
                         "three timed in turns, summed over kernels and calls. Bar: what the network chooses "
                         "reaches 0.85 of the speed of the tuned kernels.",
                         seconds),
      .columns = {"network", "tuned ms", "rules", "network's choice", "chosen by network", "ms to choose"},
      .rows = {},
      .results = {}};
  if (options.networks.size() > 1)
    return error(ErrorCode::InvalidArgument, "the claim zero takes one --network, not {}", options.networks.size());
  HONE_TRY(std::unique_ptr<cost::CostModel> model,
           make_any_cost_model("tlp", {}, options.target, options.networks.empty() ? "" : options.networks[0]));
  const FirstChoice first(std::make_shared<FirstModel>(std::move(model)));
  std::vector<double> by_rules, by_network;
  for (const char* network : {"resnet18", "resnet50", "vgg16", "mobilenet_v2", "efficientnet_b0", "squeezenet",
                              "inception_v3", "densenet121", "convnext_tiny", "vit_b16", "bert_base", "gpt2_64"}) {
    if (!options.wants(network)) continue;
    HONE_TRY(const std::vector<search::TuneTask> tasks,
             tasks_of(options.models / (std::string(network) + ".onnx"), options.target));
    search::TunerOptions tuner;
    tuner.measurer.target = options.target;
    tuner.seconds = seconds;
    tuner.seed = options.seed;
    HONE_TRY(const search::TuneReport tuned, search::tune(tasks, tuner));
    double sums[3] = {}, choosing_s = 0;
    std::size_t predicted = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const FirstCandidate chosen = first.choose(*tasks[i].task, options.target);
      choosing_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      predicted += chosen.is_predicted ? 1 : 0;
      const std::string rules = space::to_json(*chosen.space, chosen.space->first());
      const std::string& best = tuned.progress.tasks[i].best;
      HONE_TRY(const std::vector<double> times,
               time_in_turns({tasks[i].name, tasks[i].task},
                             {best.empty() ? rules : best, rules, space::to_json(*chosen.space, chosen.candidate)},
                             options.target));
      for (std::size_t k = 0; k < times.size(); ++k) sums[k] += times[k] * tasks[i].weight;
    }
    by_rules.push_back(sums[0] / sums[1]);
    by_network.push_back(sums[0] / sums[2]);
    report.rows.push_back({network, fmt::format("{:.3f}", sums[0] * 1e-6), fmt::format("{:.3f}", by_rules.back()),
                           fmt::format("{:.3f}", by_network.back()), fmt::format("{} of {}", predicted, tasks.size()),
                           fmt::format("{:.0f}", choosing_s * 1e3)});
    fmt::print(stderr, "{}: rules {:.3f}, network {:.3f} of the tuned speed, {} of {} tasks, {:.0f} ms\n", network,
               by_rules.back(), by_network.back(), predicted, tasks.size(), choosing_s * 1e3);
  }
  const double mean = geometric_mean(by_network);
  report.results = {fmt::format("the network's choice: {:.3f} of the tuned speed (bar 0.85): {}", mean,
                                mean >= 0.85 ? "met" : "missed"),
                    fmt::format("the rules: {:.3f}", geometric_mean(by_rules))};
  return report;
}

}  // namespace hone::bench
