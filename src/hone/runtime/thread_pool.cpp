#include "hone/runtime/thread_pool.h"

#include <algorithm>
#include <exception>
#include <pthread.h>
#include <sched.h>

#include "hone/runtime/partition.h"
#include "hone/runtime/spin_wait.h"
#include "hone/support/error.h"
#include "hone/support/log.h"

// Each wait is on one atomic word that also says whether the waiter sleeps, so a wake-up cannot be lost and the waking
// side makes a system call only when it must. The operations before a notify are sequentially consistent because
// notify itself looks for waiters with a load that a weaker store could be overtaken by.

namespace hone::runtime {
namespace {

/// Added to unfinished_ by a caller that sleeps; above any number of workers.
constexpr int kCallerParked = 1 << 30;

/// Whether this thread is running a loop's body, or is a worker.
thread_local bool is_inside_loop = false;

/// Binds the calling thread to the CPU number `index`, modulo their number, of those the process may use.
void pin_this_thread(int index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  int skip = index % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || skip-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

}  // namespace

ThreadPool::ThreadPool(int threads, const ThreadPoolOptions& options) : spin_(options.spin) {
  HONE_CHECK(threads >= 1, "a thread pool of {} threads", threads);
  if (static_cast<unsigned>(threads) > std::thread::hardware_concurrency()) spin_ = {};

  const int workers = threads - 1;
  mailboxes_ = std::make_unique<Mailbox[]>(static_cast<std::size_t>(workers));
  workers_.reserve(static_cast<std::size_t>(workers));
  for (int rank = 1; rank <= workers; ++rank) {
    try {
      workers_.emplace_back([this, rank, pin = options.pin_workers] {
        if (pin) pin_this_thread(rank);
        worker_loop(rank);
      });
    } catch (const std::exception& refusal) {
      log::warning("runtime", "thread pool: {} of {} threads: {}", rank, threads, refusal.what());
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  for (int rank = 1; rank < threads(); ++rank) deliver(mailbox_of(rank), Letter::Stop);
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(std::int64_t count, hone_parallel_body body, void* context) noexcept {
  if (count <= 0) return;
  const std::int64_t parts = std::min<std::int64_t>(count, threads());
  if (parts == 1 || is_inside_loop) {
    body(context, 0, count);
    return;
  }

  const std::uint32_t ticket = take_turn();
  job_ = {.body = body, .context = context, .count = count, .parts = parts};
  unfinished_.store(static_cast<int>(parts) - 1, std::memory_order_relaxed);
  for (std::int64_t rank = 1; rank < parts; ++rank) deliver(mailbox_of(rank), Letter::Job);

  is_inside_loop = true;
  job_.run_part(0);
  take_over(parts);
  is_inside_loop = false;

  await_workers();
  end_turn(ticket);
}

void ThreadPool::Job::run_part(std::int64_t rank) const {
  const IterationRange range = partition(count, parts, rank);
  body(context, range.begin, range.end);
}

void ThreadPool::worker_loop(int rank) noexcept {
  is_inside_loop = true;
  Mailbox& mailbox = mailbox_of(rank);
  for (Letter letter = await_letter(mailbox); letter != Letter::Stop; letter = await_letter(mailbox)) {
    if (!take(mailbox)) continue;  // the caller was faster
    job_.run_part(rank);
    if (unfinished_.fetch_sub(1) == kCallerParked + 1) unfinished_.notify_one();
  }
}

bool ThreadPool::take(Mailbox& mailbox) {
  Letter job = Letter::Job;
  return mailbox.letter.compare_exchange_strong(job, Letter::None);
}

void ThreadPool::take_over(std::int64_t parts) {
  for (std::int64_t rank = 1; rank < parts; ++rank)
    if (take(mailbox_of(rank))) {
      job_.run_part(rank);
      unfinished_.fetch_sub(1);
    }
}

ThreadPool::Letter ThreadPool::await_letter(Mailbox& mailbox) const {
  std::atomic<Letter>& letter = mailbox.letter;
  const auto has_arrived = [&] { return letter.load(std::memory_order_acquire) != Letter::None; };
  if (!spin_until(has_arrived, spin_)) {
    Letter none = Letter::None;
    if (letter.compare_exchange_strong(none, Letter::Parked)) letter.wait(Letter::Parked);
  }
  return letter.load(std::memory_order_acquire);
}

void ThreadPool::deliver(Mailbox& mailbox, Letter letter) {
  if (mailbox.letter.exchange(letter) == Letter::Parked) mailbox.letter.notify_one();
}

void ThreadPool::await_workers() {
  const auto is_done = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (spin_until(is_done, spin_)) return;
  int unfinished = unfinished_.fetch_add(kCallerParked) + kCallerParked;
  while (unfinished != kCallerParked) {
    unfinished_.wait(unfinished);
    unfinished = unfinished_.load(std::memory_order_acquire);
  }
}

std::uint32_t ThreadPool::take_turn() {
  const std::uint32_t ticket = next_ticket_.fetch_add(1);
  // No spinning here: the core is better used by the workers of the caller whose turn it is.
  for (std::uint32_t called = called_ticket_.load(); called != ticket; called = called_ticket_.load())
    called_ticket_.wait(called);
  return ticket;
}

void ThreadPool::end_turn(std::uint32_t ticket) {
  called_ticket_.store(ticket + 1);
  const bool is_somebody_waiting = next_ticket_.load() != ticket + 1;
  if (is_somebody_waiting) called_ticket_.notify_all();
}

}  // namespace hone::runtime
