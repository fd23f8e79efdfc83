// hone dataset: collects what cost models are trained on.
#include "hone/dataset.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <cstdlib>
#include <fmt/ranges.h>
#include <fstream>
#include <unistd.h>

#include "command.h"
#include "dataset_stats.h"
#include "describe.h"
#include "interrupt.h"
#include "options.h"

#include "hone/codegen/compile.h"
#include "hone/cost/ansor_records.h"
#include "hone/cost/dataset_merge.h"

namespace hone::command {
namespace {

struct DatasetOptions {
  std::string action, file, time, network = "tenset";
  std::vector<std::string> models, targets, shapes;
  std::int64_t tasks = 0, programs = 160, seed = 1;
  double longest_ms = 20;
};

/// What one machine can be: it as a whole, and if it is an x86, it with narrower vectors. All say which machine it is,
/// so that others can join a file.
std::vector<std::string> usual_targets() {
  const codegen::Target& host = codegen::host_target();
  std::vector<std::string> targets = {"cpu -threads=1", "cpu -threads=2"};
  if (host.arch != codegen::Arch::X86_64) return targets;
  for (const auto& [without, bits] : {std::pair("-avx512f", 512), {"-avx", 256}}) {
    if (host.vector_bits < bits) continue;
    std::vector<std::string> features = host.mattr;
    features.emplace_back(without);
    targets.push_back(fmt::format("cpu -mcpu={} -mattr={} -threads=1", host.mcpu, fmt::join(features, ",")));
  }
  return targets;
}

/// "; most often: timeout", with what was said the first time.
std::string failures_text(const search::CollectProgress& progress) {
  if (progress.reasons.empty()) return "";
  const auto& [reason, failures] =
      *std::max_element(progress.reasons.begin(), progress.reasons.end(),
                        [](const auto& one, const auto& other) { return one.second.count < other.second.count; });
  return fmt::format("; most often: {}, {} times{}{}", reason, failures.count,
                     failures.first_message.empty() ? "" : ", first with: ", failures.first_message);
}

/// One line that changes on a terminal, a line now and then elsewhere.
class CollectView {
 public:
  ~CollectView() {
    if (is_terminal_ && last_s_ >= 0) fmt::print(stderr, "\n");
  }

  void show(const search::CollectProgress& progress) {
    const double pause = is_terminal_ ? 0.2 : 30;
    if (last_s_ >= 0 && progress.elapsed_s - last_s_ < pause) return;
    last_s_ = progress.elapsed_s;
    fmt::print(stderr, "{}{} of {} tasks with {} programs, {} trials, {} failed, {:.1f} a second, {} left | {}{}",
               is_terminal_ ? "\r" : "", progress.done, progress.tasks, progress.wanted, progress.measured,
               progress.failures, static_cast<double>(progress.measured) / std::max(progress.elapsed_s, 1e-3),
               time_text(progress.left_s), progress.task, is_terminal_ ? "\033[K" : "\n");
    std::fflush(stderr);
  }

 private:
  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  double last_s_ = -1;
};

/// "Intel(R) Xeon(R) Processor, 2 cores", for the notes of a data set.
std::string machine_text() {
  std::string model = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) model = line.substr(std::min(line.find(':'), line.size() - 2) + 2);
  return fmt::format("{}, {} cores", model, codegen::host_target().cores);
}

Result<void> collect(const DatasetOptions& options) {
  if (options.models.empty())
    return error(ErrorCode::InvalidArgument, "hone dataset collect needs model files: FILE MODEL...");
  search::CollectOptions collecting{.targets = {},
                                    .tasks = static_cast<std::size_t>(options.tasks),
                                    .programs = static_cast<std::size_t>(options.programs),
                                    .longest_ms = options.longest_ms,
                                    .seed = static_cast<std::uint64_t>(options.seed)};
  if (!options.time.empty()) { HONE_TRY(collecting.seconds, parse_time("--time", options.time)); }
  for (const std::string& text : options.targets.empty() ? usual_targets() : options.targets) {
    HONE_TRY(codegen::Target target, codegen::parse_target(text));
    HONE_TRY(codegen::check_runs_here(target));
    collecting.targets.push_back(std::move(target));
  }
  std::vector<ModelShape> shapes;
  for (const std::string& text : options.shapes) {
    HONE_TRY(ModelShape shape, parse_model_shape(text));
    shapes.push_back(std::move(shape));
  }
  HONE_TRY(cost::DatasetFile file, cost::DatasetFile::open(options.file));
  const std::vector<std::filesystem::path> models(options.models.begin(), options.models.end());
  HONE_TRY(const std::vector<search::CollectTask> tasks,
           gather_tasks(models, shapes, collecting.targets.front(),
                        [](const std::string& text) { fmt::print(stderr, "hone: {}\n", text); }));
  fmt::print(stderr, "{} tasks of {} models\n", tasks.size(), models.size());
  const char* commit = std::getenv("HONE_COMMIT");
  HONE_TRY(
      file.note("collected by", fmt::format("hone {}{}{}", HONE_VERSION, commit ? ", " : "", commit ? commit : "")));
  HONE_TRY(file.note("machine", machine_text()));
  CollectView view;
  const StopOnInterrupt guard;
  collecting.stop = &StopOnInterrupt::requested();
  collecting.progress = [&](const search::CollectProgress& progress) { view.show(progress); };
  HONE_TRY(const search::CollectProgress end, search::collect(tasks, file, collecting));
  fmt::print("{}: {} of {} tasks have {} programs or all there are, {} trials in {}, {} of them failed{}\n",
             options.file, end.done, end.tasks, end.wanted, end.measured, time_text(end.elapsed_s), end.failures,
             failures_text(end));
  return {};
}

Result<void> import_records(const DatasetOptions& options) {
  if (options.models.empty())
    return error(ErrorCode::InvalidArgument, "hone dataset import needs files of records: FILE RECORDS...");
  if (options.network.empty())
    return error(ErrorCode::InvalidArgument, "--network is '', expected the name of a network like resnet50");
  HONE_TRY(cost::DatasetFile file, cost::DatasetFile::open(options.file));
  for (const std::string& name : options.models) {
    std::ifstream in(name);
    if (!in) return error(ErrorCode::NotFound, "cannot read '{}'", name);
    const Result<cost::ImportCounts> counts = cost::import_ansor_records(in, options.network, file);
    if (!counts) return error(counts.error().code, "'{}': {}", name, counts.error().message);
    fmt::print("{}: {} records of {}{}, {} new programs, {} new tasks\n", name, counts->records, options.network,
               cost::is_test_network(options.network) ? " (test)" : "", counts->programs, counts->tasks);
  }
  return {};
}

Result<void> merge_files(const DatasetOptions& options) {
  if (options.models.empty())
    return error(ErrorCode::InvalidArgument, "hone dataset merge needs other data sets: FILE OTHER...");
  HONE_TRY(cost::DatasetFile file, cost::DatasetFile::open(options.file));
  for (const std::string& name : options.models) {
    HONE_TRY(const cost::Dataset other, cost::read_dataset(name));
    HONE_TRY(const cost::MergeCounts counts, cost::merge_dataset(other, file));
    fmt::print("{}: {} new targets, {} new tasks, {} new programs, {} new labels{}\n", name, counts.targets,
               counts.tasks, counts.programs, counts.labels,
               counts.left_out == 0 ? "" : fmt::format(", {} programs of other algorithms left out", counts.left_out));
  }
  return {};
}

Result<void> run_dataset(const DatasetOptions& options) {
  if (options.action == "collect") return collect(options);
  if (!options.targets.empty())
    return error(ErrorCode::InvalidArgument, "--target is for collect, hone dataset {} does not take it",
                 options.action);
  if (options.action == "import") return import_records(options);
  if (options.action == "merge") return merge_files(options);
  if (options.action == "pack") {
    if (options.models.size() != 1)
      return error(ErrorCode::InvalidArgument, "hone dataset pack needs the file to write: FILE PACKED");
    HONE_TRY(const std::size_t bytes, cost::pack_dataset(options.file, options.models.front()));
    fmt::print("{}: {}\n", options.models.front(), bytes_text(static_cast<double>(bytes)));
    return {};
  }
  HONE_TRY(const cost::Dataset data, cost::read_dataset(options.file));
  show_stats(data);
  return {};
}

}  // namespace

Action add_dataset(CLI::App& parser) {
  const auto options = std::make_shared<DatasetOptions>();
  add_text(
      parser, "action", options->action, "collect|import|merge|stats|pack",
      "measure programs of models' tasks on several targets, take in records of Ansor or other data sets, show what a "
      "data set holds, or compress it")
      ->required();
  add_text(parser, "file", options->file, "FILE", "the data set; collecting goes on with it")->required();
  parser
      .add_option("models", options->models,
                  "the models to collect tasks of, the records to import, the data sets to merge, or the file to "
                  "pack into")
      ->type_name("FILE");
  add_texts(parser, "--target", options->targets, "TARGET",
            "measure on this target (this machine on 1 and 2 threads, AVX2 and SSE4.2 on 1)");
  add_texts(parser, "--shape", options->shapes, "NAME=N",
            "look at models in this shape as well, except those for testing: batch=4, sequence=32, image=160");
  constexpr std::int64_t kMost = 1'000'000;
  add_number(parser, "--tasks", options->tasks, 0, kMost,
             "how many tasks at most besides those for testing, drawn at random; 0: all (0)");
  add_number(parser, "--programs", options->programs, 1, kMost, "how many programs of each task (160)");
  add_text(parser, "--network", options->network, "NAME",
           "which network's tasks are imported: those of the ones for testing are never trained on (tenset)");
  add_text(parser, "--time", options->time, "TIME", "stop after this: 90s, 5m or 1h (when all is collected)");
  add_number(parser, "--seed", options->seed, 0, kMost, "of what is drawn (1)");
  return [options] { return run_dataset(*options); };
}

}  // namespace hone::command
