#include "hone/measure/worker.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <malloc.h>
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

/// Packings are kept of so many tasks, those used last: they may be large.
constexpr std::size_t kTasksWithPackings = 3;

/// Programs that were prepared together: one, or several to be timed in turns.
class PreparedJob {
 public:
  PreparedJob(std::shared_ptr<TaskArguments> arguments, const Timing& timing)
      : arguments_(std::move(arguments)), timing_(timing) {}

  /// A result is NotRun as long as nothing went wrong.
  const std::vector<MeasureResult>& results() const { return results_; }
  bool can_run() const {
    return std::any_of(results_.begin(), results_.end(),
                       [](const MeasureResult& result) { return result.status == TrialStatus::NotRun; });
  }
  int threads() const { return target_.threads; }

  void prepare(const std::string& target, const std::vector<ProgramText>& programs) {
    results_.assign(programs.size(), MeasureResult{.cache = timing_.cache});
    kernels_.resize(programs.size());
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      guard(results_[i], TrialStatus::CompileError, [&]() -> Result<void> {
        HONE_TRY(target_, codegen::parse_target(target));
        HONE_TRY(kernels_[i], PreparedKernel::compile(programs[i], target_, *arguments_));
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
  }

  /// The first call of each program is its warm-up, and the one that is checked.
  void run(runtime::ThreadPool* pool) {
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

 private:
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

  std::shared_ptr<TaskArguments> arguments_;
  Timing timing_;
  codegen::Target target_;
  std::vector<std::optional<PreparedKernel>> kernels_;
  std::vector<MeasureResult> results_;
};

/// Keeps the tasks it was told of, and what is prepared and not run yet.
class Worker {
 public:
  Message answer(Message request) {
    return request.kind == MessageKind::Run ? run(request.job) : prepare(std::move(request));
  }

 private:
  Message prepare(Message request) {
    for (const std::uint64_t number : request.forgotten) tasks_.erase(number);
    PreparedJob job(arguments_of(request), request.timing);
    job.prepare(request.target, request.programs);
    Message reply{.kind = MessageKind::Prepared, .results = job.results()};
    if (job.can_run()) jobs_.insert_or_assign(request.job, std::move(job));
    return reply;
  }

  Message run(std::uint64_t number) {
    Message reply{.kind = MessageKind::Finished};
    const auto found = jobs_.find(number);
    if (found == jobs_.end()) return reply;
    found->second.run(pool_of(found->second.threads()));
    reply.results = found->second.results();
    jobs_.erase(found);
    return reply;
  }

  std::shared_ptr<TaskArguments> arguments_of(Message& request) {
    const std::uint64_t number = request.task_number;
    if (request.task) tasks_.erase(number);
    std::shared_ptr<TaskArguments>& task = tasks_[number];
    if (!task) task = std::make_shared<TaskArguments>(request.task ? *std::move(request.task) : TaskText{});
    recent_.erase(std::remove(recent_.begin(), recent_.end(), number), recent_.end());
    recent_.push_front(number);
    while (recent_.size() > kTasksWithPackings) {
      if (const auto old = tasks_.find(recent_.back()); old != tasks_.end()) old->second->forget_packings();
      recent_.pop_back();
    }
    return task;
  }

  /// None for one thread.
  runtime::ThreadPool* pool_of(int threads) {
    if (threads <= 1) return nullptr;
    if (!pool_ || pool_threads_ != threads) {
      pool_ = std::make_unique<runtime::ThreadPool>(threads);
      pool_threads_ = threads;
    }
    return pool_.get();
  }

  std::map<std::uint64_t, std::shared_ptr<TaskArguments>> tasks_;
  std::deque<std::uint64_t> recent_;  ///< the tasks used last, the very last one first
  std::map<std::uint64_t, PreparedJob> jobs_;
  std::unique_ptr<runtime::ThreadPool> pool_;
  int pool_threads_ = 0;
};

/// Compiling takes and gives back some tens of megabytes in each trial: they stay with the process, since the system
/// clears each page that it hands out.
void keep_memory() {
#ifdef __GLIBC__
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
  ::mallopt(M_TOP_PAD, 16 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace

int run_worker() {
  std::optional<Channel> channel = channel_to_parent();
  if (!channel) {
    fmt::print(stderr, "hone_worker is started by hone's measurer, not by hand\n");
    return 2;
  }
  keep_memory();
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
