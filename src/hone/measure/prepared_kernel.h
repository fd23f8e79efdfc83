/// A kernel with its arguments, ready to be called in this process; and the arguments and results of a task.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/measure/buffers.h"
#include "hone/measure/check.h"
#include "hone/measure/load_kernel.h"
#include "hone/measure/protocol.h"
#include "hone/runtime/thread_pool.h"

namespace hone::measure {

/// The arguments and the expected outputs of one task, made when they are first asked for.
class TaskArguments {
 public:
  explicit TaskArguments(TaskText task) : task_(std::move(task)) {}

  const TaskText& task() const { return task_; }

  /// The buffer for an input at a place among the parameters, filled; the same for every program that asks.
  Result<std::shared_ptr<Buffer>> input(std::size_t place, const ir::Expr& param);
  /// Memory for an output at a place, with the content that it has before each program's first call.
  Result<std::shared_ptr<Buffer>> fresh_output(std::size_t place, const ir::Expr& param);
  /// The outputs that every program must give, in their order; none if the task does not say.
  Result<const std::vector<Expected>*> expected(const codegen::Target& target);

  /// Constants as a program packed them, in the order in which it names them. Candidates of a task often pack alike,
  /// and what packs takes as long to compile as what computes: the last few packings are kept, by the text of their
  /// program.
  using Packing = std::vector<std::shared_ptr<Buffer>>;
  std::shared_ptr<const Packing> find_packing(std::string_view prepare);
  void keep_packing(std::string prepare, std::shared_ptr<const Packing> packing);
  void forget_packings() { packings_.clear(); }

  /// Machine code of programs of the task. Those that lead it are timed again and again, in turns with challengers that
  /// were timed a moment ago: the last few are kept, by target and text.
  struct Compiled {
    KernelProgram program;
    LoadedKernel kernel;
  };
  const Compiled* find_compiled(std::string_view text);
  void keep_compiled(std::string text, Compiled compiled);

 private:
  Result<void> run_reference(const codegen::Target& target);
  struct Found {
    std::shared_ptr<Buffer> buffer;
    bool is_new;
  };
  /// The buffer at a place if it fits the parameter, or else a new one.
  static Result<Found> find(std::vector<std::shared_ptr<Buffer>>& buffers, std::size_t place, const ir::Expr& param);

  TaskText task_;
  std::vector<std::shared_ptr<Buffer>> inputs_, outputs_;  ///< by place
  std::vector<Expected> expected_;
  bool has_run_reference_ = false;
  std::deque<std::pair<std::string, std::shared_ptr<const Packing>>> packings_;  ///< the last one used comes first
  std::deque<std::pair<std::string, Compiled>> compiled_;                        ///< as well
};

/// A compiled program bound to the arguments of its task. Programs of one task share the memory of their outputs.
class PreparedKernel {
 public:
  /// A parameter that the program writes.
  struct Output {
    std::size_t place;
    ir::Expr param;
    std::shared_ptr<Buffer> buffer;
  };

  /// Compiles it unless that was done, and without what packs its constants if that was done for another program.
  static Result<PreparedKernel> compile(const ProgramText& text, const codegen::Target& target,
                                        TaskArguments& arguments);
  /// Makes its arguments and packs its constants; once, before it is called.
  Result<void> bind(TaskArguments& arguments);

  /// Calls it; false if it found no scratch memory.
  bool call(runtime::ThreadPool* pool) const { return kernel_.entry(pointers_.data(), pool) == 0; }
  void flush() const;

  const std::vector<Output>& outputs() const { return outputs_; }
  /// Sets its outputs to what they are before the first call.
  Result<void> reset_outputs(TaskArguments& arguments);
  /// Compares its outputs with what is expected.
  Result<Comparison> check(TaskArguments& arguments, const codegen::Target& target) const;

 private:
  PreparedKernel(KernelProgram program, LoadedKernel kernel)
      : program_(std::move(program)), kernel_(std::move(kernel)) {}
  Result<void> pack(TaskArguments& arguments);

  KernelProgram program_;
  LoadedKernel kernel_;
  std::string prepare_;                                    ///< the text of what packs
  std::shared_ptr<const TaskArguments::Packing> packing_;  ///< null as long as it is not packed
  std::vector<void*> pointers_;
  std::vector<std::shared_ptr<Buffer>> touched_;
  std::vector<Output> outputs_;
};

}  // namespace hone::measure
