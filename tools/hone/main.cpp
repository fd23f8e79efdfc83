// The command `hone`: what it is asked for is found in parser.cpp, what it does in the file of each sub-command.
#include <csignal>
#include <cstdio>
#include <exception>
#include <fmt/core.h>
#include <system_error>

#include "parser.h"

#include "hone/support/log.h"

namespace {

constexpr int kBadRequest = 2;  ///< wrong arguments, files that cannot be read, models that cannot be run
constexpr int kBroken = 1;      ///< our own mistake, or a machine that fails

hone::Result<void> run(int count, const char* const* arguments) {
  HONE_TRY(const hone::command::Request request, hone::command::parse_arguments(count, arguments));
  if (request.action) return request.action();
  fmt::print("{}", request.text);
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  hone::log::set_sink([](hone::log::Level, std::string_view topic, std::string_view message) {
    fmt::print(stderr, "hone: {}: {}\n", topic, message);
  });
  try {
    if (const hone::Result<void> done = run(count, arguments); !done) {
      fmt::print(stderr, "hone: {}\n", done.error().message);
      return kBadRequest;
    }
    if (std::fflush(stdout) == 0) return 0;
    std::perror("hone: cannot write the output");
  } catch (const std::system_error& failure) {
    fmt::print(stderr, "hone: {}\n", failure.what());  // such as an output that cannot be written
  } catch (const std::exception& mistake) {
    fmt::print(stderr, "hone: this is a mistake of hone itself: {}\n", mistake.what());
  }
  return kBroken;
}
