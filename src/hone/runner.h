/// Runners: run a graph on inputs of any shape, compiling it for each combination of shapes when it is first seen.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hone/compile.h"
#include "hone/graph/graph.h"
#include "hone/kernel_cache.h"
#include "hone/runtime/plan.h"

namespace hone {

/// What all runners of a session share.
struct RunnerContext {
  explicit RunnerContext(codegen::Target target, std::string records = {}, bool keeps_tasks = false,
                         FirstChoice first = FirstChoice())
      : kernels(std::move(target), std::move(records), keeps_tasks, std::move(first)) {}
  /// The same with certain candidates for some kernels.
  RunnerContext(const RunnerContext& other, KernelChoices choices)
      : kernels(other.kernels, std::move(choices)), max_specializations(other.max_specializations) {}

  KernelCache kernels;
  std::size_t max_specializations = 64;  ///< of each graph; the one unused for longest makes room
};

/// Runs one graph. Thread-safe.
class Runner : public runtime::BodyCode {
 public:
  /// `wants_content` says of which inputs (captured ones last) the content is part of the specialization.
  Runner(std::shared_ptr<const graph::Graph> graph, std::shared_ptr<RunnerContext> context,
         std::vector<bool> wants_content = {});
  ~Runner() override;

  /// Runs on one value per input and captured value. Outputs that hold a fitting tensor are filled.
  Result<void> run(std::span<const runtime::Value> inputs, std::span<runtime::Value> outputs, runtime::ThreadPool* pool,
                   runtime::Profile* profile = nullptr) const;

  /// Runs as the body of an operator.
  Result<std::vector<runtime::Value>> call(std::span<const runtime::Value> inputs,
                                           std::span<const runtime::Value> captured,
                                           runtime::ThreadPool* pool) const override;
  runtime::Body::Declared declared(std::size_t output) const override;

  /// Compiles for these inputs, and gives the plans that a run goes through, one per stage. Of a single stage only
  /// types and shapes of the inputs count; more than one can be told only by running them.
  Result<std::vector<const runtime::Plan*>> prepare(std::span<const runtime::Value> inputs,
                                                    runtime::ThreadPool* pool) const;

 private:
  struct Specialization;

  Result<std::shared_ptr<const Specialization>> find_or_make(std::span<const runtime::Value> inputs) const;
  Result<std::shared_ptr<const Specialization>> make(std::span<const runtime::Value> inputs) const;
  bool fits(const Specialization& specialization, std::span<const runtime::Value> inputs) const;

  std::shared_ptr<const graph::Graph> graph_;
  std::shared_ptr<RunnerContext> context_;
  std::vector<bool> wants_content_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Specialization>> specializations_;  ///< the last used one last
};

/// Evaluates single nodes for folding: small ones by the reference evaluator, large ones compiled.
graph::Evaluate folding_evaluator(std::shared_ptr<RunnerContext> context);

}  // namespace hone
