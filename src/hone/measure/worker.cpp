#include "hone/measure/worker.h"

#include <chrono>
#include <functional>
#include <map>
#include <new>
#include <optional>

#include "hone/measure/prepared_kernel.h"
#include "hone/measure/protocol.h"
#include "hone/measure/timing.h"
#include "hone/support/subprocess.h"

namespace hone::measure {
namespace {

/// The status of a trial that ended with this error while it was compiled or run.
TrialStatus status_of(const Error& error, TrialStatus otherwise) {
  return error.code == ErrorCode::OutOfMemory ? TrialStatus::OutOfMemory : otherwise;
}

/// Does the work on a result; what is thrown becomes its status, so that the worker lives on.
void guard(MeasureResult& result, TrialStatus otherwise, const std::function<Result<void>()>& work) {
  try {
    if (const Result<void> done = work(); !done) {
      result.status = status_of(done.error(), otherwise);
      result.message = done.error().message;
    }
  } catch (const std::bad_alloc&) {
    result.status = TrialStatus::OutOfMemory;
    result.message = "no memory left";
  } catch (const std::exception& exception) {
    result.status = otherwise;
    result.message = exception.what();
  }
}

/// Holds what was prepared last.
class Worker {
 public:
  Message answer(Message request) {
    Message reply;
    if (request.kind == MessageKind::Run) {
      run();
      reply.kind = MessageKind::Finished;
    } else {
      prepare(std::move(request));
      reply.kind = MessageKind::Prepared;
    }
    reply.results = results_;
    return reply;
  }

 private:
  /// A result is NotRun as long as nothing went wrong.
  void prepare(Message request) {
    kernels_.clear();
    timing_ = request.timing;
    results_.assign(request.programs.size(), MeasureResult{.cache = timing_.cache});
    kernels_.resize(request.programs.size());
    for (const std::uint64_t number : request.forgotten) tasks_.erase(number);
    if (request.task) tasks_.erase(request.task_number);
    TaskText text = request.task ? *std::move(request.task) : TaskText{};
    TaskArguments& arguments = tasks_.try_emplace(request.task_number, std::move(text)).first->second;
    for (auto& [number, task] : tasks_)
      if (&task != &arguments) task.forget_packings();  // which may be large
    arguments_ = &arguments;
    for (std::size_t i = 0; i < request.programs.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      guard(results_[i], TrialStatus::CompileError, [&]() -> Result<void> {
        HONE_TRY(target_, codegen::parse_target(request.target));
        HONE_TRY(kernels_[i], PreparedKernel::compile(request.programs[i], target_, *arguments_));
        return {};
      });
      results_[i].compile_ms =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      if (!kernels_[i]) continue;
      guard(results_[i], TrialStatus::RunError, [&]() -> Result<void> {
        HONE_TRY(kernels_[i]->bind(*arguments_));
        const auto expected = arguments_->expected(target_);
        if (!expected) return error(expected.error().code, "the reference: {}", expected.error().message);
        return {};
      });
    }
    if (target_.threads > 1 && (!pool_ || pool_threads_ != target_.threads)) {
      pool_ = std::make_unique<runtime::ThreadPool>(target_.threads);
      pool_threads_ = target_.threads;
    }
  }

  /// The first call of each program is its warm-up, and the one that is checked.
  void run() {
    runtime::ThreadPool* pool = target_.threads > 1 ? pool_.get() : nullptr;
    std::vector<Timed> timed;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      MeasureResult& result = results_[i];
      if (result.status != TrialStatus::NotRun) continue;
      guard(result, TrialStatus::RunError, [&] { return check(i, pool); });
      if (result.status != TrialStatus::NotRun) continue;
      timed.push_back({[this, i, pool] { return kernels_[i]->call(pool); }, [this, i] { kernels_[i]->flush(); }});
      which.push_back(i);
    }
    std::vector<Samples> samples = time_in_turns(timed, timing_);
    for (std::size_t k = 0; k < which.size(); ++k) {
      MeasureResult& result = results_[which[k]];
      result.status = samples[k].is_ok ? TrialStatus::Ok : TrialStatus::OutOfMemory;
      if (!samples[k].is_ok) result.message = "the kernel could not allocate its scratch memory";
      result.samples_ns = std::move(samples[k].ns);
      result.calls = samples[k].calls;
    }
  }

  Result<void> check(std::size_t i, runtime::ThreadPool* pool) {
    MeasureResult& result = results_[i];
    HONE_TRY(kernels_[i]->reset_outputs(*arguments_));
    if (!kernels_[i]->call(pool))
      return error(ErrorCode::OutOfMemory, "the kernel could not allocate its scratch memory");
    HONE_TRY(const Comparison found, kernels_[i]->check(*arguments_, target_));
    result.is_checked = arguments_->task().says_what_is_expected();
    result.largest_error = found.largest_error;
    if (found.status == TrialStatus::Ok) return {};
    result.status = found.status;
    result.message = found.message;
    return {};
  }

  codegen::Target target_;
  Timing timing_;
  std::map<std::uint64_t, TaskArguments> tasks_;
  TaskArguments* arguments_ = nullptr;  ///< of the task at hand
  std::vector<std::optional<PreparedKernel>> kernels_;
  std::vector<MeasureResult> results_;
  std::unique_ptr<runtime::ThreadPool> pool_;
  int pool_threads_ = 0;
};

}  // namespace

int run_worker() {
  std::optional<Channel> channel = channel_to_parent();
  if (!channel) {
    fmt::print(stderr, "hone_worker is started by hone's measurer, not by hand\n");
    return 2;
  }
  Worker worker;
  if (channel->send(encode(Message{}), Deadline::max()) != Transfer::Done) return 1;
  for (std::string bytes; channel->receive(bytes, Deadline::max()) == Transfer::Done;) {
    Result<Message> request = decode(bytes);
    if (!request) {
      fmt::print(stderr, "{}\n", request.error().message);
      return 1;
    }
    if (channel->send(encode(worker.answer(*std::move(request))), Deadline::max()) != Transfer::Done) return 1;
  }
  return 0;
}

}  // namespace hone::measure
