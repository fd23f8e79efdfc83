/// Scores cost models on the networks for testing: which share of the best speed their favourites reach (top-1, top-5),
/// and how many candidates they score in a second.
///
///     bench_cost_model DATA [MODEL.onnx...] [--margin X...] [--only-networks] [--worst N] [--seed N]
///
/// Beside the networks it scores choosing at random, the rules that choose without a model, and boosted trees fitted to
/// the training part of the same data. Prints a table to stderr and one JSON line per figure to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "hone/cost/baseline_trees.h"
#include "hone/cost/evaluate.h"
#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/network.h"
#include "hone/space/make_space.h"
#include "hone/support/rng.h"

namespace hone::bench {
namespace {

struct CostModelBench {
  std::string data;
  std::vector<std::string> models;
  std::vector<double> margins;
  std::uint64_t seed = 1;
  bool only_networks = false;
  std::size_t worst = 0;
};

void print(const std::string& model, const std::string& target, const std::vector<cost::TopScores>& scores,
           std::uint64_t seed, double per_second = 0) {
  const char* commit = std::getenv("HONE_COMMIT");
  for (const cost::TopScores& one : scores) {
    const std::string network = one.network.empty() ? "all" : one.network;
    fmt::print(stderr, "{:<28} {:<14} {:>6.4f} {:>6.4f} {:>5}  {}\n", model, network, one.top_1, one.top_5, one.tasks,
               target);
    fmt::print("{}\n", nlohmann::json{{"bench", "cost_model"},
                                      {"commit", commit ? commit : "unknown"},
                                      {"model", model},
                                      {"target", target},
                                      {"network", network},
                                      {"seed", seed},
                                      {"tasks", one.tasks},
                                      {"top_1", one.top_1},
                                      {"top_5", one.top_5},
                                      {"candidates_per_second", per_second}}
                           .dump());
  }
}

/// What choosing blindly gives: the mean over many random orders.
std::vector<cost::TopScores> blind_scores(const cost::Dataset& data, const cost::TrainingSet& test, std::size_t target,
                                          std::uint64_t seed) {
  constexpr int kOrders = 30;
  Rng rng(seed);
  std::vector<cost::TopScores> mean;
  for (int order = 0; order < kOrders; ++order) {
    std::vector<double> scores;
    for (std::size_t i = 0; i < test.size(); ++i) scores.push_back(rng.unit());
    const std::vector<cost::TopScores> found =
        cost::evaluate_networks(data, test, target, scores, cost::is_test_network);
    if (mean.empty()) {
      mean = found;
      for (cost::TopScores& one : mean) one.top_1 = one.top_5 = 0;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      mean[i].top_1 += found[i].top_1 / kOrders;
      mean[i].top_5 += found[i].top_5 / kOrders;
    }
  }
  return mean;
}

/// The hash of the program that the rules of the mapping space choose for a task without any model: of its first
/// candidate. Empty if there is none.
std::string hash_of_rules(const cost::DatasetTask& known, const codegen::Target& target) {
  space::Task task;
  for (const cost::DatasetTask::Algorithm& algorithm : known.algorithms) {
    const Result<ir::Function> naive = ir::parse_function(algorithm.text);
    if (!naive) return "";
    task.algorithms.push_back({algorithm.name, *naive});
  }
  if (task.algorithms.empty()) return "";
  task.constants = known.constants;
  const Result<std::unique_ptr<space::Space>> mapping = space::make_space("mapping", task, target);
  if (!mapping) return "";
  const Result<schedule::Schedule> built = (*mapping)->build((*mapping)->first());
  return built ? ir::to_string(ir::structural_hash(built->program())) : "";
}

/// 1 for what the rules choose, and 0 for all others; nothing if that was not measured of nine tasks in ten.
Result<std::optional<std::vector<double>>> rule_scores(const cost::Dataset& data, const cost::TrainingSet& test,
                                                       std::size_t target) {
  constexpr double kEnough = 0.9;
  HONE_TRY(const codegen::Target machine, codegen::parse_target(data.targets[target]));
  std::map<std::uint32_t, std::string> hashes;
  std::set<std::uint32_t> found;
  std::vector<double> scores;
  for (std::size_t i = 0; i < test.size(); ++i) {
    const std::uint32_t task = test.tasks[i];
    if (!hashes.contains(task)) hashes[task] = hash_of_rules(data.tasks[task], machine);
    const bool is_chosen = data.programs[test.programs[i]].hash == hashes[task] && !std::isnan(test.label(i, target));
    if (is_chosen) found.insert(task);
    scores.push_back(is_chosen ? 1 : 0);
  }
  if (static_cast<double>(found.size()) < kEnough * static_cast<double>(hashes.size())) return std::nullopt;
  return scores;
}

Result<void> score_baselines(const cost::Dataset& data, std::uint64_t seed) {
  HONE_TRY(const cost::TrainingSet training, cost::make_training_set(data, "stores", cost::Part::Training));
  HONE_TRY(const cost::TrainingSet test, cost::make_training_set(data, "stores", cost::Part::Test));
  for (std::size_t t = 0; t < data.targets.size(); ++t) {
    print("random choice", data.targets[t], blind_scores(data, test, t, seed), seed);
    HONE_TRY(const std::optional<std::vector<double>> rules, rule_scores(data, test, t));
    if (rules)
      print("rules", data.targets[t], cost::evaluate_networks(data, test, t, *rules, cost::is_test_network), seed);
    HONE_TRY(const std::vector<double> scores, cost::baseline_tree_scores(training, test, t, seed));
    print("boosted trees", data.targets[t], cost::evaluate_networks(data, test, t, scores, cost::is_test_network),
          seed);
  }
  return {};
}

/// The tasks whose favourites cost the networks for testing most.
void print_worst(const cost::Dataset& data, const cost::TrainingSet& test, const HeadScores& head, std::size_t most) {
  struct Loss {
    double seconds;
    std::string text;
  };
  std::vector<Loss> losses;
  for (const cost::TaskScore& one : cost::evaluate_each_task(data, test, head.target, head.scores))
    for (const auto& [network, calls] : data.tasks[one.task].networks)
      if (cost::is_test_network(network))
        losses.push_back({calls * (one.top_1 - one.best),
                          fmt::format("{:<14} {:>2.0f} x {:>8.4f} ms, top-1 {:.3f}, top-5 {:.3f}: {}, {} Mflop",
                                      network, calls, one.best * 1e3, one.best / one.top_1, one.best / one.top_5,
                                      data.tasks[one.task].name, std::llround(data.tasks[one.task].flops * 1e-6))});
  std::sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.seconds > b.seconds; });
  for (std::size_t i = 0; i < std::min(most, losses.size()); ++i)
    fmt::print(stderr, "  loses {:>7.3f} ms: {}\n", losses[i].seconds * 1e3, losses[i].text);
}

/// What is tested with, by the language of its sentences: written once for all networks that read it.
using TestSets = std::map<std::string, cost::TrainingSet>;

Result<void> score_network(const cost::Dataset& data, const std::string& file, const CostModelBench& options,
                           TestSets& sets) {
  const std::vector<double>& margins = options.margins;
  const std::uint64_t seed = options.seed;
  HONE_TRY(Network network, Network::load(file));
  const std::string language = cost::language_of(network.spec());
  if (!sets.contains(language)) {
    HONE_TRY(const std::vector<cost::ComputeUnit> units, compute_units(data));
    HONE_TRY(sets[language], cost::make_training_set(data, language, cost::Part::Test, units));
  }
  const cost::TrainingSet& test = sets.at(language);
  std::vector<std::size_t> targets;  // those that it was trained for
  for (std::size_t t = 0; t < data.targets.size(); ++t)
    if (std::ranges::find(network.spec().targets, data.targets[t]) != network.spec().targets.end())
      targets.push_back(t);
  HONE_TRY(const std::vector<HeadScores> heads, score_targets(network, data, test, targets));
  for (const HeadScores& head : heads) {
    const std::string& target = data.targets[head.target];
    print(std::filesystem::path(file).stem().string(), target,
          cost::evaluate_networks(data, test, head.target, head.scores, cost::is_test_network), seed, head.per_second);
    fmt::print(stderr, "{:.0f} candidates a second\n", head.per_second);
    print_worst(data, test, head, options.worst);
    if (margins.empty()) continue;
    HONE_TRY(const std::optional<std::vector<double>> rules, rule_scores(data, test, head.target));
    if (!rules) return error(ErrorCode::NotFound, "--margin: what rules choose was not measured on '{}'", target);
    for (const double margin : margins) {
      std::vector<double> both = head.scores;
      for (std::size_t i = 0; i < both.size(); ++i) both[i] += margin * (*rules)[i];
      print(fmt::format("{}, or rules within {:g}", std::filesystem::path(file).stem().string(), margin), target,
            cost::evaluate_networks(data, test, head.target, both, cost::is_test_network), seed);
    }
  }
  return {};
}

Result<void> run(const CostModelBench& options) {
  HONE_TRY(const cost::Dataset data, cost::read_dataset(options.data));
  fmt::print(stderr, "{:<28} {:<14} {:>6} {:>6} {:>5}  {}\n", "model", "network", "top-1", "top-5", "tasks", "target");
  if (!options.only_networks) HONE_TRY(score_baselines(data, options.seed));
  TestSets sets;
  for (const std::string& model : options.models) HONE_TRY(score_network(data, model, options, sets));
  return {};
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::bench::CostModelBench options;
  CLI::App app("Scores cost models on the networks for testing");
  app.add_option("data", options.data, "the data set")->required();
  app.add_option("models", options.models, "networks, as hone cost-model train writes them");
  app.add_option("--margin", options.margins, "choose as the rules do unless something scores better by this");
  app.add_flag("--only-networks", options.only_networks, "leave out what is fitted here");
  app.add_option("--worst", options.worst, "show so many of the tasks that lose most by what a network chooses");
  app.add_option("--seed", options.seed, "of the trees and of choosing at random");
  CLI11_PARSE(app, argc, argv);
  const hone::Result<void> status = hone::bench::run(options);
  if (status) return 0;
  fmt::print(stderr, "bench_cost_model: {}\n", status.error().message);
  return 2;
}
