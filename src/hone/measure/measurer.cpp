#include "hone/measure/measurer.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <poll.h>

#include "hone/measure/overlap.h"
#include "hone/measure/timing.h"
#include "hone/measure/worker_process.h"

namespace hone::measure {
namespace {

constexpr int kMaxWorkers = 8;
constexpr double kStopPollMs = 250;
/// How long the rest of an answer may take, once its first byte is there.
constexpr double kAnswerMs = 5'000;
/// What a worker keeps of tasks that it may be asked for again: searches of many tasks take turns.
constexpr std::size_t kKnownTasks = 32;
constexpr std::int64_t kKnownBytes = std::int64_t{256} << 20;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The memory of the arguments of a program.
std::int64_t argument_bytes(const ir::Function& program) {
  std::int64_t bytes = 0;
  for (const ir::Expr& param : program.params) {
    std::int64_t size = param.type().bytes();
    for (const ir::Expr& extent : param.get<ir::Buffer>().shape) size *= ir::as_int(extent).value_or(1);
    bytes += size;
  }
  return bytes;
}

}  // namespace

/// Programs that go to one worker together: one, or those to be compared.
struct Job {
  std::size_t number = 0;
  std::vector<MeasureInput> inputs;
  Clock::time_point begin;
};

/// A task that a worker keeps arguments and expected results of.
struct KnownTask {
  std::shared_ptr<const TaskData> data;
  std::uint64_t number = 0;
  std::int64_t bytes = 0;
};

/// A worker and what it is doing.
struct Desk {
  enum class State { Idle, Preparing, Waiting, Timing };

  WorkerProcess process;
  State state = State::Idle;
  Job job = {};
  std::vector<MeasureResult> results = {};
  double limit_ms = 0;
  Deadline deadline = Deadline::max();
  std::deque<KnownTask> known = {};  ///< what the process was told and keeps; the last one used comes first
  int trials = 0;                    ///< of this process
};

/// Runs jobs through the desks: an event loop over the answers of the workers and their deadlines.
class Measurer::Impl {
 public:
  using NextJob = std::function<std::optional<Job>()>;
  using JobDone = std::function<void(const Job&, std::vector<MeasureResult>)>;

  Impl(MeasurerOptions chosen, const std::string& program) : options(std::move(chosen)) {
    const codegen::Target& host = codegen::host_target();
    cores_ = std::max(1, std::min(host.cores, host.threads));
    const int count = options.workers > 0 ? options.workers : std::min(cores_, kMaxWorkers);
    for (int i = 0; i < count; ++i) desks_.push_back(Desk{WorkerProcess(program, options.memory_bytes)});
  }

  Result<void> start_one() { return ensure_alive(desks_.front()); }

  /// An error if it ended because no worker can be started.
  Result<void> run(const NextJob& next, const JobDone& done) {
    overlap_ = Overlap(cores_, options.target.threads);
    for (Desk& desk : desks_)
      if (desk.state != Desk::State::Idle) leave(desk);  // an earlier run was ended by an exception of its caller
    next_ = &next;
    done_ = &done;
    has_more_ = true;
    ended_ = {};
    for (;;) {
      if (options.stop && options.stop->load()) abandon("the measurer was told to stop");
      give_work();
      if (std::all_of(desks_.begin(), desks_.end(), [](const Desk& d) { return d.state == Desk::State::Idle; })) break;
      wait_for_answers();
    }
    return ended_;
  }

  std::vector<pid_t> pids() const {
    std::vector<pid_t> pids;
    for (const Desk& desk : desks_)
      if (desk.process.pid() > 0) pids.push_back(desk.process.pid());
    return pids;
  }

  MeasurerOptions options;
  int started = 0;

 private:
  Result<void> ensure_alive(Desk& desk) {
    if (desk.trials >= options.trials_per_worker) desk.process.stop();
    const pid_t before = desk.process.pid();
    HONE_TRY(desk.process.ensure_alive());
    if (desk.process.pid() == before) return {};
    desk.known.clear();
    desk.trials = 0;
    ++started;
    return {};
  }

  /// Begins all that may begin: first what waits to be timed.
  void give_work() {
    for (Desk& desk : desks_)
      if (desk.state == Desk::State::Waiting && overlap_.may_time()) begin_timing(desk);
    for (Desk& desk : desks_)
      while (desk.state == Desk::State::Idle && has_more_ && overlap_.may_prepare()) {
        std::optional<Job> job = (*next_)();
        if (!job) {
          has_more_ = false;
          break;
        }
        job->begin = Clock::now();
        begin_preparing(desk, *std::move(job));
      }
  }

  void begin_preparing(Desk& desk, Job job) {
    desk.job = std::move(job);
    desk.results.assign(desk.job.inputs.size(), {});
    Message message{.kind = MessageKind::Prepare, .target = codegen::to_string(options.target), .timing = timing_of()};
    for (const MeasureInput& input : desk.job.inputs) message.programs.push_back(to_text(input.program));
    const std::shared_ptr<const TaskData>& data = desk.job.inputs.front().data;
    // A process that died while it had nothing to do is found out by sending: that costs no trial.
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (const Result<void> alive = ensure_alive(desk); !alive) {
        has_more_ = false;
        ended_ = alive;
        return give_up(desk, alive.error().message);
      }
      const bool is_new = name_task(desk, data, argument_bytes(desk.job.inputs.front().program.main), message);
      if (!desk.process.send(message)) {
        desk.process.stop();
        continue;
      }
      desk.state = Desk::State::Preparing;
      const double reference_ms = is_new && data && data->reference ? options.reference_timeout_ms : 0;
      set_limit(desk, options.compile_timeout_ms + reference_ms);
      overlap_.begin_preparing();
      return;
    }
    give_up(desk, "workers die before they can be sent a program");
  }

  /// Says in the message which task it is about; true if the worker has to be told all about it.
  bool name_task(Desk& desk, const std::shared_ptr<const TaskData>& data, std::int64_t bytes, Message& message) {
    std::deque<KnownTask>& known = desk.known;
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const KnownTask& task) { return task.data == data; });
    const bool is_new = found == known.end();
    if (is_new) {
      known.push_front({data, ++last_task_, bytes});
    } else {
      std::rotate(known.begin(), found, found + 1);
    }
    message.task_number = known.front().number;
    message.task.reset();
    if (is_new) message.task = data ? to_text(*data) : TaskText{};
    message.forgotten.clear();
    std::int64_t sum = 0;
    for (const KnownTask& task : known) sum += task.bytes;
    while (known.size() > 1 && (known.size() > kKnownTasks || sum > kKnownBytes)) {
      sum -= known.back().bytes;
      message.forgotten.push_back(known.back().number);
      known.pop_back();
    }
    return is_new;
  }

  void begin_timing(Desk& desk) {
    overlap_.end_waiting();
    overlap_.begin_timing();
    desk.state = Desk::State::Timing;
    set_limit(desk, options.run_timeout_ms);
    if (!desk.process.send(Message{.kind = MessageKind::Run})) fail(desk, desk.process.bury());
  }

  /// Waits until a worker answers, dies or is late, and deals with it.
  void wait_for_answers() {
    std::vector<pollfd> fds;
    std::vector<Desk*> waiting;
    Deadline soonest = options.stop ? deadline_in_ms(kStopPollMs) : Deadline::max();
    for (Desk& desk : desks_) {
      if (desk.state == Desk::State::Idle) continue;
      fds.push_back({desk.process.fd(), POLLIN, 0});
      waiting.push_back(&desk);
      if (desk.state != Desk::State::Waiting) soonest = std::min(soonest, desk.deadline);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(soonest - Clock::now()).count();
    const int timeout =
        soonest == Deadline::max() ? -1 : static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
    if (::poll(fds.data(), fds.size(), timeout) < 0) return;  // a signal: look at everything anew
    for (std::size_t i = 0; i < fds.size(); ++i) {
      Desk& desk = *waiting[i];
      if (fds[i].revents != 0) {
        take_answer(desk);
      } else if (desk.state != Desk::State::Waiting && Clock::now() >= desk.deadline) {
        time_out(desk);
      }
    }
  }

  void take_answer(Desk& desk) {
    const std::optional<Message> answer = desk.process.receive(deadline_in_ms(kAnswerMs));
    const MessageKind wanted = desk.state == Desk::State::Preparing ? MessageKind::Prepared : MessageKind::Finished;
    if (!answer || desk.state == Desk::State::Waiting || answer->kind != wanted ||
        answer->results.size() != desk.job.inputs.size())
      return fail(desk, desk.process.bury());
    desk.results = answer->results;
    const auto can_run = [](const MeasureResult& result) { return result.status == TrialStatus::NotRun; };
    if (wanted == MessageKind::Prepared && std::any_of(desk.results.begin(), desk.results.end(), can_run)) {
      overlap_.end_preparing();
      overlap_.begin_waiting();
      desk.state = Desk::State::Waiting;
    } else {
      finish(desk);
    }
  }

  void time_out(Desk& desk) {
    MeasureResult late;
    late.status = TrialStatus::Timeout;
    const char* what = desk.state == Desk::State::Timing ? "running" : "compiling";
    late.message = fmt::format("{} took more than {:.0f} ms", what, desk.limit_ms);
    desk.process.stop();
    fail(desk, late);
  }

  /// Ends the job of a desk with what became of its process; programs whose fate was known keep it.
  void fail(Desk& desk, const MeasureResult& what) {
    for (MeasureResult& result : desk.results)
      if (result.status == TrialStatus::NotRun) {
        result.status = what.status;
        result.message = what.message;
      }
    finish(desk);
  }

  void give_up(Desk& desk, const std::string& why) {
    fail(desk, MeasureResult{.status = TrialStatus::NotRun, .message = why});
  }

  void finish(Desk& desk) {
    if (desk.state == Desk::State::Preparing) overlap_.end_preparing();
    if (desk.state == Desk::State::Waiting) overlap_.end_waiting();
    if (desk.state == Desk::State::Timing) overlap_.end_timing();
    desk.state = Desk::State::Idle;
    ++desk.trials;
    for (MeasureResult& result : desk.results) {
      result.cache = timing_of().cache;
      result.trial_ms = ms_since(desk.job.begin);
    }
    (*done_)(std::exchange(desk.job, {}), std::exchange(desk.results, {}));
  }

  /// Ends a process that is in the middle of something.
  static void leave(Desk& desk) {
    desk.process.stop();
    desk.state = Desk::State::Idle;
  }

  /// Leaves everything that is not finished.
  void abandon(const std::string& why) {
    has_more_ = false;
    for (Desk& desk : desks_) {
      if (desk.state == Desk::State::Idle) continue;
      desk.process.stop();
      give_up(desk, why);
    }
  }

  static void set_limit(Desk& desk, double ms) {
    desk.limit_ms = ms;
    desk.deadline = deadline_in_ms(ms);
  }

  const Timing& timing_of() const { return timing ? *timing : options.timing; }

 public:
  std::optional<Timing> timing;  ///< for the jobs at hand, if not the usual one

 private:
  int cores_ = 1;
  std::uint64_t last_task_ = 0;  ///< the number given last
  std::deque<Desk> desks_;
  Overlap overlap_{1, 1};
  const NextJob* next_ = nullptr;
  const JobDone* done_ = nullptr;
  bool has_more_ = false;
  Result<void> ended_;  ///< the error if no trial can be run any more
};

Result<Measurer> Measurer::start(MeasurerOptions options) {
  std::string program = options.worker_program;
  if (program.empty()) { HONE_TRY(program, find_worker_program()); }
  auto impl = std::make_unique<Impl>(std::move(options), program);
  HONE_TRY(impl->start_one());
  return Measurer(std::move(impl));
}

Measurer::Measurer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Measurer::Measurer(Measurer&&) noexcept = default;
Measurer& Measurer::operator=(Measurer&&) noexcept = default;
Measurer::~Measurer() = default;

Result<void> Measurer::run(const Source& next, const Sink& done) {
  std::size_t count = 0;
  impl_->timing.reset();
  return impl_->run(
      [&]() -> std::optional<Job> {
        std::optional<MeasureInput> input = next();
        if (!input) return std::nullopt;
        Job job;
        job.number = count++;
        job.inputs.push_back(*std::move(input));
        return job;
      },
      [&](const Job& job, const std::vector<MeasureResult>& results) { done(job.number, results.front()); });
}

std::vector<MeasureResult> Measurer::measure(std::span<const MeasureInput> inputs) {
  std::vector<MeasureResult> results(inputs.size());
  std::size_t at = 0;
  const Result<void> ended = run(
      [&]() -> std::optional<MeasureInput> {
        if (at == inputs.size()) return std::nullopt;
        return inputs[at++];
      },
      [&](std::size_t i, const MeasureResult& result) { results[i] = result; });
  for (; at < inputs.size(); ++at)
    results[at].message = ended ? "the measurer was told to stop" : ended.error().message;
  return results;
}

std::vector<MeasureResult> Measurer::compare(std::span<const MeasureInput> inputs, const Timing& timing) {
  if (inputs.empty()) return {};
  std::vector<MeasureResult> found(inputs.size(), MeasureResult{.message = "the measurer was told to stop"});
  bool is_given = false;
  impl_->timing = timing;
  (void)impl_->run(  // what is wrong stands in the results
      [&]() -> std::optional<Job> {
        if (std::exchange(is_given, true)) return std::nullopt;
        Job job;
        job.inputs.assign(inputs.begin(), inputs.end());
        return job;
      },
      [&](const Job&, std::vector<MeasureResult> results) { found = std::move(results); });
  return found;
}

std::pair<MeasureResult, MeasureResult> Measurer::compare(const MeasureInput& a, const MeasureInput& b) {
  const std::array inputs = {a, b};
  std::vector<MeasureResult> results = compare(inputs, impl_->options.timing);
  return {std::move(results[0]), std::move(results[1])};
}

const MeasurerOptions& Measurer::options() const { return impl_->options; }
void Measurer::set_timing(const Timing& timing) { impl_->options.timing = timing; }
void Measurer::set_target(const codegen::Target& target) { impl_->options.target = target; }
std::vector<pid_t> Measurer::worker_pids() const { return impl_->pids(); }
int Measurer::started_workers() const { return impl_->started; }

}  // namespace hone::measure
