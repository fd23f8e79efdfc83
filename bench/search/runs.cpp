#include "runs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <unistd.h>

#include "hone/measure/load_kernel.h"
#include "hone/measure/peak.h"
#include "hone/measure/statistics.h"
#include "hone/network_model.h"
#include "hone/runtime/buffer.h"
#include "hone/runtime/thread_pool.h"
#include "hone/search/task_data.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/support/rng.h"

namespace hone::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A file of records that is gone with this object.
class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / fmt::format("hone-bench-{}-{}.db", getpid(), ++count_)) {}
  ~Scratch() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + suffix);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string file() const { return path_.string(); }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

Result<schedule::KernelProgram> program_of(const NamedTask& task, const std::string& json,
                                           const codegen::Target& target) {
  HONE_TRY(const auto space, space::make_space(space::space_of(json), *task.task, target));
  HONE_TRY(const space::Candidate candidate, space::parse_candidate(*space, json));
  HONE_TRY(const schedule::Schedule made, space->build(candidate));
  return schedule::split_packing(made.program());
}

/// A kernel in this process with its arguments.
struct Runnable {
  measure::LoadedKernel kernel;
  std::vector<runtime::AlignedBytes> memory;
  std::vector<void*> args;

  Result<void*> allocate(const ir::Expr& buffer) {
    std::int64_t count = 1;
    for (const ir::Expr& extent : buffer.get<ir::Buffer>().shape) count *= ir::constant_value(extent);
    const auto bytes = static_cast<std::size_t>(count * buffer.type().bytes());
    HONE_TRY(runtime::AlignedBytes block, runtime::AlignedBytes::allocate(bytes, runtime::tensor_alignment(bytes)));
    Rng rng(/*seed=*/1);
    auto* numbers = reinterpret_cast<float*>(block.data());
    for (std::size_t i = 0; i < bytes / sizeof(float); ++i) numbers[i] = static_cast<float>(rng.unit());
    memory.push_back(std::move(block));
    return memory.back().data();
  }
};

Result<Runnable> make_runnable(const NamedTask& task, const std::string& json, const codegen::Target& target) {
  HONE_TRY(const schedule::KernelProgram program, program_of(task, json, target));
  HONE_TRY(measure::LoadedKernel kernel, measure::load_kernel(program, target));
  Runnable runnable{std::move(kernel), {}, {}};
  for (const ir::Expr& param : task.task->naive().params) {
    HONE_TRY(void* const data, runnable.allocate(param));
    runnable.args.push_back(data);
  }
  if (!program.prepare) return runnable;
  std::vector<void*> packing;
  for (const std::size_t place : program.packed) packing.push_back(runnable.args[place]);
  for (const std::size_t place : program.packed) {
    HONE_TRY(runnable.args[place], runnable.allocate(program.main.params[place]));
    packing.push_back(runnable.args[place]);
  }
  runnable.kernel.prepare(packing.data(), nullptr);
  return runnable;
}

}  // namespace

double Run::failed_share() const {
  const auto failed = std::count_if(trials.begin(), trials.end(), [](const Tried& t) { return std::isinf(t.ns); });
  return trials.empty() ? 0 : static_cast<double>(failed) / static_cast<double>(trials.size());
}

double Run::fastest_ns(std::size_t trials_used) const {
  double fastest = kInfinity;
  for (std::size_t i = 0; i < std::min(trials_used, trials.size()); ++i) fastest = std::min(fastest, trials[i].ns);
  return fastest;
}

search::TunerOptions tuner_options(const How& how, const codegen::Target& target) {
  search::TunerOptions options;
  options.measurer.target = target;
  options.space = how.space;
  options.search = how.search;
  options.cost_model = how.cost_model;
  options.make_model = [target, file = how.cost_model_file](std::string_view name, const cost::ModelOptions& made) {
    return make_any_cost_model(name, made, target, file);
  };
  options.explore = how.explore;
  options.seed = how.seed;
  options.trials = how.trials;
  options.trials_per_task = how.trials_per_task;
  options.seconds = how.seconds;
  options.batch = how.batch;
  if (how.per_trial > 0) options.search_options.evolutionary.per_trial = how.per_trial;
  options.tries_rules_first = how.tries_rules_first;
  return options;
}

Result<Run> run(const NamedTask& task, const How& how, const codegen::Target& target) {
  const Scratch scratch;
  HONE_TRY(measure::Records records, measure::Records::open(scratch.file()));
  if (!how.history.empty()) {
    HONE_TRY(const measure::Records history, measure::Records::open(how.history, measure::Records::Mode::ReadOnly));
    HONE_TRY(records.merge(history));
  }
  std::vector<double> times;
  search::TunerOptions options = tuner_options(how, target);
  options.records = &records;
  options.progress = [&](const search::TuneProgress& progress) {
    while (times.size() < static_cast<std::size_t>(progress.trials)) times.push_back(progress.elapsed_s);
  };
  HONE_TRY(const search::TuneReport report, search::tune({{task.task, task.name, 1}}, options));
  const search::TaskProgress& progress = report.progress.tasks.front();
  Run run{.trials = {},
          .best = progress.best,
          .elapsed_s = report.progress.elapsed_s,
          .space_size = progress.space_size,
          .transferred = report.transferred};
  std::string rules_choice;  // which a space may have among its candidates
  if (!how.tries_rules_first) {
    HONE_TRY(const auto space, space::make_space(how.space, *task.task, target));
    rules_choice = space::to_json(*space, space->first());
    run.best.clear();
  }
  HONE_TRY(const std::vector<measure::Record> found, records.find({.task = progress.key}));
  std::size_t place = 0;
  for (const measure::Record& record : found) {
    if (measure::find_adoption(record) || place == times.size()) continue;
    const double at_s = times[place++];
    if (record.candidate == rules_choice) continue;
    const bool is_ok = record.status == measure::TrialStatus::Ok;
    run.trials.push_back({record.candidate, is_ok ? record.min_ns() : kInfinity, at_s});
  }
  if (run.best.empty())
    for (const Tried& tried : run.trials)
      if (tried.ns == run.fastest_ns(run.trials.size()) && std::isfinite(tried.ns)) run.best = tried.candidate;
  if (!how.keep.empty()) {
    HONE_TRY(measure::Records kept, measure::Records::open(how.keep));
    HONE_TRY(kept.insert_all(found));
  }
  return run;
}

Result<std::vector<double>> time_in_turns(const NamedTask& task, const std::vector<std::string>& candidates,
                                          const codegen::Target& target) {
  const auto data = search::make_task_data(*task.task, target);
  std::vector<measure::MeasureInput> inputs;
  for (const std::string& candidate : candidates) {
    HONE_TRY(schedule::KernelProgram program, program_of(task, candidate, target));
    inputs.push_back({std::move(program), data});
  }
  HONE_TRY(measure::Measurer measurer, measure::Measurer::start({.target = target}));
  std::vector<double> times;
  for (const measure::MeasureResult& result : measurer.compare(inputs, {.repeats = 15}))
    times.push_back(result.is_ok() ? result.min_ns() : kInfinity);
  return times;
}

Result<std::optional<Reached>> first_to_reach(const Run& run, const NamedTask& task, const std::string& goal,
                                              const codegen::Target& target) {
  constexpr double kWorthAnotherLook = 1.06;
  constexpr std::size_t kAtOnce = 7;
  HONE_TRY(const std::vector<double> alone, time_in_turns(task, {goal}, target));
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < run.trials.size(); ++i)
    if (run.trials[i].ns <= kWorthAnotherLook * alone[0]) places.push_back(i);
  for (std::size_t begin = 0; begin < places.size(); begin += kAtOnce) {
    const std::size_t end = std::min(begin + kAtOnce, places.size());
    std::vector<std::string> rivals = {goal};
    for (std::size_t i = begin; i < end; ++i) rivals.push_back(run.trials[places[i]].candidate);
    HONE_TRY(const std::vector<double> times, time_in_turns(task, rivals, target));
    for (std::size_t i = begin; i < end; ++i)
      if (times[i - begin + 1] <= kEqual * times[0])
        return std::optional(Reached{places[i] + 1, run.trials[places[i]].at_s});
  }
  return std::optional<Reached>();
}

Result<double> share_of_peak(const NamedTask& task, const std::string& candidate, const codegen::Target& target) {
  HONE_TRY(Runnable kernel, make_runnable(task, candidate, target));
  runtime::ThreadPool pool(target.threads);
  // As the peak: the best of as many samples, each of about a millisecond.
  constexpr int kSamples = 15;
  const auto best_seconds = [&](int samples, int calls) {
    double best = kInfinity;
    for (int sample = 0; sample < samples; ++sample) {
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < calls; ++i) kernel.kernel.entry(kernel.args.data(), &pool);
      best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / calls);
    }
    return best;
  };
  const int calls = std::max(1, static_cast<int>(0.001 / best_seconds(3, 1)));
  std::vector<double> shares;
  for (int round = 0; round < 15; ++round) {
    HONE_TRY(const double peak, measure::fma_peak(target, target.threads));
    shares.push_back(task.task->flops / best_seconds(kSamples, calls) / (peak * 1e9));
  }
  return measure::median(shares);
}

}  // namespace hone::bench
