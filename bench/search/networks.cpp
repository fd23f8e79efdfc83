// What networks that were trained before save: search time, and all of it.

#include <chrono>
#include <fmt/format.h>
#include <optional>

#include "claims.h"
#include "model_search.h"

#include "hone/first_choice.h"
#include "hone/network_model.h"
#include "hone/space/candidate.h"

namespace hone::bench {
namespace {

/// A network that was trained before needs no rounds to learn from, so they can be short: every task has had one
/// sooner. What is tried then is the best of more candidates.
constexpr std::size_t kShortRound = 2, kManyPerTrial = 32;

/// A cost model to compare with trees.
struct Contender {
  std::string name, model, file;
};

std::string seconds_text(const std::optional<ModelSearch::Lead>& lead) {
  return lead ? fmt::format("{:.1f}", lead->at_s) : "never";
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
    const How by_trees{.space = options.published ? "ansor" : "sketch",
                       .search = "evolutionary",
                       .cost_model = "gbt",
                       .trials = trials,
                       .seed = options.seed,
                       .tries_rules_first = false};
    HONE_TRY(ModelSearch trees, search_model(tasks, by_trees, 0, options.target));
    std::vector<bool> counts;
    for (std::size_t i = 0; i < tasks.size(); ++i) counts.push_back(trees.last(i) != nullptr);
    std::vector<std::string> row = {network, "", fmt::format("{:.1f}", trees.seconds)};
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      How by_network = by_trees;
      by_network.cost_model = contenders[i].model;
      by_network.cost_model_file = contenders[i].file;
      by_network.trials = 0;
      by_network.seconds = trees.seconds;
      by_network.batch = kShortRound;
      by_network.per_trial = kManyPerTrial;
      HONE_TRY(ModelSearch led, search_model(tasks, by_network, kSurely * trees.tried_ns, options.target));
      HONE_TRY(const double goal, time_leads(tasks, counts, led, trees, options.target));
      print_difference(tasks, counts, led, trees);
      if (row[1].empty()) row[1] = fmt::format("{:.3f}", goal * 1e-6);
      const auto there = led.reached(kEqual * goal, tasks, counts), close = led.reached(kNear * goal, tasks, counts);
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
