#include "hone/measure/measurer.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <poll.h>

#include "hone/measure/meanwhile.h"
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
/// How often a trial is prepared again because the process died that had prepared it.
constexpr int kMostLosses = 3;
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
  std::size_t number = 0;  ///< in the order of the source
  MeasureJob what;
  std::vector<MeasureResult> results;
  Clock::time_point begin;
  std::uint64_t id = 0;  ///< for the worker
  int losses = 0;        ///< how often the process died that had prepared it, of something else
};

/// A task that a worker keeps arguments and expected results of.
struct KnownTask {
  std::shared_ptr<const TaskData> data;
  std::uint64_t number = 0;
  std::int64_t bytes = 0;
};

/// A worker, what it is doing, and what it has prepared.
struct Desk {
  enum class State { Idle, Preparing, Timing };

  WorkerProcess process;
  State state = State::Idle;
  Job job = {};                  ///< what it is doing
  std::deque<Job> waiting = {};  ///< what it has prepared, to be timed
  double limit_ms = 0;
  Deadline deadline = Deadline::max();
  std::deque<KnownTask> known = {};  ///< what the process was told and keeps; the last one used comes first
  int trials = 0;                    ///< of this process

  bool is_idle() const { return state == State::Idle; }
};

/// Runs jobs through the desks: an event loop over the answers of the workers and their deadlines.
class Measurer::Impl {
 public:
  using NextJob = std::function<std::optional<Job>()>;
  using JobDone = std::function<void(const Job&)>;

  Impl(MeasurerOptions chosen, const std::string& program) : options(std::move(chosen)) {
    const codegen::Target& host = codegen::host_target();
    cores = std::max(1, std::min(host.cores, host.threads));
    const int count = options.workers > 0 ? options.workers : std::min(cores, kMaxWorkers);
    for (int i = 0; i < count; ++i) desks_.push_back(Desk{WorkerProcess(program, options.memory_bytes)});
  }

  Result<void> start_one() { return ensure_alive(desks_.front()); }

  /// An error if it ended because no worker can be started.
  Result<void> run(const NextJob& next, const JobDone& done) {
    forget_earlier_run();
    overlap_ = Overlap(cores, options.target.threads);
    next_ = &next;
    done_ = &done;
    is_ending_ = false;
    ended_ = {};
    for (;;) {
      if (options.stop && options.stop->load()) abandon("the measurer was told to stop");
      give_work();
      if (is_quiet()) break;
      wait_for_events();
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
  int cores = 1;
  Meanwhile meanwhile;

 private:
  /// An earlier run may have been ended by an exception of its caller.
  void forget_earlier_run() {
    meanwhile.drop();
    lost_.clear();
    for (Desk& desk : desks_) {
      if (desk.is_idle() && desk.waiting.empty()) continue;
      desk.process.stop();
      desk.state = Desk::State::Idle;
      desk.waiting.clear();
    }
  }

  bool is_quiet() const {
    const auto has_nothing = [](const Desk& desk) { return desk.is_idle() && desk.waiting.empty(); };
    return std::all_of(desks_.begin(), desks_.end(), has_nothing) && meanwhile.cores() == 0;
  }

  Result<void> ensure_alive(Desk& desk) {
    if (desk.trials >= options.trials_per_worker && desk.waiting.empty()) desk.process.stop();
    const pid_t before = desk.process.pid();
    HONE_TRY(desk.process.ensure_alive());
    if (desk.process.pid() == before) return {};
    lose_waiting(desk);
    desk.known.clear();
    desk.trials = 0;
    ++started;
    return {};
  }

  /// Begins all that may begin: first what waits to be timed.
  void give_work() {
    bool has_more = !is_ending_;
    const auto limit = static_cast<std::size_t>(overlap_.most_waiting_per_worker());
    const auto is_ready = [](const Desk& desk) { return desk.is_idle() && !desk.waiting.empty(); };
    const auto has_room = [&](const Desk& desk) { return desk.waiting.size() < limit; };
    for (;;) {
      overlap_.look(static_cast<int>(std::count_if(desks_.begin(), desks_.end(), is_ready)),
                    has_more && std::any_of(desks_.begin(), desks_.end(), has_room));
      const auto ready = std::find_if(desks_.begin(), desks_.end(), is_ready);
      if (ready != desks_.end() && overlap_.may_time()) {
        begin_timing(*ready);
        continue;
      }
      if (meanwhile.is_waiting() && overlap_.may_prepare(meanwhile.cores())) {
        overlap_.begin_other(meanwhile.cores());
        meanwhile.begin();
        continue;
      }
      Desk* const desk = overlap_.may_prepare() ? find_free(limit) : nullptr;
      if (!desk || !has_more) return;
      if (std::optional<Job> job = next_job()) {
        begin_preparing(*desk, *std::move(job));
        has_more = !is_ending_;
      } else {
        has_more = false;
      }
    }
  }

  /// The idle desk on which least waits, if there is room.
  Desk* find_free(std::size_t limit) {
    Desk* free = nullptr;
    for (Desk& desk : desks_)
      if (desk.is_idle() && desk.waiting.size() < (free ? free->waiting.size() : limit)) free = &desk;
    return free;
  }

  std::optional<Job> next_job() {
    if (lost_.empty()) {
      std::optional<Job> job = (*next_)();
      if (job) job->begin = Clock::now();
      return job;
    }
    Job job = std::move(lost_.front());
    lost_.pop_front();
    return job;
  }

  void begin_preparing(Desk& desk, Job job) {
    desk.job = std::move(job);
    desk.job.id = ++last_job_;
    desk.job.results.assign(desk.job.what.inputs.size(), {});
    Message message{.kind = MessageKind::Prepare,
                    .job = desk.job.id,
                    .target = codegen::to_string(options.target),
                    .timing = desk.job.what.timing};
    for (const MeasureInput& input : desk.job.what.inputs) message.programs.push_back(to_text(input.program));
    const MeasureInput& first = desk.job.what.inputs.front();
    // A process that died while it had nothing to do is found out by sending: that costs no trial.
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (const Result<void> alive = ensure_alive(desk); !alive) {
        ended_ = alive;
        return end_all(desk, alive.error().message);
      }
      const bool is_new = name_task(desk, first.data, argument_bytes(first.program.main), message);
      if (!desk.process.send(message)) {
        desk.process.stop();
        continue;
      }
      desk.state = Desk::State::Preparing;
      const double reference_ms = is_new && first.data && first.data->reference ? options.reference_timeout_ms : 0;
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
    if (!desk.process.send(Message{.kind = MessageKind::Run, .job = desk.waiting.front().id})) {
      desk.process.stop();
      return lose_waiting(desk);
    }
    desk.job = std::move(desk.waiting.front());
    desk.waiting.pop_front();
    overlap_.end_waiting();
    overlap_.begin_timing();
    desk.state = Desk::State::Timing;
    set_limit(desk, options.run_timeout_ms);
  }

  /// Waits until a worker answers, dies or is late, or what is done meanwhile is done; and deals with it.
  void wait_for_events() {
    std::vector<pollfd> fds = {{meanwhile.fd(), POLLIN, 0}};
    std::vector<Desk*> busy = {nullptr};
    Deadline soonest = options.stop ? deadline_in_ms(kStopPollMs) : Deadline::max();
    for (Desk& desk : desks_) {
      if (desk.is_idle()) continue;
      fds.push_back({desk.process.fd(), POLLIN, 0});
      busy.push_back(&desk);
      soonest = std::min(soonest, desk.deadline);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(soonest - Clock::now()).count();
    const int timeout =
        soonest == Deadline::max() ? -1 : static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
    if (::poll(fds.data(), fds.size(), timeout) < 0) return;  // a signal: look at everything anew
    for (std::size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents != 0) {
        take_answer(*busy[i]);
      } else if (Clock::now() >= busy[i]->deadline) {
        time_out(*busy[i]);
      }
    }
    if (fds[0].revents == 0) return;
    overlap_.end_other();
    if (const std::function<void()> then = meanwhile.take()) then();
  }

  void take_answer(Desk& desk) {
    std::optional<Message> answer = desk.process.receive(deadline_in_ms(kAnswerMs));
    const MessageKind wanted = desk.state == Desk::State::Preparing ? MessageKind::Prepared : MessageKind::Finished;
    if (!answer || answer->kind != wanted || answer->results.size() != desk.job.what.inputs.size())
      return fail(desk, desk.process.bury());
    desk.job.results = std::move(answer->results);
    const auto can_run = [](const MeasureResult& result) { return result.status == TrialStatus::NotRun; };
    if (wanted == MessageKind::Finished || std::none_of(desk.job.results.begin(), desk.job.results.end(), can_run))
      return finish(desk);
    overlap_.end_preparing();
    overlap_.begin_waiting();
    desk.state = Desk::State::Idle;
    desk.waiting.push_back(std::move(desk.job));
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
    lose_waiting(desk);
    mark(desk.job, what);
    finish(desk);
  }

  static void mark(Job& job, const MeasureResult& what) {
    for (MeasureResult& result : job.results)
      if (result.status == TrialStatus::NotRun) {
        result.status = what.status;
        result.message = what.message;
      }
  }

  /// What a process had prepared is gone with it, and not to blame: it is prepared again.
  void lose_waiting(Desk& desk) {
    while (!desk.waiting.empty()) {
      Job job = std::move(desk.waiting.front());
      desk.waiting.pop_front();
      overlap_.end_waiting();
      if (is_ending_ || ++job.losses < kMostLosses) {
        lost_.push_back(std::move(job));
        continue;
      }
      mark(job, {.status = TrialStatus::Crash, .message = "workers die while it waits to be timed"});
      tell(job);
    }
  }

  void give_up(Desk& desk, const std::string& why) {
    fail(desk, MeasureResult{.status = TrialStatus::NotRun, .message = why});
  }

  void finish(Desk& desk) {
    if (desk.state == Desk::State::Preparing) overlap_.end_preparing();
    if (desk.state == Desk::State::Timing) overlap_.end_timing();
    desk.state = Desk::State::Idle;
    ++desk.trials;
    Job job = std::move(desk.job);
    tell(job);
  }

  void tell(Job& job) {
    for (MeasureResult& result : job.results) {
      result.cache = job.what.timing.cache;
      result.trial_ms = ms_since(job.begin);
    }
    (*done_)(job);
  }

  /// Leaves everything that is not finished.
  void abandon(const std::string& why) {
    is_ending_ = true;
    if (meanwhile.is_waiting()) meanwhile.drop();
    for (Desk& desk : desks_) {
      if (desk.is_idle() && desk.waiting.empty()) continue;
      desk.process.stop();
      lose_waiting(desk);
      if (!desk.is_idle()) give_up(desk, why);
    }
    leave_lost(why);
  }

  /// No worker can be started: what is prepared elsewhere is still timed.
  void end_all(Desk& desk, const std::string& why) {
    is_ending_ = true;
    give_up(desk, why);
    leave_lost(why);
  }

  void leave_lost(const std::string& why) {
    while (!lost_.empty()) {
      Job job = std::move(lost_.front());
      lost_.pop_front();
      mark(job, {.status = TrialStatus::NotRun, .message = why});
      tell(job);
    }
  }

  static void set_limit(Desk& desk, double ms) {
    desk.limit_ms = ms;
    desk.deadline = deadline_in_ms(ms);
  }

  std::uint64_t last_task_ = 0, last_job_ = 0;  ///< the numbers given last
  std::deque<Desk> desks_;
  std::deque<Job> lost_;  ///< prepared by processes that died of something else
  Overlap overlap_{1, 1};
  const NextJob* next_ = nullptr;
  const JobDone* done_ = nullptr;
  bool is_ending_ = false;  ///< whether nothing is begun any more
  Result<void> ended_;      ///< the error if no trial can be run any more
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

Result<void> Measurer::run_jobs(const JobSource& next, const JobSink& done) {
  std::size_t count = 0;
  return impl_->run(
      [&]() -> std::optional<Job> {
        std::optional<MeasureJob> what = next();
        if (!what) return std::nullopt;
        return Job{.number = count++, .what = *std::move(what), .results = {}, .begin = {}};
      },
      [&](const Job& job) { done(job.number, job.results); });
}

Result<void> Measurer::run(const Source& next, const Sink& done) {
  bool has_more = true;
  return run_jobs(
      [&]() -> std::optional<MeasureJob> {
        std::optional<MeasureInput> input;
        if (has_more) input = next();
        has_more = input.has_value();
        if (!has_more) return std::nullopt;
        MeasureJob job{.inputs = {}, .timing = options().timing};
        job.inputs.push_back(*std::move(input));
        return job;
      },
      [&](std::size_t i, const std::vector<MeasureResult>& results) { done(i, results.front()); });
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
  (void)run_jobs(  // what is wrong stands in the results
      [&]() -> std::optional<MeasureJob> {
        if (std::exchange(is_given, true)) return std::nullopt;
        return MeasureJob{{inputs.begin(), inputs.end()}, timing};
      },
      [&](std::size_t, const std::vector<MeasureResult>& results) { found = results; });
  return found;
}

std::pair<MeasureResult, MeasureResult> Measurer::compare(const MeasureInput& a, const MeasureInput& b) {
  const std::array inputs = {a, b};
  std::vector<MeasureResult> results = compare(inputs, impl_->options.timing);
  return {std::move(results[0]), std::move(results[1])};
}

void Measurer::meanwhile(std::function<void()> work, std::function<void()> then, int cores) {
  impl_->meanwhile.add({std::move(work), std::move(then), std::clamp(cores, 1, impl_->cores)});
}

const MeasurerOptions& Measurer::options() const { return impl_->options; }
void Measurer::set_timing(const Timing& timing) { impl_->options.timing = timing; }
void Measurer::set_target(const codegen::Target& target) { impl_->options.target = target; }
std::vector<pid_t> Measurer::worker_pids() const { return impl_->pids(); }
int Measurer::started_workers() const { return impl_->started; }

}  // namespace hone::measure
