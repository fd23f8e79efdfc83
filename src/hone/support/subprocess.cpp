#include "hone/support/subprocess.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hone {
namespace {

// What the started program finds open.
constexpr int kChannelFd = 3;
constexpr int kLifeFd = 4;

constexpr std::size_t kLastWordsBytes = 2000;

/// A copy of a descriptor far above those that the program is given, so that none of these overwrites it.
FileDescriptor out_of_the_way(int number) { return FileDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, 64)); }

/// The settings of posix_spawn, freed at the end of the scope.
struct SpawnSettings {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};

  SpawnSettings() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
};

void set_limits(pid_t pid, const SubprocessOptions& options) {
  const rlimit none{0, 0};
  ::prlimit(pid, RLIMIT_CORE, &none, nullptr);
  if (kHasMemoryLimit && options.memory_bytes > 0) {
    const rlimit memory{static_cast<rlim_t>(options.memory_bytes), static_cast<rlim_t>(options.memory_bytes)};
    ::prlimit(pid, RLIMIT_DATA, &memory, nullptr);
  }
}

}  // namespace

std::string to_string(const ExitStatus& status) {
  if (status.signal == 0) return fmt::format("returned {}", status.code);
  return fmt::format("was killed by signal {} ({})", status.signal, ::strsignal(status.signal));
}

Result<Subprocess> Subprocess::start(const std::string& path, const std::vector<std::string>& arguments,
                                     const SubprocessOptions& options) {
  const auto failed = [&](std::string_view what, int number) {
    return error(ErrorCode::Unsupported, "cannot start '{}': {}: {}", path, what, std::strerror(number));
  };
  std::array<int, 2> sockets{}, pipe{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return failed("no socket", errno);
  Subprocess made;
  made.channel_ = Channel(FileDescriptor(sockets[0]));
  const FileDescriptor its_socket(sockets[1]);
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return failed("no pipe", errno);
  made.life_ = FileDescriptor(pipe[1]);
  const FileDescriptor its_life(pipe[0]);
  made.words_ = FileDescriptor(::memfd_create("hone-words", MFD_CLOEXEC));
  if (!made.words_) return failed("no file in memory", errno);
  ::fcntl(made.words_.number(), F_SETFL, O_APPEND);

  const FileDescriptor socket = out_of_the_way(its_socket.number()), life = out_of_the_way(its_life.number()),
                       words = out_of_the_way(made.words_.number());
  if (!socket || !life || !words) return failed("no file descriptors", errno);
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.files, words.number(), 1);
  posix_spawn_file_actions_adddup2(&settings.files, words.number(), 2);
  posix_spawn_file_actions_adddup2(&settings.files, socket.number(), kChannelFd);
  posix_spawn_file_actions_adddup2(&settings.files, life.number(), kLifeFd);
  posix_spawn_file_actions_addclosefrom_np(&settings.files, kLifeFd + 1);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> texts = arguments;
  texts.insert(texts.begin(), path);
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const int status =
      ::posix_spawn(&made.pid_, path.c_str(), &settings.files, &settings.attributes, pointers.data(), environ);
  if (status != 0) {
    made.pid_ = -1;
    return failed("the system refuses", status);
  }
  set_limits(made.pid_, options);
  return made;
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      ended_(other.ended_),
      channel_(std::move(other.channel_)),
      life_(std::move(other.life_)),
      words_(std::move(other.words_)) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(ended_, other.ended_);
  std::swap(channel_, other.channel_);
  std::swap(life_, other.life_);
  std::swap(words_, other.words_);
  return *this;
}

Subprocess::~Subprocess() {
  if (pid_ > 0 && !ended_) kill();
}

void Subprocess::reap(bool is_blocking) {
  if (ended_ || pid_ <= 0) return;
  const auto wait = [&](int flags) {
    siginfo_t info{};
    int got = 0;
    do got = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | flags);
    while (got < 0 && errno == EINTR);
    // nothing to wait for: the application ignores SIGCHLD, so the system has taken note of the end itself
    if (got < 0) info.si_pid = pid_;
    return info;
  };
  if (!is_blocking && wait(WNOHANG | WNOWAIT).si_pid == 0) return;
  if (!is_blocking) ::kill(-pid_, SIGKILL);  // what it may have left behind; its number is still its own
  const siginfo_t info = wait(0);
  ended_ = info.si_code == CLD_EXITED ? ExitStatus{info.si_status, 0} : ExitStatus{0, info.si_status};
}

std::optional<ExitStatus> Subprocess::poll() {
  reap(/*is_blocking=*/false);
  return ended_;
}

ExitStatus Subprocess::finish(double grace_ms) {
  const Deadline deadline = deadline_in_ms(grace_ms);
  while (!poll() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!ended_) {
    ::kill(-pid_, SIGKILL);
    reap(/*is_blocking=*/true);
  }
  return *ended_;
}

std::string Subprocess::last_words() const {
  struct stat file{};
  if (!words_ || ::fstat(words_.number(), &file) != 0) return "";
  const auto size = static_cast<std::size_t>(file.st_size);
  std::string text(std::min(size, kLastWordsBytes), '\0');
  const ssize_t got = ::pread(words_.number(), text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

void Subprocess::forget_words() {
  if (words_ && ::ftruncate(words_.number(), 0) != 0) words_ = FileDescriptor();
}

std::optional<Channel> channel_to_parent() {
  struct stat file{};
  if (::fstat(kChannelFd, &file) != 0 || !S_ISSOCK(file.st_mode)) return std::nullopt;
  if (::fstat(kLifeFd, &file) != 0 || !S_ISFIFO(file.st_mode)) return std::nullopt;
  ::fcntl(kChannelFd, F_SETFD, FD_CLOEXEC);
  ::fcntl(kLifeFd, F_SETFD, FD_CLOEXEC);
  std::thread([] {
    char byte = 0;
    while (::read(kLifeFd, &byte, 1) < 0 && errno == EINTR) {}
    ::kill(0, SIGKILL);  // the whole group, this process with it
  }).detach();
  return Channel(FileDescriptor(kChannelFd));
}

}  // namespace hone
