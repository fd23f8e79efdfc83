/// Compilation: the whole way of a model from a graph to a plan that runs.
#pragma once

#include <functional>
#include <memory>

#include "hone/graph/layout.h"
#include "hone/graph/partition.h"
#include "hone/graph/specialize.h"
#include "hone/kernel_cache.h"
#include "hone/runtime/plan.h"

namespace hone {

/// Makes a graph inside an operator runnable.
using MakeBody = std::function<std::shared_ptr<const runtime::BodyCode>(std::shared_ptr<const graph::Graph> graph)>;

/// The groups of a stage, and what its kernels compute.
struct StageTasks {
  std::vector<graph::Group> groups;
  graph::ChannelBlocks blocks;     ///< how values between kernels are stored
  std::vector<space::Task> tasks;  ///< of the Kernel groups, in order
};

/// What the choice of layouts knows of a target, and of the Kernel groups.
graph::LayoutMachine layout_machine(const codegen::Target& target);
Result<std::vector<graph::LayoutKernel>> layout_kernels(const graph::Stage& stage,
                                                        const std::vector<graph::Group>& groups,
                                                        const codegen::Target& target);

/// What the kernel of a group computes, by each algorithm that can, on values that are stored like this; `direct` is
/// its naive program.
Result<space::Task> task_of(const graph::Stage& stage, const graph::Group& group, const ir::Function& direct,
                            const graph::ChannelBlocks& blocks, const codegen::Target& target);

/// Cuts a stage into groups, and says what each kernel computes on this target; nothing is compiled.
Result<StageTasks> tasks_of(const graph::Stage& stage, const codegen::Target& target);

/// Compiles a stage: fuses, schedules, generates code, packs constants and lays out memory.
Result<std::unique_ptr<runtime::Plan>> compile(const graph::Stage& stage, KernelCache& kernels,
                                               const MakeBody& make_body);

}  // namespace hone
