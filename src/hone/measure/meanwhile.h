/// Work on a thread of its own, beside an event loop that is woken when it is done.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <thread>

#include "hone/support/channel.h"

namespace hone::measure {

/// At most one piece of work: first it waits to be begun, then it is under way, then its end is to be taken.
class Meanwhile {
 public:
  struct Work {
    std::function<void()> work;  ///< on another thread
    std::function<void()> then;  ///< on the thread that takes the end
    int cores = 1;
  };

  Meanwhile();

  void add(Work work);
  bool is_waiting() const { return work_ && !thread_.joinable(); }
  bool is_under_way() const { return thread_.joinable(); }
  /// How many cores it takes; 0 if there is no work.
  int cores() const { return work_ ? work_->cores : 0; }

  void begin();
  /// What to poll: there is something to read when the work is done.
  int fd() const { return done_.number(); }
  /// Waits for the end of the work, and gives what is to be called then. Throws what the work threw.
  std::function<void()> take();
  /// Waits for the end of the work, and forgets it.
  void drop();

 private:
  void join();

  FileDescriptor done_;
  std::optional<Work> work_;
  std::exception_ptr thrown_;
  std::jthread thread_;  // the last member: it ends before the others do
};

}  // namespace hone::measure
