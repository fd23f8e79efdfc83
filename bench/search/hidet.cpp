// Trying every mapping against searching the sketches.

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include "claims.h"
#include "model_search.h"

namespace hone::bench {
namespace {

constexpr double kClaimed = 11;
constexpr std::size_t kRatioCell = 7;

/// What all tasks of a model take by their last leads.
double end_ns(ModelSearch& search, const std::vector<search::TuneTask>& tasks, const std::vector<bool>& counts) {
  double ns = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!counts[i]) continue;
    const ModelSearch::Lead* const lead = search.last(i);
    ns += tasks[i].weight * (lead ? lead->ns : std::numeric_limits<double>::infinity());
  }
  return ns;
}

/// The row of a model.
Result<std::vector<std::string>> compare(const std::string& model, const ClaimOptions& options) {
  HONE_TRY(const std::vector<search::TuneTask> tasks, tasks_of(options.models / (model + ".onnx"), options.target));
  const How mappings{.space = "mapping",
                     .search = "exhaustive",
                     .cost_model = options.ranked > 0 ? "tlp" : "none",
                     .trials_per_task = options.ranked,
                     .seed = options.seed};
  HONE_TRY(ModelSearch mapping, search_model(tasks, mappings, 0, options.target));
  const double most_s = options.seconds > 0 ? options.seconds : (kClaimed + 1) * mapping.seconds;
  fmt::print(stderr, "{}: {} mappings in {:.1f} s\n", model, mapping.trials, mapping.seconds);
  const How by_trees{.space = options.published ? "ansor" : "sketch",
                     .search = "evolutionary",
                     .cost_model = "ansor",
                     .seconds = most_s,
                     .seed = options.seed,
                     .tries_rules_first = false};
  HONE_TRY(ModelSearch sketch, search_model(tasks, by_trees, kSurely * mapping.tried_ns, options.target));
  std::vector<bool> counts;
  for (std::size_t i = 0; i < tasks.size(); ++i) counts.push_back(mapping.last(i) && sketch.has_choice[i]);
  HONE_TRY(const double goal, time_leads(tasks, counts, sketch, mapping, options.target));
  print_difference(tasks, counts, sketch, mapping);
  const auto there = sketch.reached(kEqual * goal, tasks, counts);
  return std::vector<std::string>{model,
                                  std::to_string(std::count(counts.begin(), counts.end(), true)),
                                  std::to_string(mapping.trials),
                                  fmt::format("{:.1f}", mapping.seconds),
                                  fmt::format("{:.3f}", goal * 1e-6),
                                  std::to_string(there ? there->trials : sketch.trials),
                                  there ? fmt::format("{:.1f}", there->at_s) : fmt::format("not in {:.0f}", most_s),
                                  fmt::format("{:.1f}", (there ? there->at_s : most_s) / mapping.seconds),
                                  fmt::format("{:.3f}", goal / end_ns(sketch, tasks, counts))};
}

}  // namespace

Result<Report> hidet_claim(const ClaimOptions& options) {
  const std::string title = std::string("Hidet: time to the same latency") +
                            (options.ranked > 0 ? ", mappings ranked by the network" : "") +
                            (options.published ? ", against Ansor as published" : "");
  Report report{
      .claim = fmt::format("hidet{}{}", options.ranked > 0 ? "-ranked" : "", options.published ? "-published" : ""),
      .title = title,
      .how = fmt::format(
          "Whole models: {} of the mapping space of every task {} tried; how long does evolutionary search with "
          "Ansor's "
          "model in {} need until one run of all kernels takes no longer (within 1 %, what led each task timed in "
          "turns)? It is not told what the rules of hone would choose, gets {:g} times as long at most, and then "
          "counts "
          "as that; its speed at the end stands last. Bar: {:g} times as long.",
          options.ranked > 0
              ? fmt::format("what rules choose and the candidates that the network likes best, {} in all,",
                            options.ranked)
              : "every candidate",
          options.ranked > 0 ? "are" : "is",
          options.published ? "Ansor's space as published (tiles that divide extents, direct convolutions)"
                            : "the sketch space",
          kClaimed + 1, kClaimed),
      .columns = {"model", "tasks", "mappings", "mapping s", "kernels ms", "sketch trials", "sketch s", "ratio",
                  "speed at the end"},
      .rows = {},
      .results = {}};
  HONE_TRY(RowFile file, RowFile::open(options.rows,
                                       {{"seconds", fmt::format("{:g}", options.seconds)},
                                        {"against", options.published ? "ansor" : "sketch"},
                                        {"ranked", std::to_string(options.ranked)},
                                        {"seed", std::to_string(options.seed)},
                                        {"target", codegen::to_string(options.target)}},
                                       report.columns.size()));
  std::vector<double> ratios;
  const auto begin = std::chrono::steady_clock::now();
  for (const char* model : {"mobilenet_v2", "bert_base", "resnet18", "resnet50"}) {
    if (!options.wants(model)) continue;
    if (!file.find(model)) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (options.stop_after_s > 0 && elapsed.count() > options.stop_after_s) continue;
      HONE_TRY(std::vector<std::string> row, compare(model, options));
      fmt::print(stderr, "{}\n", fmt::join(row, "  "));
      HONE_TRY(file.add(std::move(row)));
    }
    const std::vector<std::string>& row = *file.find(model);
    HONE_TRY(ratios.emplace_back(), number_in(row, kRatioCell));
    report.rows.push_back(row);
  }
  const double ratio = geometric_mean(ratios);
  report.results = {fmt::format("the sketch search takes {:.1f} times as long over {} models (bar {:g}): {}", ratio,
                                ratios.size(), kClaimed, ratio >= kClaimed ? "met" : "missed")};
  return report;
}

}  // namespace hone::bench
