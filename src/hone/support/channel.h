/// A channel: whole messages over a socket between two processes, each with a deadline.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace hone {

/// A file descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

using Deadline = std::chrono::steady_clock::time_point;

/// The moment `ms` milliseconds from now; never for a negative number.
Deadline deadline_in_ms(double ms);

/// How the transfer of a message ended.
enum class Transfer {
  Done,
  TimedOut,  ///< part of the message may have gone: the channel is of no use any more
  Closed,    ///< the other side has gone, or does not speak in messages
};

/// One end of a stream socket that carries messages. A process that dies closes its end. Not thread-safe.
class Channel {
 public:
  Channel() = default;
  explicit Channel(FileDescriptor socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.number(); }

  Transfer send(std::string_view message, Deadline deadline);
  /// Whether a message, or the end of the other side, comes before the deadline. Nothing is lost if not.
  bool wait(Deadline deadline) const;
  /// Waits for the next message.
  Transfer receive(std::string& message, Deadline deadline);

 private:
  Transfer move_bytes(char* data, std::size_t size, bool is_send, Deadline deadline);

  FileDescriptor socket_;
};

}  // namespace hone
