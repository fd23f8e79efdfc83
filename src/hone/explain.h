/// Explains a task: which candidates a space has for it, what was kept out and why, and which one would be compiled.
#pragma once

#include <string>

#include "hone/space/explain.h"
#include "hone/tasks.h"
#include "hone/tuned.h"

namespace hone {

/// How many candidates of a large space are built to see how many of them can be.
inline constexpr std::size_t kUsualSamples = 500;

struct ExplainOptions {
  std::string space = {};  ///< empty: "mapping", for GPUs "auto"
  std::size_t samples = kUsualSamples;
  std::uint64_t seed = 1;
};

/// What is to be known about a task.
struct TaskExplanation {
  std::unique_ptr<space::Space> space;
  space::Explanation built;  ///< of candidates of the space
  measure::TaskKey key;
  std::optional<Chosen> chosen;  ///< what a session compiles, whatever the space; nothing for GPUs
  std::string refusal = {};      ///< why what the records say cannot be built, so that the default is compiled
};

/// Looks at a task. An error if there is no such space.
Result<TaskExplanation> explain(const space::Task& task, const codegen::Target& target, Tuned& tuned,
                                const ExplainOptions& options = {});

/// The task of this name, of this number, counted from 1, or whose key begins with these digits. An error lists what
/// there is.
Result<std::size_t> find_task(const std::vector<TaskUse>& tasks, const std::string& wanted);

}  // namespace hone
