/// Samples: what was measured, as rows of features with times, by task.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cost/cost_model.h"

namespace hone::cost {

/// An error unless there is one time per subject, each a positive number or infinity, and each subject has a task.
Result<void> check_samples(std::string_view model, std::span<const Subject> subjects, std::span<const double> seconds);

/// The features of candidates that were timed. A sample has one row of features or several; their length is the owner's
/// to know.
class SampleSet {
 public:
  struct Task {
    std::string name, family;
    std::size_t samples = 0;
    double best_seconds;  ///< infinity if all failed
  };
  struct Sample {
    std::uint32_t task;
    double seconds;
    std::size_t first, size;  ///< its part of all values
  };

  void add(const Subject& subject, double seconds, std::span<const float> features);

  std::span<const Task> tasks() const { return tasks_; }
  std::span<const Sample> samples() const { return samples_; }
  std::span<const float> values() const { return values_; }
  std::span<const float> values(const Sample& sample) const { return values().subspan(sample.first, sample.size); }
  /// The place of a task, or nothing.
  std::optional<std::uint32_t> find_task(std::string_view name) const;
  /// How fast a sample is, as a share of the fastest of its task; 0 for those that failed.
  float label(const Sample& sample) const;

  /// All samples as bytes, and back. The bytes belong to this machine.
  std::string to_bytes() const;
  static Result<SampleSet> from_bytes(std::string_view bytes);

 private:
  std::vector<Task> tasks_;
  std::vector<Sample> samples_;
  std::vector<float> values_;
};

}  // namespace hone::cost
