#include "hone/support/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hone {
namespace {

/// What stands before each message; both processes run on one machine, so its byte order is the machine's.
struct Header {
  std::uint32_t magic;
  std::uint32_t bytes;
};

constexpr std::uint32_t kMagic = 0x656e6f68;
/// What a message may announce: far more than any has, and too little to hurt if a broken process makes a length up.
constexpr std::uint32_t kMaxBytes = std::uint32_t{1} << 30;

/// Milliseconds for poll: -1 for never, and rounded up, so that a deadline just ahead is not asked for in a busy loop.
int poll_ms(Deadline deadline) {
  if (deadline == Deadline::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

Deadline deadline_in_ms(double ms) {
  if (ms < 0 || ms > 1e12) return Deadline::max();
  return std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(ms * 1e3));
}

Transfer Channel::move_bytes(char* data, std::size_t size, bool is_send, Deadline deadline) {
  while (size > 0) {
    const ssize_t moved =
        is_send ? ::send(fd(), data, size, MSG_NOSIGNAL | MSG_DONTWAIT) : ::recv(fd(), data, size, MSG_DONTWAIT);
    if (moved > 0) {
      data += moved;
      size -= static_cast<std::size_t>(moved);
      continue;
    }
    if (moved == 0) return Transfer::Closed;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Transfer::Closed;
    pollfd wait{fd(), static_cast<short>(is_send ? POLLOUT : POLLIN), 0};
    const int ready = ::poll(&wait, 1, poll_ms(deadline));
    if (ready == 0 && std::chrono::steady_clock::now() >= deadline) return Transfer::TimedOut;
  }
  return Transfer::Done;
}

bool Channel::wait(Deadline deadline) const {
  for (;;) {
    pollfd wait{fd(), POLLIN, 0};
    if (::poll(&wait, 1, poll_ms(deadline)) > 0) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
}

Transfer Channel::send(std::string_view message, Deadline deadline) {
  if (message.size() > kMaxBytes) return Transfer::Closed;
  Header header{kMagic, static_cast<std::uint32_t>(message.size())};
  const Transfer sent = move_bytes(reinterpret_cast<char*>(&header), sizeof header, true, deadline);
  if (sent != Transfer::Done) return sent;
  return move_bytes(const_cast<char*>(message.data()), message.size(), true, deadline);
}

Transfer Channel::receive(std::string& message, Deadline deadline) {
  Header header{};
  const Transfer got = move_bytes(reinterpret_cast<char*>(&header), sizeof header, false, deadline);
  if (got != Transfer::Done) return got;
  if (header.magic != kMagic || header.bytes > kMaxBytes) return Transfer::Closed;
  message.resize(header.bytes);
  return move_bytes(message.data(), message.size(), false, deadline);
}

}  // namespace hone
