/// Compilation: the whole way of a model from a graph to a plan that runs.
#pragma once

#include <functional>
#include <memory>

#include "hone/graph/specialize.h"
#include "hone/kernel_cache.h"
#include "hone/runtime/plan.h"

namespace hone {

/// Makes a graph inside an operator runnable.
using MakeBody = std::function<std::shared_ptr<const runtime::BodyCode>(std::shared_ptr<const graph::Graph> graph)>;

/// Compiles a stage: fuses, schedules, generates code, packs constants and lays out memory.
Result<std::unique_ptr<runtime::Plan>> compile(const graph::Stage& stage, KernelCache& kernels,
                                               const MakeBody& make_body);

}  // namespace hone
