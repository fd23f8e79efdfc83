/// The measurer: compiles, checks and times programs in worker processes.
///
///     HONE_TRY(measure::Measurer measurer, measure::Measurer::start({.target = target}));
///     auto data = std::make_shared<measure::TaskData>();
///     data->reference = space::default_program(naive, constants, target);  // right, and faster than the naive one
///     std::vector<measure::MeasureInput> batch;
///     for (const ir::Function& p : scheduled) batch.push_back({measure::split_packing(p), data});
///     for (const measure::MeasureResult& result : measurer.measure(batch))
///       if (result.is_ok()) fmt::print("{:.1f} us\n", result.min_ns() * 1e-3);
///
/// A program that crashes, hangs, takes too much memory, gives NaN or a wrong answer costs its own trial and nothing
/// else: the result says so, and the worker is started again. Workers live on between trials and batches, so that a
/// trial costs little more than compiling and timing it.
///
/// A search that runs for hours gives `run` a source of inputs, and stores each result as it comes (see records.h):
///
///     const auto store = [&](std::size_t i, const measure::MeasureResult& result) {
///       (void)records.insert(measure::make_record(task, target, json_of(i), trace_of(i), result));
///       search.tell(i, result);
///     };
///     HONE_TRY(measurer.run([&] { return search.next(); }, store));  // next() builds a candidate's program
///
/// When a challenger seems to beat the incumbent, `compare` times both in turns, and welch_p_value (statistics.h) says
/// how likely the difference is noise.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/measure/trial.h"

namespace hone::measure {

struct MeasurerOptions {
  codegen::Target target = codegen::host_target();  ///< its `threads` are those that kernels run on
  Timing timing;

  // A trial that takes longer ends as Timeout. The second covers the warm-up, the check and all samples; the third is
  // added to the first where the reference has to be computed.
  double compile_timeout_ms = 10'000, run_timeout_ms = 10'000, reference_timeout_ms = 60'000;
  std::int64_t memory_bytes = std::int64_t{4} << 30;  ///< of each worker

  int workers = 0;              ///< processes; 0: one a core, at most 8. What runs at once is decided in overlap.h
  int trials_per_worker = 500;  ///< then it is started anew, so that no leak of a library grows for hours
  std::string worker_program;   ///< empty: find_worker_program()
  /// When this becomes true, no trial is begun any more, and those under way are NotRun: for Ctrl-C. May be set by a
  /// signal handler or another thread; it is looked at after each event, and four times a second.
  const std::atomic<bool>* stop = nullptr;
};

/// Programs for one worker: one, or several of one task that are timed in turns; and how.
struct MeasureJob {
  std::vector<MeasureInput> inputs;
  Timing timing;
};

/// Owns the workers. One thread at a time; the process may have others.
class Measurer {
 public:
  /// Gives the next input, or nothing when there are no more (it is not asked again).
  using Source = std::function<std::optional<MeasureInput>()>;
  /// Takes the result of the input with this number, counted from 0. Called in the order in which trials finish.
  using Sink = std::function<void(std::size_t, const MeasureResult&)>;

  /// Starts the first worker, to find out whether measuring is possible at all.
  static Result<Measurer> start(MeasurerOptions options = {});

  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer();

  /// Measures everything that `next` gives, and tells `done` of each result as soon as it is there. Both are called
  /// from this thread. Told to stop, it does not ask for more, and trials under way are NotRun. The same if no worker
  /// can be started any more, which is the error.
  Result<void> run(const Source& next, const Sink& done);

  using JobSource = std::function<std::optional<MeasureJob>()>;
  using JobSink = std::function<void(std::size_t, const std::vector<MeasureResult>&)>;
  /// The same for jobs, but the source is asked again after each event: nothing means that there is nothing now. It
  /// ends when no trial is under way, nothing is done meanwhile, and the source has nothing.
  Result<void> run_jobs(const JobSource& next, const JobSink& done);

  /// For sources and sinks of jobs, such as a search that thinks about what to try next: does `work` on another thread
  /// as soon as so many cores (or all that there are) are free, while trials go on on the others; then calls `then`
  /// from the thread of run_jobs. One at a time. When the measurer is told to stop before it began, neither is called.
  void meanwhile(std::function<void()> work, std::function<void()> then, int cores = 1);

  /// Measures all inputs; results in their order.
  std::vector<MeasureResult> measure(std::span<const MeasureInput> inputs);

  /// Times programs of one task against each other: in one worker, their samples in turns (a b, b a, …), so that what
  /// slows the machine down for a while slows down all of them. Results in the order of the inputs, which must share
  /// their data. If the worker dies, all have the status of that; measured alone, each has its own.
  std::vector<MeasureResult> compare(std::span<const MeasureInput> inputs, const Timing& timing);
  std::pair<MeasureResult, MeasureResult> compare(const MeasureInput& a, const MeasureInput& b);

  const MeasurerOptions& options() const;
  /// Changes how programs are timed from the next trial on, such as `hopeless_ns` when the best is known.
  void set_timing(const Timing& timing);
  /// Changes what is compiled for, from the next trial on.
  void set_target(const codegen::Target& target);

  /// The process ids of the workers that run.
  std::vector<pid_t> worker_pids() const;
  /// How many worker processes were started so far.
  int started_workers() const;

 private:
  class Impl;
  explicit Measurer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::measure
