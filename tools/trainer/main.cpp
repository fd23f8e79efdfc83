/// hone_trainer: trains the network of a cost model on a data set, with libtorch. `hone cost-model train` runs it.
///
///     hone_trainer DATA OUT [--network tlp2] [--target TARGET]... [--loss rank|mse] [--epochs N] ...
///
/// OUT is written whenever an epoch is the best so far, and OUT.state after each, from which --resume goes on when
/// training was interrupted. Whoever has no use for it any more removes it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/ranges.h>
#include <fstream>
#include <unistd.h>

#include "train.h"
#include "view.h"

#include "hone/cost/dataset.h"
#include "hone/cost/first_weights.h"

namespace hone::trainer {
namespace {

struct Options {
  std::string data, out, network = "tlp2", body = "attention", from;
  std::vector<std::string> targets, units;
  cost::TrainingOptions training;
  std::int64_t width = 0;
  double rate = 0;  ///< 0: the network's own
  bool has_no_mask = false, has_no_positions = false, pairs_across_tasks = false, validates_on_programs = false;
  int threads = 0, stop_after = 0;
  bool resumes = false;
};

Result<cost::NetworkSpec> spec_of(const Options& options, const cost::Dataset& data,
                                  std::vector<std::size_t>& targets) {
  HONE_TRY(cost::NetworkSpec spec, cost::make_network_spec(options.network, options.body));
  if (options.has_no_mask) spec.is_masked = false;
  if (options.has_no_positions) spec.has_positions = false;
  if (options.width > 0) {
    for (std::int64_t& width : spec.direct) width = width * options.width / spec.width();
    for (std::int64_t& width : spec.layers) width = options.width;
    for (std::size_t i = 0; i < spec.head.size(); ++i) spec.head[i] = options.width >> i;
  }
  HONE_TRY(targets, data.find_targets(options.targets));
  for (const std::size_t t : targets) spec.targets.push_back(data.targets[t]);
  return spec;
}

/// Writes what libtorch computes for the first samples, one line a sample with a number for each head, for whoever runs
/// the network without it.
Result<void> write_scores(const std::string& file, const TorchNetwork& network, const cost::TrainingSet& samples,
                          const std::vector<std::size_t>& targets) {
  constexpr std::size_t kSamples = 256;
  std::vector<std::vector<double>> heads;
  for (std::size_t h = 0; h < network.spec().targets.size(); ++h)
    heads.push_back(predict(network, samples, targets[h], h, kSamples));
  std::ofstream out(file);
  for (std::size_t i = 0; i < heads[0].size(); ++i) {
    for (const std::vector<double>& scores : heads) out << fmt::format("{} ", scores[i]);
    out << "\n";
  }
  if (!out.flush()) return error(ErrorCode::InvalidArgument, "cannot write '{}'", file);
  return {};
}

/// What targets compute with, from texts like "2x16x8x1x3.5": so many threads, with so many registers of so many lanes,
/// multiply-adds in a cycle, and bytes that come from the last cache meanwhile.
Result<std::vector<cost::ComputeUnit>> read_units(const std::vector<std::string>& texts) {
  std::vector<cost::ComputeUnit> units;
  for (const std::string& text : texts) {
    cost::ComputeUnit unit;
    const int found = std::sscanf(text.c_str(), "%dx%dx%dx%dx%lf", &unit.threads, &unit.registers, &unit.lanes,
                                  &unit.multiply_adds, &unit.l3_bytes_per_cycle);
    if (found != 5 || unit.threads <= 0 || unit.registers <= 0 || unit.lanes <= 0 || unit.multiply_adds < 0 ||
        !(unit.l3_bytes_per_cycle > 0))
      return error(ErrorCode::InvalidArgument,
                   "--unit is '{}', expected threads, registers, lanes, multiply-adds and bytes from the last cache "
                   "like 1x16x8x2x3.5",
                   text);
    units.push_back(unit);
  }
  return units;
}

/// Gives a network the weights of a file, and notes what they are of.
Result<void> begin_with(const std::string& file, TorchNetwork& network, cost::NetworkSpec& spec) {
  HONE_TRY(const auto before, cost::read_weights(file));
  const auto nobody_knows = [](const std::string&) { return std::optional<cost::ComputeUnit>(); };
  const Result<cost::FirstWeights> first = cost::weights_to_begin_with(spec, before.first, before.second, nobody_knows);
  if (!first) return error(first.error().code, "--from '{}': {}", file, first.error().message);
  network.set_weights(first->weights);
  const auto from = before.first.notes.find("from");
  spec.notes["from"] = from == before.first.notes.end() ? file : from->second;
  return {};
}

/// The options of a training that depend on the network, unless they are given.
void complete(Options& options) {
  cost::TrainingOptions& training = options.training;
  const bool is_published = options.network == "tlp" || options.network == "tlp-gpu";
  training.pairs_within_tasks = !is_published && !options.pairs_across_tasks;
  training.validates_on_tasks = !is_published && !options.validates_on_programs;
  training.is_steady |= is_published;
  constexpr double kOursRate = 1e-3;  // small networks stand more
  training.rate = options.rate > 0 ? options.rate : options.network == "tlp2" ? kOursRate : training.rate;
}

/// How a network is trained, for people.
std::map<std::string, std::string> notes_of(const Options& options, const cost::TrainingSet& samples) {
  const cost::TrainingOptions& training = options.training;
  return {{"data", options.data},
          {"samples", fmt::format("{}", samples.size())},
          {"loss", training.loss},
          {"pairs", training.pairs_within_tasks ? "within tasks" : "across the batch"},
          {"batch", fmt::format("{}", training.batch)},
          {"seed", fmt::format("{}", training.seed)},
          {"held back", fmt::format("{:g}", training.held_back)},
          {"labels of the first head", fmt::format("{:g}", training.label_share)}};
}

/// All that the weights depend on; what people know best comes first.
cost::TrainingIdentity identity_of(const cost::TrainingOptions& options, const cost::NetworkSpec& spec,
                                   const cost::TrainingSet& samples) {
  const auto from = spec.notes.find("from");
  cost::NetworkSpec kind = spec;
  kind.notes.clear();
  return {{"network", spec.name},
          {"body", spec.body},
          {"targets", fmt::format("{}", fmt::join(spec.targets, "; "))},
          {"data (samples)", cost::identity_of(samples)},
          {"--from", from == spec.notes.end() ? "none" : from->second},
          {"--loss", options.loss},
          {"--epochs", fmt::format("{}", options.epochs)},
          {"--patience", fmt::format("{}", options.patience)},
          {"--batch", fmt::format("{}", options.batch)},
          {"--label-share", fmt::format("{}", options.label_share)},
          {"--hold-back", fmt::format("{}", options.held_back)},
          {"--seed", fmt::format("{}", options.seed)},
          {"--label-seed", fmt::format("{}", options.label_seed.value_or(options.seed))},
          {"--rate", fmt::format("{}", options.rate)},
          {"--steady", fmt::format("{}", options.is_steady)},
          {"--pairs-across-tasks", fmt::format("{}", !options.pairs_within_tasks)},
          {"--hold-back-programs", fmt::format("{}", !options.validates_on_tasks)},
          {"description", cost::to_json(kind)}};
}

Result<void> run(Options options) {
  HONE_TRY(const cost::Dataset data, cost::read_dataset(options.data));
  std::vector<std::size_t> targets;
  HONE_TRY(cost::NetworkSpec spec, spec_of(options, data, targets));
  HONE_TRY(const std::vector<cost::ComputeUnit> units, read_units(options.units));
  HONE_TRY(const cost::TrainingSet samples,
           cost::make_training_set(data, cost::language_of(spec), cost::Part::Training, units));
  HONE_TRY(cost::check_labels(data, samples, targets));
  if (const std::string text = samples.left_out_text(); !text.empty()) fmt::print("{}\n", text);
  complete(options);
  spec.notes = notes_of(options, samples);
  torch::manual_seed(options.training.seed);
  if (options.threads > 0) torch::set_num_threads(options.threads);
  TorchNetwork network(spec);
  fit_scale(network, samples);
  if (!options.from.empty()) HONE_TRY(begin_with(options.from, network, spec));
  std::int64_t size = 0;
  for (const torch::Tensor& parameter : network.parameters()) size += parameter.numel();
  fmt::print("{} of {} weights, {} heads, {} samples of {}x{}\n", spec.name, size, spec.targets.size(), samples.size(),
             spec.shape.rows, spec.shape.columns);

  View view(options.training);
  int epochs = 0;  // of this run
  const Listener listener{.after_batch = [&](const BatchReport& report) { view.show(report); },
                          .after_epoch = [&](const cost::EpochReport& report, const cost::TrainingProgress& progress,
                                             bool is_best) -> Result<void> {
                            view.show(report, progress, is_best);
                            if (is_best) HONE_TRY(cost::write_weights(options.out, spec, network.weights()));
                            ++epochs;
                            return {};
                          },
                          .is_enough = [&] { return options.stop_after > 0 && epochs >= options.stop_after; }};
  const Lesson lesson{data, samples, targets, options.training};
  const Checkpoint checkpoint{options.out + ".state", identity_of(options.training, spec, samples), options.resumes};
  HONE_TRY(const cost::TrainingProgress progress, train(network, lesson, checkpoint, listener));
  if (progress.best.epoch == 0)
    return error(ErrorCode::InvalidArgument, "training went wrong: no epoch has a loss that is a number");
  spec.notes["epoch"] = fmt::format("{}", progress.best.epoch);
  HONE_TRY(cost::write_weights(options.out, spec, network.weights()));
  HONE_TRY(write_scores(options.out + ".scores", network, samples, targets));
  fmt::print("{}: {}\n", options.out, best_text(progress.best, options.training));
  return {};
}

/// Debian's OpenBLAS takes processors newer than itself for very old ones, and is then some times slower. It looks at
/// its environment as it is loaded, so this program starts itself again with what it should know.
void name_processor_to_openblas(char** argv) {
#if defined(__x86_64__)
  const char* core = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? "SkylakeX"
                     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")       ? "Haswell"
                                                                                             : nullptr;
  if (!core || ::setenv("OPENBLAS_CORETYPE", core, /*replace=*/0) != 0) return;
  ::execv("/proc/self/exe", argv);  // comes back only if that is not possible, which costs nothing but time
#else
  (void)argv;
#endif
}

}  // namespace
}  // namespace hone::trainer

int main(int argc, char** argv) {
  if (!std::getenv("OPENBLAS_CORETYPE")) hone::trainer::name_processor_to_openblas(argv);
  hone::trainer::Options options;
  hone::cost::TrainingOptions& training = options.training;
  CLI::App app("Trains the network of a cost model");
  app.add_option("data", options.data, "the data set")->required();
  app.add_option("out", options.out, "the file of weights to write")->required();
  app.add_option("--network", options.network, "tlp, tlp-gpu, tlp2 or tenset-mlp");
  app.add_option("--body", options.body, "attention or lstm")->check(CLI::IsMember({"attention", "lstm"}));
  app.add_option("--target", options.targets, "a target of the data set, or a part of its text; each gets a head");
  app.add_option("--unit", options.units,
                 "of each target of the data set: threads, registers, lanes of 32 bits, and in a cycle "
                 "multiply-adds of a core and bytes that it reads from the last cache, like 1x16x8x2x3.5");
  app.add_option("--from", options.from, "weights to begin with");
  app.add_flag("--resume", options.resumes, "go on with a training that was interrupted, if there is one");
  app.add_option("--stop-after", options.stop_after, "epochs of this run, as if it was interrupted then")
      ->check(CLI::Range(std::int64_t{1}, hone::cost::kMostEpochs));
  app.add_option("--loss", training.loss, "rank or mse")->check(CLI::IsMember({"rank", "mse"}));
  app.add_option("--epochs", training.epochs, "how often all samples are seen at most")
      ->check(CLI::Range(std::int64_t{1}, hone::cost::kMostEpochs));
  app.add_option("--patience", training.patience, "epochs without a gain to end after")
      ->check(CLI::Range(std::int64_t{1}, hone::cost::kMostEpochs));
  app.add_option("--batch", training.batch, "samples at a time")
      ->check(CLI::Range(hone::cost::kFewestInBatch, hone::cost::kMostInBatch));
  app.add_option("--rate", options.rate, "of learning, instead of the network's own")->check(CLI::PositiveNumber);
  app.add_option("--label-share", training.label_share, "of the labels of the first target")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--hold-back", training.held_back, "share of the tasks to choose the epoch by; 0: none, take the last")
      ->check(CLI::Range(0.0, 0.9));
  app.add_option("--seed", training.seed, "of everything that is drawn");
  app.add_option("--label-seed", training.label_seed, "of which labels are hidden (the seed)");
  app.add_option("--threads", options.threads, "that libtorch uses")->check(CLI::Range(0, 1024));
  app.add_option("--width", options.width, "of all layers, instead of the network's own")->check(CLI::Range(8, 4096));
  app.add_flag("--steady", training.is_steady, "keep the rate of learning, and the weights of the last step");
  app.add_flag("--without-mask", options.has_no_mask, "let rows that fill up sentences count");
  app.add_flag("--without-positions", options.has_no_positions, "do not tell rows apart by their place");
  app.add_flag("--pairs-across-tasks", options.pairs_across_tasks, "rank programs of different tasks too");
  app.add_flag("--hold-back-programs", options.validates_on_programs, "hold back programs rather than tasks");
  CLI11_PARSE(app, argc, argv);
  try {
    const hone::Result<void> status = hone::trainer::run(std::move(options));
    if (status) return 0;
    fmt::print(stderr, "hone_trainer: {}\n", status.error().message);
  } catch (const std::exception& problem) { fmt::print(stderr, "hone_trainer: {}\n", problem.what()); }
  return 2;
}
