// What the sketch space finds in ten seconds, as a share of the multiply-add peak.

#include <fmt/format.h>

#include "claims.h"
#include "runs.h"

namespace hone::bench {

Result<Report> sketch_claim(const ClaimOptions& options) {
  const double seconds = options.seconds > 0 ? options.seconds : 10;
  Report report{
      .claim = "sketch",
      .title = "The sketch space in ten seconds",
      .how = fmt::format("Evolutionary search with Ansor's model in the sketch space, {:g} s for each task, nothing "
                         "known before; then the adopted kernel and the multiply-add loop in turns, each "
                         "the best of 15 samples, the median of 15 ratios. MetaSchedule takes 82, 225 and 235 s on "
                         "such a machine for 97 % "
                         "of the product and what the bars say of the convolutions.",
                         seconds),
      .columns = {"task", "threads", "candidates", "trials", "best after s", "of peak", "bar"},
      .rows = {},
      .results = {}};
  struct Entry {
    NamedTask task;
    double bar;
  };
  for (const int threads : {1, 2}) {
    codegen::Target target = options.target;
    target.threads = threads;
    std::vector<Entry> entries;
    for (const Weights weights : {Weights::Variable, Weights::Constant}) {
      HONE_TRY(NamedTask product, product_task(512, 512, 512, weights));
      entries.push_back({std::move(product), 0.95});
    }
    HONE_TRY(NamedTask kernel3, conv_task({.in = 128, .out = 128, .size = 28, .kernel = 3}, target));
    entries.push_back({std::move(kernel3), 0.85});
    HONE_TRY(NamedTask kernel1, conv_task({.in = 256, .out = 64, .size = 56, .kernel = 1}, target));
    entries.push_back({std::move(kernel1), 0.88});
    for (const Entry& entry : entries) {
      if (!options.wants(entry.task.name)) continue;
      HONE_TRY(const Run found, run(entry.task,
                                    {.space = "sketch",
                                     .search = "evolutionary",
                                     .cost_model = "ansor",
                                     .seconds = seconds,
                                     .seed = options.seed},
                                    target));
      HONE_TRY(const double share, share_of_peak(entry.task, found.best, target));
      double best_at = 0;
      for (const Tried& tried : found.trials)
        if (tried.candidate == found.best) best_at = tried.at_s;
      fmt::print(stderr, "{} {} {:.3f} {}\n", entry.task.name, threads, share, found.best);
      report.rows.push_back({entry.task.name, std::to_string(threads),
                             fmt::format("{:.1e}", static_cast<double>(found.space_size)),
                             std::to_string(found.trials.size()), fmt::format("{:.1f}", best_at),
                             fmt::format("{:.1f} %", share * 100), fmt::format("{:.0f} %", entry.bar * 100)});
      report.results.push_back(fmt::format("{}, {} threads: {:.1f} % of peak (bar {:.0f} %): {}", entry.task.name,
                                           threads, share * 100, entry.bar * 100,
                                           share >= entry.bar ? "met" : "missed"));
    }
  }
  return report;
}

}  // namespace hone::bench
