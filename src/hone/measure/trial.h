/// A trial: a program to compile, check and time, and what came of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/schedule/prepack.h"

namespace hone::measure {

using schedule::KernelProgram;
using schedule::split_packing;

/// What the elements of an argument are: uniform between `low` and `high` (whole numbers of integer types include
/// both), from the seed; or exactly `bytes`, if there are any.
struct Fill {
  double low = -1, high = 1;
  std::uint64_t seed = 1;
  std::string bytes = {};
};

/// What all trials of a task have in common. Without a fill, floats are in [-1, 1), integers of 8 and 16 bits anything,
/// bools either, other integers 0 (a parameter that holds indices wants a fill, with a `high` that exists), and what
/// the program writes has all bits set. Seeds differ from parameter to parameter by themselves.
struct TaskData {
  std::vector<std::optional<Fill>> fills;  ///< by place among the parameters of the naive program; may be shorter

  /// Computes what every trial must give: the naive program, or a faster one that is known to be right, such as the
  /// default program. It is compiled and run, on one thread, once for each task that a worker turns to.
  std::optional<KernelProgram> reference;
  /// Or the bytes of all outputs, in the order of the parameters that are written.
  std::vector<std::string> expected;

  /// What floats may be off by, in units of the expected value or of the root mean square of its tensor, whichever is
  /// larger; negative: 1e-3 for f32, 1e-9 for f64, 1e-2 for f16, 5e-2 for bf16.
  double tolerance = -1;
  std::int64_t integer_tolerance = 0;
  /// Whether NaN may come out where nothing is expected that it could be compared with.
  bool allows_nan = false;
};

/// One program to measure. Inputs of one task share one TaskData: a worker keeps the arguments and the expected results
/// of the last few it saw.
struct MeasureInput {
  KernelProgram program;
  std::shared_ptr<const TaskData> data;  ///< null: the defaults, no check but for NaN
};

/// In which state the caches are when a call is timed. Times of different states are not comparable.
enum class CacheState : std::uint8_t {
  Warm,     ///< the same arguments again and again
  Flushed,  ///< the arguments are evicted before each call, and each sample is one call
  Model,    ///< as a run of the whole model leaves them; not by a measurer, but by the finals of tuning
};

/// How programs are timed.
struct Timing {
  int repeats = 8;              ///< samples; all are kept
  double min_repeat_ms = 0.75;  ///< a sample calls the program as often as this takes, at least once
  double enough_ms = 6;         ///< once samples took so long together, three of them are enough; 0: never
  CacheState cache = CacheState::Warm;
  /// A program is hopeless if its first two timed calls take longer than this, or the first one by 0.1 s: they are its
  /// only samples. 0: never.
  double hopeless_ns = 0;
};

/// How a trial ended. Names are stored in records: they may be added to, not changed.
enum class TrialStatus : std::uint8_t {
  Ok,
  CompileError,  ///< the program does not parse or verify, or the code generator refuses it
  RunError,      ///< it cannot be called, or the reference cannot be computed
  Timeout,
  Crash,  ///< the worker died of it
  OutOfMemory,
  WrongAnswer,
  NotANumber,  ///< NaN where a number is expected
  NotRun,      ///< no worker could be started, or the measurer was told to stop
};

/// "ok", "compile error", "run error", "timeout", "crash", "out of memory", "wrong answer", "nan", "not run".
std::string_view to_string(TrialStatus status);
std::optional<TrialStatus> find_trial_status(std::string_view name);
/// "warm", "flushed" or "model".
std::string_view to_string(CacheState state);
std::optional<CacheState> find_cache_state(std::string_view name);

/// What came of a trial.
struct MeasureResult {
  TrialStatus status = TrialStatus::NotRun;
  std::vector<double> samples_ns;  ///< the time of one call, for each repeat, untrimmed; empty unless Ok
  std::int64_t calls = 0;          ///< how many calls each sample is the mean of
  CacheState cache = CacheState::Warm;
  double compile_ms = 0;
  double trial_ms = 0;       ///< from sending the program to having the result, waiting for a turn included
  bool is_checked = false;   ///< whether the result was compared with what is expected
  double largest_error = 0;  ///< of floats, in the units of TaskData::tolerance
  std::string message = {};  ///< for people: what went wrong

  bool is_ok() const { return status == TrialStatus::Ok; }
  /// The fastest sample, which candidates are compared by: what else runs on a machine only ever slows a program down.
  /// Infinity unless Ok.
  double min_ns() const;
};

}  // namespace hone::measure
