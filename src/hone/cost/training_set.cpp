#include "hone/cost/training_set.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "hone/cost/ansor_records.h"
#include "hone/cost/parallel_chunks.h"
#include "hone/ir/text.h"
#include "hone/schedule/trace.h"
#include "hone/support/log.h"

namespace hone::cost {
namespace {

/// What the programs of a task start from.
struct Origin {
  ir::Function program;
  std::optional<NaiveBlocks> blocks;
};

/// Writes the programs of one task.
class ProgramWriter {
 public:
  static Result<ProgramWriter> make(std::string_view language, std::span<const ComputeUnit> units) {
    ProgramWriter made;
    made.language_ = language;
    if (language == "stores") return made;
    made.target_rows_ = cost::target_rows(language);
    HONE_TRY(made.sentences_, make_sentence_writer(language));
    if (made.target_rows_ == 0) return made;
    for (const ComputeUnit& unit : units) {
      HONE_TRY(std::unique_ptr<SentenceWriter> writer, make_sentence_writer(language, unit));
      made.of_targets_.push_back(std::move(writer));
    }
    return made;
  }

  SentenceShape shape() const { return sentences_ ? sentences_->shape() : kStoresShape; }
  std::string schema() const { return sentences_ ? sentences_->schema() : std::string(kStoreSchema); }
  std::size_t target_rows() const { return target_rows_; }

  Result<void> begin(const Dataset& data, const DatasetTask& task) {
    data_ = &data;
    origins_.clear();
    for (const DatasetTask::Algorithm& algorithm : task.algorithms) {
      HONE_TRY(ir::Function program, ir::parse_function(algorithm.text));
      Result<NaiveBlocks> blocks = naive_blocks(program);
      origins_.push_back({std::move(program), blocks ? std::optional(*std::move(blocks)) : std::nullopt});
    }
    return {};
  }

  /// Appends the rows of a program, and those that begin its sentence for each target.
  Result<void> write(const DatasetProgram& program, std::vector<float>& numbers, std::vector<float>& leads) {
    if (origins_.empty()) return write_steps(program, numbers);
    HONE_TRY(const schedule::Trace trace, schedule::parse_trace(program.trace));
    const Origin& origin = origins_[program.algorithm];
    if (!sentences_) {
      HONE_TRY(const schedule::Program made, schedule::replay(origin.program, trace));
      stores_.clear();
      HONE_TRY(const std::size_t rows, features_.extract(made, stores_));
      for (std::size_t i = 0; i < std::min(rows, kStoresShape.rows); ++i) {
        numbers.push_back(1);
        const auto row = stores_.begin() + static_cast<std::ptrdiff_t>(i * kStoreFeatures);
        numbers.insert(numbers.end(), row, row + static_cast<std::ptrdiff_t>(kStoreFeatures));
      }
      return {};
    }
    if (!origin.blocks) return error(ErrorCode::Unsupported, "the naive program has no blocks to speak of");
    sentence_.resize(shape().size());
    for (const std::unique_ptr<SentenceWriter>& writer : of_targets_) {
      writer->write(*origin.blocks, trace, sentence_);
      const auto size = static_cast<std::ptrdiff_t>(target_rows_ * shape().columns);
      leads.insert(leads.end(), sentence_.begin(), sentence_.begin() + size);
    }
    return append(sentences_->write(*origin.blocks, trace, sentence_), numbers);
  }

 private:
  /// Records of Ansor have steps, and no program of ours.
  Result<void> write_steps(const DatasetProgram& program, std::vector<float>& numbers) {
    const std::string& target = data_->targets[program.drawn_for];
    const TlpPlatform platform = ansor_platform(target);
    const std::string_view spoken = platform == TlpPlatform::Cpu ? "tlp" : "tlp-gpu";
    if (language_ != spoken)
      return error(ErrorCode::Unsupported, "Ansor's records of '{}' are sentences of the language {} alone, not of {}",
                   target, spoken, language_);
    HONE_TRY(const std::vector<AnsorStep> steps, parse_ansor_steps(program.trace));
    sentence_.resize(shape().size());
    const std::size_t rows = write_tlp_sentence(steps, platform, sentence_);
    if (rows < steps.size())
      return error(ErrorCode::Unsupported, "{} of {} steps of Ansor's records of '{}' are no words of the language {}",
                   steps.size() - rows, steps.size(), target, language_);
    return append(rows, numbers);
  }

  Result<void> append(std::size_t rows, std::vector<float>& numbers) {
    const std::size_t kept = std::min(rows, shape().rows) * shape().columns;
    numbers.insert(numbers.end(), sentence_.begin(), sentence_.begin() + static_cast<std::ptrdiff_t>(kept));
    return {};
  }

  std::string language_;
  const Dataset* data_ = nullptr;
  std::unique_ptr<SentenceWriter> sentences_;
  std::vector<std::unique_ptr<SentenceWriter>> of_targets_;
  std::size_t target_rows_ = 0;
  StoreFeatures features_;
  std::vector<Origin> origins_;
  std::vector<float> sentence_, stores_;
};

/// The samples of one task.
struct TaskSamples {
  std::vector<float> numbers, leads, labels;
  std::vector<std::size_t> rows, programs;  ///< how many rows each sample has
  std::size_t left_out = 0;
  std::string left_out_because;
  bool has_failed = false;  ///< none of its programs ran
};

Result<TaskSamples> write_task(const Dataset& data, std::size_t task, ProgramWriter& writer) {
  TaskSamples samples;
  if (!data.has_run(task)) {
    log::debug("cost", "task {} is left out: none of its programs ran", data.tasks[task].key);
    samples.has_failed = true;
    return samples;
  }
  std::vector<double> best;
  for (std::size_t t = 0; t < data.targets.size(); ++t) best.push_back(data.best_seconds(task, t));
  HONE_TRY(writer.begin(data, data.tasks[task]));
  for (const std::size_t place : data.tasks[task].programs) {
    const DatasetProgram& program = data.programs[place];
    std::vector<float> labels;
    bool is_known = false;
    for (std::size_t t = 0; t < data.targets.size(); ++t) {
      // What nothing ran on says nothing about its programs.
      const bool is_measured = !std::isnan(program.seconds[t]) && std::isfinite(best[t]);
      is_known |= is_measured;
      const double label = std::isfinite(program.seconds[t]) ? best[t] / program.seconds[t] : 0;
      labels.push_back(static_cast<float>(is_measured ? label : kNotMeasured));
    }
    if (!is_known) continue;
    const std::size_t before = samples.numbers.size();
    if (const Result<void> written = writer.write(program, samples.numbers, samples.leads); !written) {
      if (samples.left_out++ == 0) samples.left_out_because = written.error().message;
      samples.numbers.resize(before);
      continue;
    }
    samples.rows.push_back((samples.numbers.size() - before) / writer.shape().columns);
    samples.programs.push_back(place);
    samples.labels.insert(samples.labels.end(), labels.begin(), labels.end());
  }
  return samples;
}

/// What is left out, behind an error that it may be the reason of.
std::string left_out_after(const TrainingSet& set) {
  const std::string text = set.left_out_text();
  return text.empty() ? "" : "; " + text;
}

/// Labels of a target without which there is nothing to compare.
constexpr std::size_t kFewestLabels = 2;

}  // namespace

std::size_t TrainingSet::count_labels(std::size_t target) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < size(); ++i) count += std::isnan(label(i, target)) ? 0 : 1;
  return count;
}

std::string TrainingSet::left_out_text() const {
  const auto text = [](std::size_t count, std::string_view what, std::string_view why) {
    return fmt::format("{} {}{} left out: {}", count, what, count == 1 ? " is" : "s are", why);
  };
  std::string all;
  if (left_out > 0) all = text(left_out, "program", left_out_because);
  if (failed_tasks > 0) all += (all.empty() ? "" : "; ") + text(failed_tasks, "task", "no program ran on any target");
  return all;
}

void TrainingSet::copy_sentence(std::size_t sample, std::size_t target, std::span<float> to) const {
  const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first_rows[sample] * shape.columns);
  const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(first_rows[sample + 1] * shape.columns);
  std::fill(std::copy(begin, end, to.begin()), to.end(), 0.0F);
  const std::size_t lead = target_rows * shape.columns;
  std::copy_n(leads.begin() + static_cast<std::ptrdiff_t>((sample * targets + target) * lead), lead, to.begin());
}

Result<TrainingSet> make_training_set(const Dataset& data, std::string_view language, Part part,
                                      std::span<const ComputeUnit> units) {
  const std::vector<ComputeUnit> usual(data.targets.size());
  if (units.empty()) units = usual;
  if (units.size() != data.targets.size())
    return error(ErrorCode::InvalidArgument, "the vectors of {} targets are given, the data set has {}", units.size(),
                 data.targets.size());
  HONE_TRY(const ProgramWriter any, ProgramWriter::make(language, units));
  std::vector<std::size_t> wanted;
  for (std::size_t t = 0; t < data.tasks.size(); ++t)
    if (is_test_task(data.tasks[t]) == (part == Part::Test) && !data.tasks[t].programs.empty()) wanted.push_back(t);
  std::vector<TaskSamples> samples(wanted.size());
  HONE_TRY(for_chunks(wanted.size(), 1, 0, [&](std::size_t begin, std::size_t end) -> Result<void> {
    HONE_TRY(ProgramWriter writer, ProgramWriter::make(language, units));
    for (std::size_t i = begin; i < end; ++i) { HONE_TRY(samples[i], write_task(data, wanted[i], writer)); }
    return {};
  }));
  TrainingSet set{.shape = any.shape(),
                  .schema = any.schema(),
                  .targets = data.targets.size(),
                  .target_rows = any.target_rows(),
                  .first_rows = {0}};
  std::size_t tasks = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const TaskSamples& task = samples[i];
    tasks += task.programs.empty() ? 0 : 1;
    set.numbers.insert(set.numbers.end(), task.numbers.begin(), task.numbers.end());
    set.leads.insert(set.leads.end(), task.leads.begin(), task.leads.end());
    set.labels.insert(set.labels.end(), task.labels.begin(), task.labels.end());
    set.programs.insert(set.programs.end(), task.programs.begin(), task.programs.end());
    set.tasks.insert(set.tasks.end(), task.programs.size(), static_cast<std::uint32_t>(wanted[i]));
    if (set.left_out == 0) set.left_out_because = task.left_out_because;
    set.left_out += task.left_out;
    set.failed_tasks += task.has_failed ? 1 : 0;
    for (const std::size_t rows : task.rows) set.first_rows.push_back(set.first_rows.back() + rows);
    samples[i] = {};
  }
  const char* name = part == Part::Test ? "testing" : "training";
  if (tasks == 0)
    return error(ErrorCode::InvalidArgument, "the data set has no task for {} with a program that ran{}", name,
                 left_out_after(set));
  if (tasks == 1 && part == Part::Training)
    return error(ErrorCode::InvalidArgument, "the data set has one task for training, at least 2 are needed{}",
                 left_out_after(set));
  return set;
}

Result<void> check_labels(const Dataset& data, const TrainingSet& samples, std::span<const std::size_t> targets) {
  for (const std::size_t target : targets)
    if (const std::size_t labels = samples.count_labels(target); labels < kFewestLabels)
      return error(ErrorCode::InvalidArgument, "target '{}' has {} labels for training, expected at least {}{}",
                   data.targets[target], labels, kFewestLabels, left_out_after(samples));
  return {};
}

}  // namespace hone::cost
