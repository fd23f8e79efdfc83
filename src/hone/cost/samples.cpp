#include "hone/cost/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/cost/byte_reader.h"

namespace hone::cost {

Result<void> check_samples(std::string_view model, std::span<const Subject> subjects, std::span<const double> seconds) {
  if (subjects.size() != seconds.size())
    return error(ErrorCode::InvalidArgument, "{}: {} candidates come with {} times, not as many", model,
                 subjects.size(), seconds.size());
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].task.empty())
      return error(ErrorCode::InvalidArgument, "{}: candidate {} has no task, whose times it is compared with", model,
                   i);
    if (!(seconds[i] > 0))  // also true for NaN
      return error(ErrorCode::InvalidArgument,
                   "{}: candidate {} of task '{}' took {} seconds; a time is positive, or infinity for a failure",
                   model, i, subjects[i].task, seconds[i]);
  }
  return {};
}

void SampleSet::add(const Subject& subject, double seconds, std::span<const float> features) {
  std::optional<std::uint32_t> task = find_task(subject.task);
  if (!task) {
    task = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back(
        {.name = subject.task, .family = subject.family, .best_seconds = std::numeric_limits<double>::infinity()});
  }
  Task& row = tasks_[*task];
  row.best_seconds = std::min(row.best_seconds, seconds);
  ++row.samples;
  samples_.push_back({*task, seconds, values_.size(), features.size()});
  values_.insert(values_.end(), features.begin(), features.end());
}

std::optional<std::uint32_t> SampleSet::find_task(std::string_view name) const {
  const auto task = std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& known) { return known.name == name; });
  if (task == tasks_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(task - tasks_.begin());
}

float SampleSet::label(const Sample& sample) const {
  return std::isfinite(sample.seconds) ? static_cast<float>(tasks_[sample.task].best_seconds / sample.seconds) : 0;
}

std::string SampleSet::to_bytes() const {
  std::string bytes;
  append<std::uint64_t>(bytes, tasks_.size());
  for (const Task& task : tasks_) {
    append_text(bytes, task.name);
    append_text(bytes, task.family);
  }
  append<std::uint64_t>(bytes, samples_.size());
  for (const Sample& sample : samples_) {
    append<std::uint32_t>(bytes, sample.task);
    append<double>(bytes, sample.seconds);
    append_text(bytes, {reinterpret_cast<const char*>(values(sample).data()), sample.size * sizeof(float)});
  }
  return bytes;
}

Result<SampleSet> SampleSet::from_bytes(std::string_view bytes) {
  SampleSet set;
  ByteReader reader(bytes);
  std::vector<Subject> tasks;
  HONE_TRY(const std::uint64_t task_count, reader.number<std::uint64_t>());
  for (std::uint64_t i = 0; i < task_count; ++i) {
    HONE_TRY(const std::string_view name, reader.text());
    HONE_TRY(const std::string_view family, reader.text());
    tasks.push_back({.task = std::string(name), .family = std::string(family)});
  }
  HONE_TRY(const std::uint64_t sample_count, reader.number<std::uint64_t>());
  std::vector<float> features;
  for (std::uint64_t i = 0; i < sample_count; ++i) {
    HONE_TRY(const std::uint32_t task, reader.number<std::uint32_t>());
    HONE_TRY(const double seconds, reader.number<double>());
    HONE_TRY(const std::string_view values, reader.text());
    if (task >= tasks.size() || !(seconds > 0) || values.size() % sizeof(float) != 0)
      return error(ErrorCode::ParseError, "sample {} is of task {} of {}, took {} seconds and has {} bytes of features",
                   i, task, tasks.size(), seconds, values.size());
    features.resize(values.size() / sizeof(float));
    std::memcpy(features.data(), values.data(), values.size());
    set.add(tasks[task], seconds, features);
  }
  if (!reader.at_end()) return error(ErrorCode::ParseError, "bytes follow the last of {} samples", sample_count);
  return set;
}

}  // namespace hone::cost
