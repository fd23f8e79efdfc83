#include "trainer_process.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::command {
namespace {

constexpr const char* kTrainer = "hone_trainer";

}  // namespace

Result<std::string> find_trainer() {
  if (const char* given = std::getenv("HONE_TRAINER"); given && *given) {
    if (::access(given, X_OK) == 0) return std::string(given);
    return error(ErrorCode::NotFound, "HONE_TRAINER names '{}', which cannot be run: {}", given, std::strerror(errno));
  }
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::canonical("/proc/self/exe", ignored).parent_path();
  const std::array candidates = {folder / kTrainer, folder.parent_path() / kTrainer,
                                 folder.parent_path() / "libexec/hone" / kTrainer};
  for (const std::filesystem::path& candidate : candidates)
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
  return error(
      ErrorCode::NotFound,
      "there is no program {} at {}, {} or {}: training needs libtorch, run ./dev trainer, or set HONE_TRAINER "
      "to its file",
      kTrainer, candidates[0].string(), candidates[1].string(), candidates[2].string());
}

Result<void> run_trainer(std::string program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {program.data()};
  std::vector<std::string> texts = arguments;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int status = ::posix_spawn(&child, program.c_str(), nullptr, nullptr, argv.data(), ::environ); status != 0)
    return error(ErrorCode::NotFound, "cannot run '{}': {}", program, std::strerror(status));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return error(ErrorCode::InvalidArgument, "training ended with {} {}", WIFEXITED(status) ? "status" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

}  // namespace hone::command
