// Trials that searches with a cost model need for what random search finds.

#include <array>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "claims.h"
#include "runs.h"

namespace hone::bench {
namespace {

std::string trials_text(const std::optional<Reached>& reached, std::size_t limit) {
  return reached ? std::to_string(reached->trials) : fmt::format("not in {}", limit);
}

/// A search that never gets there counts as if its next trial did: the ratio is a lower bound.
double ratio(const std::optional<Reached>& reached, std::size_t limit, double of) {
  return static_cast<double>(reached ? reached->trials : limit + 1) / of;
}

void say(const std::string& task, std::string_view what, const Run& run, const std::string& trials) {
  fmt::print(stderr, "{}: {}: {} trials in {:.1f} s, {:.0f} % failed, best {:.1f} us, reached after {}\n", task, what,
             run.trials.size(), run.elapsed_s, run.failed_share() * 100, run.fastest_ns(run.trials.size()) * 1e-3,
             trials);
}

/// A file that several runs share, gone at the end.
struct SharedFile {
  std::string path = (std::filesystem::temp_directory_path() / fmt::format("hone-shared-{}.db", getpid())).string();
  SharedFile() { remove(); }
  ~SharedFile() { remove(); }
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  }
};

Result<std::vector<NamedTask>> template_tasks(const ClaimOptions& options) {
  std::vector<NamedTask> tasks;
  const Convolution convs[] = {
      {.in = 64, .out = 64, .size = 56, .kernel = 3},   {.in = 128, .out = 128, .size = 28, .kernel = 3},
      {.in = 256, .out = 256, .size = 14, .kernel = 3}, {.in = 256, .out = 64, .size = 56, .kernel = 1},
      {.in = 512, .out = 128, .size = 28, .kernel = 1}, {.in = 1024, .out = 256, .size = 14, .kernel = 1},
  };
  for (const Convolution& conv : convs) {
    HONE_TRY(NamedTask task, conv_task(conv, options.target));
    tasks.push_back(std::move(task));
  }
  for (const auto& [m, n, k] : {std::array{128, 768, 768}, {128, 3072, 768}, {64, 1000, 512}}) {
    HONE_TRY(NamedTask task, product_task(m, n, k, Weights::Constant));
    tasks.push_back(std::move(task));
  }
  std::erase_if(tasks, [&](const NamedTask& task) { return !options.wants(task.name); });
  return tasks;
}

Result<std::vector<NamedTask>> sketch_tasks(const ClaimOptions& options) {
  std::vector<NamedTask> tasks;
  const Convolution convs[] = {
      {.in = 64, .out = 64, .size = 56, .kernel = 3},
      {.in = 256, .out = 64, .size = 56, .kernel = 1},
      {.in = 128, .out = 128, .size = 28, .kernel = 3, .has_residual = true},
      {.in = 144, .out = 144, .size = 56, .kernel = 3, .groups = 144},
  };
  for (const Convolution& conv : convs) {
    HONE_TRY(NamedTask task, conv_task(conv, options.target));
    tasks.push_back(std::move(task));
  }
  for (Result<NamedTask> task : {product_task(512, 512, 512, Weights::Variable), dense_gelu_task(128, 3072, 768),
                                 batched_task(12, 128, 128, 64), softmax_task(1536, 128), layer_norm_task(128, 768)}) {
    if (!task) return task.error();
    tasks.push_back(*std::move(task));
  }
  std::erase_if(tasks, [&](const NamedTask& task) { return !options.wants(task.name); });
  return tasks;
}

}  // namespace

Result<Report> autotvm_claim(const ClaimOptions& options) {
  const auto trials = static_cast<std::size_t>(options.trials > 0 ? options.trials : 512);
  const std::size_t limit = trials / 2;
  Report report{.claim = "autotvm",
                .title = "AutoTVM: trials for what random search finds",
                .how = fmt::format(
                    "In the template space: random search tries {} candidates; how many does simulated annealing with "
                    "the model rank-curve need for one as fast (within 1 %, both timed in turns), alone and with the "
                    "records of the other tasks' runs? Each gets {} at most. No search is told what the rules of hone "
                    "would choose. Bars: a quarter, then half of that, as geometric "
                    "means.",
                    trials, limit),
                .columns = {"task", "candidates", "random", "random's best at", "with model", "with transfer"},
                .rows = {},
                .results = {}};
  HONE_TRY(const std::vector<NamedTask> tasks, template_tasks(options));
  const How how{.space = "template",
                .search = "annealing",
                .cost_model = "rank-curve",
                .seed = options.seed,
                .tries_rules_first = false};
  std::vector<std::string> goals;
  std::vector<std::optional<Reached>> alone;
  std::vector<std::unique_ptr<SharedFile>> kept;
  std::vector<double> model_ratios, transfer_ratios;
  for (const NamedTask& task : tasks) {
    How random = how;
    random.search = "random";
    random.cost_model = "none";
    random.trials = static_cast<std::int64_t>(trials);
    HONE_TRY(const Run drawn, run(task, random, options.target));
    HONE_TRY(const auto drawn_at, first_to_reach(drawn, task, drawn.best, options.target));
    say(task.name, "random", drawn, trials_text(drawn_at, trials));
    kept.push_back(std::make_unique<SharedFile>());
    kept.back()->path += std::to_string(kept.size());
    How guided = how;
    guided.trials = static_cast<std::int64_t>(limit);
    guided.keep = kept.back()->path;
    HONE_TRY(const Run led, run(task, guided, options.target));
    HONE_TRY(const auto reached, first_to_reach(led, task, drawn.best, options.target));
    say(task.name, "with model", led, trials_text(reached, limit));
    goals.push_back(drawn.best);
    alone.push_back(reached);
    const auto tried = static_cast<double>(drawn.trials.size());
    model_ratios.push_back(ratio(reached, led.trials.size(), tried));
    report.rows.push_back({task.name, fmt::format("{:.2g}", static_cast<double>(drawn.space_size)),
                           std::to_string(drawn.trials.size()), trials_text(drawn_at, trials),
                           trials_text(reached, led.trials.size()), ""});
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const SharedFile others;
    {
      HONE_TRY(measure::Records all, measure::Records::open(others.path));
      for (std::size_t j = 0; j < tasks.size(); ++j) {
        if (j == i) continue;
        HONE_TRY(const measure::Records one, measure::Records::open(kept[j]->path, measure::Records::Mode::ReadOnly));
        HONE_TRY(all.merge(one));
      }
    }
    How transferring = how;
    transferring.trials = static_cast<std::int64_t>(limit);
    transferring.history = others.path;
    HONE_TRY(const Run led, run(tasks[i], transferring, options.target));
    HONE_TRY(const auto reached, first_to_reach(led, tasks[i], goals[i], options.target));
    say(tasks[i].name, fmt::format("with transfer of {}", led.transferred), led, trials_text(reached, limit));
    const double own = ratio(alone[i], limit, 1);
    transfer_ratios.push_back(ratio(reached, led.trials.size(), own));
    report.rows[i].back() = trials_text(reached, led.trials.size());
  }
  const double by_model = geometric_mean(model_ratios), by_transfer = geometric_mean(transfer_ratios);
  report.results = {fmt::format("with the model: {:.2f} of the trials of random search (bar 0.25): {}", by_model,
                                by_model <= 0.25 ? "met" : "missed"),
                    fmt::format("with transfer: {:.2f} of the trials without (bar 0.5): {}", by_transfer,
                                by_transfer <= 0.5 ? "met" : "missed")};
  return report;
}

Result<Report> ansor_claim(const ClaimOptions& options) {
  const auto trials = static_cast<std::size_t>(options.trials > 0 ? options.trials : 1000);
  const std::size_t limit = trials * 2 / 5;
  Report report{
      .claim = "ansor",
      .title = "Ansor: trials for what random sampling finds",
      .how = fmt::format("In the sketch space: {} random candidates; how many trials does evolutionary search with "
                         "Ansor's model need for one as fast as the best of them (within 1 %, both timed in "
                         "turns)? It gets {} at most. Neither is told what the rules of hone would "
                         "choose. Bar: a fifth, as the geometric mean.",
                         trials, limit),
      .columns = {"task", "candidates", "random", "random's best at", "with model", "speedup at the end"},
      .rows = {},
      .results = {}};
  HONE_TRY(const std::vector<NamedTask> tasks, sketch_tasks(options));
  std::vector<double> ratios;
  for (const NamedTask& task : tasks) {
    HONE_TRY(const Run drawn, run(task,
                                  {.space = "sketch",
                                   .search = "random",
                                   .cost_model = "none",
                                   .trials = static_cast<std::int64_t>(trials),
                                   .seed = options.seed,
                                   .tries_rules_first = false},
                                  options.target));
    HONE_TRY(const auto drawn_at, first_to_reach(drawn, task, drawn.best, options.target));
    say(task.name, "random", drawn, trials_text(drawn_at, trials));
    HONE_TRY(const Run led, run(task,
                                {.space = "sketch",
                                 .search = "evolutionary",
                                 .cost_model = "ansor",
                                 .trials = static_cast<std::int64_t>(limit),
                                 .seed = options.seed,
                                 .tries_rules_first = false},
                                options.target));
    HONE_TRY(const auto reached, first_to_reach(led, task, drawn.best, options.target));
    HONE_TRY(const std::vector<double> ends, time_in_turns(task, {drawn.best, led.best}, options.target));
    say(task.name, "with model", led, trials_text(reached, limit));
    ratios.push_back(ratio(reached, led.trials.size(), static_cast<double>(drawn.trials.size())));
    report.rows.push_back({task.name, fmt::format("{:.1e}", static_cast<double>(drawn.space_size)),
                           std::to_string(drawn.trials.size()), trials_text(drawn_at, trials),
                           trials_text(reached, led.trials.size()), fmt::format("{:.2f}", ends[0] / ends[1])});
  }
  const double mean = geometric_mean(ratios);
  report.results = {fmt::format("{:.2f} of the trials of random sampling over {} tasks (bar 0.20): {}", mean,
                                tasks.size(), mean <= 0.2 ? "met" : "missed")};
  return report;
}

}  // namespace hone::bench
