/// Cost models: predict which candidates of a task run fast, and learn from those that were timed.
///
///     HONE_TRY(std::unique_ptr<CostModel> model, make_cost_model("ansor", {.seed = 1}));
///     HONE_TRY(const std::vector<double> scores, model->predict(subjects));  // measure the best of them, then
///     HONE_TRY(model->update(measured, seconds));
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/schedule/program.h"
#include "hone/schedule/step.h"
#include "hone/support/result.h"

namespace hone::cost {

/// The seconds that a subject is said to take that failed.
inline constexpr double kFailed = std::numeric_limits<double>::infinity();

/// A candidate as a model sees it. A model reads what it needs of this, and keeps no pointer after a call.
struct Subject {
  std::string task;                            ///< what is computed, at which shapes
  std::string family = {};                     ///< tasks of one family differ in shapes alone
  const schedule::Program* program = nullptr;  ///< scheduled, not lowered
  const schedule::Trace* trace = nullptr;
  const schedule::Program* naive = nullptr;  ///< that the trace starts from
  std::vector<double> knobs = {};            ///< the decisions as numbers; as many for every candidate of a task
};

/// Which tasks the samples of a task teach something about, beside itself.
enum class TransfersTo : std::uint8_t { None, Family, All };

/// Scores candidates. A model belongs to one thread at a time; it may use several inside a call, and the same calls
/// give the same scores whatever their number.
class CostModel {
 public:
  virtual ~CostModel() = default;

  /// The name that make_cost_model knows it by.
  virtual std::string_view name() const = 0;

  /// Whether predictions for this task rest on anything learnt; if not, they are random or all the same.
  virtual bool is_trained(std::string_view task, std::string_view family = {}) const = 0;

  virtual TransfersTo transfers_to() const { return TransfersTo::None; }

  /// One finite score per subject, the higher the faster. Only scores of one task, from one call to another without an
  /// update between them, can be compared.
  virtual Result<std::vector<double>> predict(std::span<const Subject> subjects) = 0;

  /// Learns what subjects took, in seconds; kFailed for those that failed. After an error nothing has changed.
  virtual Result<void> update(std::span<const Subject> subjects, std::span<const double> seconds) = 0;

  /// The same for tasks that nobody will ask about: only what they teach about others counts.
  virtual Result<void> learn_from_others(std::span<const Subject> subjects, std::span<const double> seconds) {
    return update(subjects, seconds);
  }

  /// Writes what was learnt into a file that names the model and its features.
  virtual Result<void> save(const std::filesystem::path& file) const = 0;

  /// Takes over what save() wrote, forgetting everything else. A file of another model or of other features is an error
  /// that names both; after an error nothing has changed.
  virtual Result<void> load(const std::filesystem::path& file) = 0;
};

struct ModelOptions {
  std::uint64_t seed = 0;
  int threads = 0;  ///< how many a call may use; 0: one per core
};

/// The model of this name: "none" (all candidates look alike), "random", "ansor" (boosted trees over the stores of a
/// program, one model for all tasks; "auto" is the same where no network is known), or AutoTVM's "rank-…" and
/// "regression-…" over "knob", "itervar" or "curve" features (trees for each task, the last two transferring from other
/// tasks of a family).
Result<std::unique_ptr<CostModel>> make_cost_model(std::string_view name, const ModelOptions& options = {});

/// The names of all models.
std::span<const std::string_view> cost_model_names();

}  // namespace hone::cost
