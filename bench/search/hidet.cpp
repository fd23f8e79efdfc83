// Trying every mapping against searching the sketches.

#include <fmt/format.h>

#include "claims.h"
#include "runs.h"

#include "hone/space/candidate.h"
#include "hone/space/make_space.h"

namespace hone::bench {

Result<Report> hidet_claim(const ClaimOptions& options) {
  constexpr double kClaimed = 11;
  Report report{.claim = options.published ? "hidet-published" : "hidet",
                .title = options.published ? "Hidet: time to the same latency, against Ansor as published"
                                           : "Hidet: time to the same latency",
                .how = fmt::format(
                    "Tasks of ResNet-18: every candidate of the mapping space is tried; how long does evolutionary "
                    "search with Ansor's model in {} need for a kernel as fast (within 1 %, timed in "
                    "turns)? It is not told what the rules of hone would choose, gets 12 times as long at most, and "
                    "then counts as that. Bar: 11 times as long, over the sum of all tasks.",
                    options.published ? "Ansor's space as published (tiles that divide extents, direct convolutions)"
                                      : "the sketch space"),
                .columns = {"task", "mappings", "mapping s", "sketch s", "ratio"},
                .rows = {},
                .results = {}};
  HONE_TRY(const std::vector<NamedTask> all, model_tasks(options.models / "resnet18.onnx", options.target, "Conv"));
  constexpr std::size_t kChosen = 4;
  const std::size_t step = options.all ? 1 : std::max<std::size_t>(1, all.size() / kChosen);
  double mapping_s = 0, sketch_s = 0;
  for (std::size_t i = 0; i < all.size(); i += step) {
    const NamedTask& task = all[i];
    if (!options.wants(task.name)) continue;
    HONE_TRY(const Run mapping, run(task,
                                    {.space = "mapping",
                                     .search = "exhaustive",
                                     .cost_model = "none",
                                     .trials = options.trials,
                                     .seed = options.seed},
                                    options.target));
    const double most_s = (kClaimed + 1) * mapping.elapsed_s;
    HONE_TRY(const Run sketch, run(task,
                                   {.space = options.published ? "ansor" : "sketch",
                                    .search = "evolutionary",
                                    .cost_model = "ansor",
                                    .seconds = options.seconds > 0 ? options.seconds : most_s,
                                    .seed = options.seed,
                                    .tries_rules_first = false},
                                   options.target));
    HONE_TRY(const auto reached, first_to_reach(sketch, task, mapping.best, options.target));
    mapping_s += mapping.elapsed_s;
    sketch_s += reached ? reached->at_s : most_s;
    fmt::print(stderr, "{}: {} mappings in {:.1f} s, sketches {}\n", task.name, mapping.trials.size(),
               mapping.elapsed_s, reached ? fmt::format("{:.1f} s", reached->at_s) : "never");
    report.rows.push_back({task.name, std::to_string(mapping.trials.size()), fmt::format("{:.1f}", mapping.elapsed_s),
                           reached ? fmt::format("{:.1f}", reached->at_s) : fmt::format("not in {:.0f}", most_s),
                           fmt::format("{:.1f}", (reached ? reached->at_s : most_s) / mapping.elapsed_s)});
  }
  const double ratio = mapping_s > 0 ? sketch_s / mapping_s : 0;
  report.results = {fmt::format("the sketch search takes {:.1f} times as long (bar 11): {}", ratio,
                                ratio >= kClaimed ? "met" : "missed")};
  return report;
}

}  // namespace hone::bench
