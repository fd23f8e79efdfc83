#include "hone/explain.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/space/make_space.h"

namespace hone {
namespace {

/// So few digits of a key could be a number.
constexpr std::size_t kFewestDigits = 6;

std::string listed(const std::vector<TaskUse>& tasks, const std::vector<std::size_t>& places) {
  constexpr std::size_t kMost = 40;
  std::vector<std::string> texts;
  for (const std::size_t i : places) {
    if (texts.size() == kMost) {
      texts.push_back(fmt::format("… {} in all", places.size()));
      break;
    }
    texts.push_back(fmt::format("{} ({})", i + 1, tasks[i].name));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

Result<TaskExplanation> explain(const space::Task& task, const codegen::Target& target, Tuned& tuned,
                                const ExplainOptions& options) {
  TaskExplanation explanation;
  const std::string usual = target.is_gpu() ? "auto" : "mapping";
  HONE_TRY(explanation.space, space::make_space(options.space.empty() ? usual : options.space, task, target));
  Rng rng(options.seed);
  explanation.built = space::explain(*explanation.space, options.samples, rng);
  explanation.key = measure::task_key(task.naive(), task.constants);
  if (target.is_gpu()) return explanation;
  explanation.chosen = tuned.choose(task, target);
  if (const auto built = explanation.chosen->space->build(explanation.chosen->candidate); !built) {
    explanation.refusal = built.error().message;
    explanation.chosen = default_choice(task, target, tuned.first_choice());
  }
  return explanation;
}

Result<std::size_t> find_task(const std::vector<TaskUse>& tasks, const std::string& wanted) {
  std::size_t number = 0;
  const auto [end, status] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  const bool is_number = status == std::errc() && end == wanted.data() + wanted.size();
  if (is_number && number >= 1 && number <= tasks.size()) return number - 1;
  std::vector<std::size_t> all, found;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    all.push_back(i);
    const bool is_key = wanted.size() >= kFewestDigits &&
                        measure::task_key(tasks[i].task->naive(), tasks[i].task->constants).key.starts_with(wanted);
    if (tasks[i].name == wanted || is_key) found.push_back(i);
  }
  if (found.size() == 1) return found.front();
  if (tasks.empty()) return error(ErrorCode::NotFound, "there is no task '{}': the model has no kernels", wanted);
  if (found.empty()) return error(ErrorCode::NotFound, "there is no task '{}', only: {}", wanted, listed(tasks, all));
  return error(ErrorCode::InvalidArgument, "'{}' is the name of {} tasks, give the number of one: {}", wanted,
               found.size(), listed(tasks, found));
}

}  // namespace hone
