#include "hone/cost/samples.h"

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

}  // namespace hone::cost
