/// A fixed set of threads that runs parallel loops with a few microseconds of overhead.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "hone/runtime/parallel.h"

namespace hone::runtime {

/// How the threads of a pool behave. The defaults are right unless a measurement says otherwise.
struct ThreadPoolOptions {
  /// How long a thread looks for work, or for the end of a loop, before it sleeps. Longer makes loops that follow each
  /// other start faster, and costs other processes as much CPU time. Ignored (no spinning) if the pool has more threads
  /// than the process has CPUs, where spinning only keeps the other threads from running.
  std::chrono::nanoseconds spin = std::chrono::microseconds(50);

  /// Binds each worker to a CPU of its own. The callers' threads stay as they are.
  bool pin_workers = false;
};

/// Runs parallel loops on the calling thread and a fixed number of workers.
///
/// - Each thread gets one contiguous range of iterations (see partition.h); rank 0 is the caller, and the same count
///   gives the same iterations to the same worker. A range whose worker has not begun when the caller is done with its
///   own is run by the caller: on a busy machine, loops do not wait for threads that get no CPU.
/// - Any number of threads may call parallel_for at once: they take turns, first come, first served.
///   A body must therefore not wait for a loop that another thread runs on the same pool.
/// - A parallel_for inside a body runs serially in its thread, whichever pool it names.
/// - Bodies must not throw: an exception that leaves a body ends the process.
class ThreadPool {
 public:
  /// Starts `threads - 1` workers: the caller is the remaining thread, so 1 starts none. If the system refuses a
  /// thread, the pool goes on with those it has.
  explicit ThreadPool(int threads, const ThreadPoolOptions& options = {});

  /// Ends and joins the workers. No loop may be running.
  ~ThreadPool();

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The number of threads a loop is spread over, the caller included.
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls `body(context, begin, end)` for one range per thread, which together are [0, count), and returns when all
  /// calls have returned. Threads without iterations are not disturbed; a count below 1 calls nothing.
  void parallel_for(std::int64_t count, hone_parallel_body body, void* context) noexcept;

  /// The same for any callable `body(begin, end)`, without an allocation.
  template <typename Body>
  void parallel_for(std::int64_t count, Body&& body) noexcept {
    using Callable = std::remove_reference_t<Body>;
    const auto call = [](void* context, std::int64_t begin, std::int64_t end) {
      (*static_cast<Callable*>(context))(begin, end);
    };
    parallel_for(count, call, const_cast<std::remove_const_t<Callable>*>(std::addressof(body)));
  }

 private:
  static constexpr std::size_t kCacheLineBytes = 64;

  /// What a worker finds in its mailbox. `Parked` is put there by the worker itself: it must be woken.
  enum class Letter : int { None, Parked, Job, Stop };

  /// Where one worker looks for work: a cache line of its own.
  struct alignas(kCacheLineBytes) Mailbox {
    std::atomic<Letter> letter{Letter::None};
  };

  /// The loop that is running.
  struct Job {
    hone_parallel_body body;
    void* context;
    std::int64_t count;
    std::int64_t parts;

    void run_part(std::int64_t rank) const;
  };

  Mailbox& mailbox_of(std::int64_t rank) { return mailboxes_[static_cast<std::size_t>(rank - 1)]; }
  void worker_loop(int rank) noexcept;
  Letter await_letter(Mailbox& mailbox) const;
  static void deliver(Mailbox& mailbox, Letter letter);
  /// Takes the job out of a mailbox, by the worker or the caller; false if it is not there.
  static bool take(Mailbox& mailbox);
  /// Runs the parts that no worker has begun.
  void take_over(std::int64_t parts);
  void await_workers();
  std::uint32_t take_turn();
  void end_turn(std::uint32_t ticket);

  std::chrono::nanoseconds spin_;
  std::unique_ptr<Mailbox[]> mailboxes_;
  std::vector<std::thread> workers_;

  // Callers draw a ticket and wait until it is called.
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> next_ticket_{0};
  std::atomic<std::uint32_t> called_ticket_{0};

  // Written by the caller whose turn it is, before it delivers letters.
  Job job_{};

  // The number of workers that still run a part of the job, plus kCallerParked if the caller must be woken.
  alignas(kCacheLineBytes) std::atomic<int> unfinished_{0};
};

}  // namespace hone::runtime
