/// Data sets: programs of many tasks, and what each of them took on several targets. Cost models are trained on them.
///
/// A file is lines of JSON, each of which adds a target, a task, a program or what a program took; whoever is killed
/// while writing loses the line under way. The same lines compressed are a data set as well (see pack_dataset).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hone/cost/cost_model.h"
#include "hone/support/channel.h"
#include "hone/support/result.h"

namespace hone::cost {

/// The seconds of a program on a target that it was not measured on.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// A task of a data set.
struct DatasetTask {
  /// A way to compute it: its naive program as text.
  struct Algorithm {
    std::string name, text;
  };

  std::string key, family;             ///< as records know it
  std::string name;                    ///< its operators: "Conv+Relu"
  std::vector<Algorithm> algorithms;   ///< none: it is known by records of Ansor alone
  std::vector<std::size_t> constants;  ///< parameters that never change between runs
  double flops = 0;
  std::map<std::string, double> networks;  ///< how often a run of each calls it; "resnet18@batch=4" is a variation
  std::string done = {};                   ///< why no more programs are wanted; empty: more are
  std::vector<std::size_t> programs = {};  ///< of this task, by place in Dataset::programs
};

/// A program of a data set.
struct DatasetProgram {
  std::size_t task = 0;
  std::size_t algorithm = 0;     ///< whose naive program the trace starts from
  std::string hash;              ///< of the scheduled program
  std::size_t drawn_for = 0;     ///< the target from whose space it is
  std::string candidate, trace;  ///< JSON; of records of Ansor the trace is their steps
  /// On each target; kFailed: it failed; kNotMeasured.
  std::vector<double> seconds = {};
};

/// All of a file.
struct Dataset {
  std::map<std::string, std::string> notes;  ///< the machine and the like, for people
  std::vector<std::string> targets;
  std::vector<DatasetTask> tasks;
  std::vector<DatasetProgram> programs;
  /// Why programs failed, by program and target.
  std::map<std::pair<std::size_t, std::size_t>, std::string> reasons = {};

  std::optional<std::size_t> find_target(std::string_view target) const;
  /// The places of the targets with these texts, or with these parts of their texts, which must be in one target alone;
  /// of no text: of all.
  Result<std::vector<std::size_t>> find_targets(const std::vector<std::string>& texts) const;
  /// What the fastest program of a task took on a target; infinity if none ran.
  double best_seconds(std::size_t task, std::size_t target) const;
  /// Whether a program of a task ran on any target.
  bool has_run(std::size_t task) const;
  /// How fast a program is, as a share of the fastest of its task: 0 if it failed, NaN if it was not measured.
  double label(const DatasetProgram& program, std::size_t target) const;
};

/// Networks whose tasks are never trained on: those that the publication tests with, however they are spelt and
/// whatever words follow ("ResNet50-v1.5", "mobilenetv2-12", "bert-base-uncased", "bert_base@batch=4").
bool is_test_network(std::string_view network);
/// Whether a task is for testing: it occurs in such a network, whatever other networks it occurs in.
bool is_test_task(const DatasetTask& task);

/// Reads a file, compressed or not. A last line that is cut off is left out; any other line that is wrong is an error
/// that names file, line and what is wrong.
Result<Dataset> read_dataset(const std::filesystem::path& file);

/// Writes a data set, which must be whole, in as few bytes as it takes, and says how many.
Result<std::size_t> pack_dataset(const std::filesystem::path& from, const std::filesystem::path& to);

/// A data set that grows: what is added is in the file when the call returns. Nobody else writes to the file meanwhile;
/// reading it is always possible.
class DatasetFile {
 public:
  /// Opens a file to go on with it; one that does not exist is made when something is added. Compressed files are not
  /// written to, and neither are those that are open already, here or in another process.
  static Result<DatasetFile> open(const std::filesystem::path& file);

  const Dataset& data() const { return data_; }
  const std::filesystem::path& file() const { return path_; }

  Result<void> note(const std::string& name, const std::string& text);
  /// The place of a target, a task (known by its key) or a program; added if it is new. A new task has no programs.
  Result<std::size_t> add_target(const std::string& target);
  Result<std::size_t> add_task(const DatasetTask& task);
  Result<std::size_t> add_program(DatasetProgram program);
  /// Says that a network calls a task so often.
  Result<void> add_use(std::size_t task, const std::string& network, double calls);
  /// Stores what a program took; kFailed with the reason if it failed.
  Result<void> add_label(std::size_t program, std::size_t target, double seconds, std::string_view reason = "failed");
  /// Says that a task wants no more programs, and why.
  Result<void> finish_task(std::size_t task, const std::string& why);

 private:
  DatasetFile(std::filesystem::path path, FileDescriptor lock, Dataset data);
  Result<void> write(const std::string& line);
  /// Makes the file if it does not exist, and turns to its end.
  Result<void> begin_writing();

  std::filesystem::path path_;
  FileDescriptor lock_;  ///< none: the file does not exist yet
  Dataset data_;
  std::unordered_map<std::string, std::size_t> tasks_;  ///< by key
  std::ofstream out_;
};

}  // namespace hone::cost
