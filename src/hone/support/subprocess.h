/// Sub-processes: a program that runs beside this one, talks to it in messages, and can be ended at any moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "hone/support/channel.h"
#include "hone/support/result.h"

namespace hone {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HONE_HAS_MEMORY_LIMIT false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HONE_HAS_MEMORY_LIMIT false
#endif
#endif
#ifndef HONE_HAS_MEMORY_LIMIT
#define HONE_HAS_MEMORY_LIMIT true
#endif

/// Whether the memory of sub-processes can be limited: not in builds with sanitizers, which map terabytes.
inline constexpr bool kHasMemoryLimit = HONE_HAS_MEMORY_LIMIT;

/// What a sub-process may take.
struct SubprocessOptions {
  /// Bytes of private memory it may have at most, if kHasMemoryLimit; 0 means any. More is refused by the system as if
  /// there were no memory.
  std::int64_t memory_bytes = 0;
};

/// How a process ended.
struct ExitStatus {
  int code = 0;    ///< what it returned
  int signal = 0;  ///< the signal that ended it; 0 if it returned
};

/// "returned 1" or "was killed by signal 11 (Segmentation fault)".
std::string to_string(const ExitStatus& status);

/// A running program in a process group of its own. Its file descriptors are: nothing to read on standard input,
/// standard output and error caught (see last_words), and the two of the functions below. It is started without fork in
/// the way that is safe beside threads, inherits no open file and no signal settings, leaves no core file, and ends
/// when this object does, or when this process dies however that happens. Not thread-safe.
class Subprocess {
 public:
  /// Starts the program in the file `path`. An error says why that cannot be.
  static Result<Subprocess> start(const std::string& path, const std::vector<std::string>& arguments,
                                  const SubprocessOptions& options = {});

  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  pid_t pid() const { return pid_; }
  Channel& channel() { return channel_; }
  const Channel& channel() const { return channel_; }

  /// How it ended, if it has.
  std::optional<ExitStatus> poll();
  /// Waits for it to end by itself, for at most `grace_ms`; then ends it and all processes of its group.
  ExitStatus finish(double grace_ms);
  ExitStatus kill() { return finish(0); }

  /// The end of what it wrote to standard output and error since it started or since the last forget_words().
  std::string last_words() const;
  void forget_words();

 private:
  Subprocess() = default;
  void reap(bool is_blocking);

  pid_t pid_ = -1;
  std::optional<ExitStatus> ended_;
  Channel channel_;
  FileDescriptor life_;   ///< closing this end tells the process to go
  FileDescriptor words_;  ///< a file in memory
};

/// For the started program: the channel to the process that started it. To be called once, first thing in main: from
/// then on this process dies as soon as the other one does, whatever it is doing. Nothing if it was started by hand.
std::optional<Channel> channel_to_parent();

}  // namespace hone
