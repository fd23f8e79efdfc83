#include "hone/support/subprocess.h"

#include <csignal>
#include <dirent.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

/// Not a test: the program that the tests start, which is this one with this filter. It sends back what it is sent;
/// some messages make it misbehave.
TEST(SubprocessChild, DISABLED_Echo) {
  std::optional<Channel> channel = channel_to_parent();
  ASSERT_TRUE(channel);
  for (std::string message; channel->receive(message, Deadline::max()) == Transfer::Done;) {
    if (message == "crash") std::raise(SIGKILL);  // sanitizers catch the others
    if (message == "hang")
      for (;;) ::pause();
    if (message == "leave") std::_Exit(3);
    if (message == "speak") {
      std::puts("last words");
      std::fflush(stdout);
    }
    if (message == "allocate") {
      void* memory = std::malloc(std::size_t{1} << 30);
      message = memory ? "got it" : "refused";
      std::free(memory);
    }
    if (message == "child") {
      const pid_t child = ::fork();
      if (child == 0)
        for (;;) ::pause();
      message = std::to_string(child);
    }
    if (message == "files") {
      int count = 0;
      DIR* folder = ::opendir("/proc/self/fd");
      while (::readdir(folder)) ++count;
      ::closedir(folder);
      message = std::to_string(count - 3);  // ".", ".." and the folder itself
    }
    ASSERT_EQ(channel->send(message, deadline_in_ms(1000)), Transfer::Done);
  }
}

Subprocess start_echo(const SubprocessOptions& options = {}) {
  return Subprocess::start("/proc/self/exe",
                           {"--gtest_filter=SubprocessChild.DISABLED_Echo", "--gtest_also_run_disabled_tests"}, options)
      .value();
}

std::string ask(Subprocess& process, std::string_view question) {
  std::string answer;
  if (process.channel().send(question, deadline_in_ms(5000)) != Transfer::Done) return "not sent";
  switch (process.channel().receive(answer, deadline_in_ms(20000))) {
    case Transfer::Done:
      return answer;
    case Transfer::TimedOut:
      return "timed out";
    case Transfer::Closed:
      return "closed";
  }
  return "";
}

/// Whether a process still runs a second from now. One that has ended counts as gone even where nobody reaps orphans.
bool is_alive(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(file >> number >> name >> state) || state == "Z" || state == "X") return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

TEST(Subprocess, MessagesOfAnySizeComeBackWhole) {
  Subprocess process = start_echo();
  for (const std::size_t size : {0, 1, 7, 4096, 300'000, 5'000'000}) {
    const std::string message(size, 'x');
    // large messages fill both sockets unless each side reads what it is sent first: this one does
    EXPECT_EQ(ask(process, message), message);
  }
}

TEST(Subprocess, EndsAreToldApart) {
  Subprocess crashing = start_echo(), leaving = start_echo();
  EXPECT_EQ(ask(crashing, "crash"), "closed");
  EXPECT_EQ(to_string(crashing.finish(2000)), "was killed by signal 9 (Killed)");
  EXPECT_EQ(ask(leaving, "leave"), "closed");
  EXPECT_EQ(to_string(leaving.finish(2000)), "returned 3");
}

TEST(Subprocess, AHangingProcessTimesOutAndCanBeKilled) {
  Subprocess process = start_echo();
  EXPECT_EQ(ask(process, "hello"), "hello");
  ASSERT_EQ(process.channel().send("hang", deadline_in_ms(1000)), Transfer::Done);
  std::string answer;
  const Clock::time_point begin = Clock::now();
  EXPECT_EQ(process.channel().receive(answer, deadline_in_ms(50)), Transfer::TimedOut);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  EXPECT_FALSE(process.poll());
  EXPECT_EQ(process.kill().signal, SIGKILL);
  EXPECT_EQ(::waitpid(process.pid(), nullptr, WNOHANG), -1) << "a zombie is left";
}

TEST(Subprocess, TheWholeGroupIsKilled) {
  pid_t grandchild = 0;
  {
    Subprocess process = start_echo();
    grandchild = std::stoi(ask(process, "child"));
    ASSERT_EQ(::kill(grandchild, 0), 0);
  }
  EXPECT_FALSE(is_alive(grandchild));
}

TEST(Subprocess, WhatItWritesIsCaught) {
  Subprocess process = start_echo();
  ask(process, "speak");
  EXPECT_NE(process.last_words().find("last words\n"), std::string::npos);
  process.forget_words();
  EXPECT_EQ(process.last_words(), "");
  ask(process, "speak");
  EXPECT_EQ(process.last_words(), "last words\n");
}

TEST(Subprocess, NoOpenFileIsInherited) {
  const FileDescriptor inheritable(::dup(1));
  Subprocess process = start_echo();
  EXPECT_EQ(ask(process, "files"), "5");  // three standard ones, the channel, and the one that tells of our end
}

TEST(Subprocess, MemoryAboveTheLimitIsRefused) {
  if (!kHasMemoryLimit) GTEST_SKIP() << "sanitizers map more than any limit";
  Subprocess limited = start_echo({.memory_bytes = 256 << 20}), free = start_echo();
  EXPECT_EQ(ask(limited, "allocate"), "refused");
  EXPECT_EQ(ask(free, "allocate"), "got it");
}

TEST(Subprocess, ItDiesWithTheProcessThatStartedIt) {
  // this process starts one that starts another, and is killed
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t middle = ::fork();
  if (middle == 0) {
    Subprocess process = start_echo();
    ask(process, "hello");
    const pid_t pid = process.pid();
    if (::write(pipe[1], &pid, sizeof pid) != sizeof pid) std::_Exit(1);
    for (;;) ::pause();
  }
  pid_t pid = 0;
  ASSERT_EQ(::read(pipe[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  EXPECT_EQ(::kill(pid, 0), 0);
  ::kill(middle, SIGKILL);
  ::waitpid(middle, nullptr, 0);
  EXPECT_FALSE(is_alive(pid));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(Subprocess, AProgramThatIsNotThereIsAnError) {
  const Result<Subprocess> started = Subprocess::start("/nowhere/hone_worker", {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message,
            "cannot start '/nowhere/hone_worker': the system refuses: No such file or directory");
}

}  // namespace
}  // namespace hone
