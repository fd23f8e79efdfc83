#include "hone/measure/worker_process.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

namespace hone::measure {
namespace {

constexpr const char* kProgram = "hone_worker";
/// How long a process may take to say hello (it loads LLVM first), and to take in a message.
constexpr double kHelloMs = 30'000, kSendMs = 10'000;
/// How long a process that closed its channel may take to be gone.
constexpr double kGoneMs = 1'000;
/// How often a process is started that is killed from outside before it says hello.
constexpr int kStarts = 3;

/// The folder of the library or program that this function is part of.
std::filesystem::path own_folder() {
  Dl_info info{};
  std::error_code ignored;
  if (::dladdr(reinterpret_cast<void*>(&find_worker_program), &info) != 0 && info.dli_fname) {
    const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, ignored);
    if (!ignored && file.has_parent_path()) return file.parent_path();
  }
  return std::filesystem::canonical("/proc/self/exe", ignored).parent_path();
}

}  // namespace

Result<std::string> find_worker_program() {
  if (const char* given = std::getenv("HONE_WORKER"); given && *given) return std::string(given);
  const std::filesystem::path folder = own_folder();
  std::error_code ignored;
  const std::array candidates = {folder / kProgram, folder.parent_path() / kProgram,
                                 folder.parent_path() / "libexec/hone" / kProgram};
  for (const std::filesystem::path& candidate : candidates)
    if (std::filesystem::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate.string();
  return error(ErrorCode::NotFound,
               "there is no program {0} at {1}, {2} or {3}: set HONE_WORKER to its file, or build the target {0}",
               kProgram, candidates[0].string(), candidates[1].string(), candidates[2].string());
}

Result<void> WorkerProcess::ensure_alive() {
  if (process_ && !process_->poll()) return {};
  for (int attempt = 1;; ++attempt) {
    process_.reset();
    HONE_TRY(process_, Subprocess::start(program_, {}, {.memory_bytes = memory_bytes_}));
    const std::optional<Message> hello = receive(deadline_in_ms(kHelloMs));
    if (hello && hello->kind == MessageKind::Hello && hello->version == kProtocolVersion) return {};
    const std::string words = process_->last_words();
    const ExitStatus status = process_->finish(hello ? 0 : kGoneMs);
    process_.reset();
    if (hello)
      return error(ErrorCode::Unsupported, "'{}' speaks version {} of the protocol, this hone speaks {}", program_,
                   hello->version, kProtocolVersion);
    if (status.signal == SIGKILL && attempt < kStarts) continue;  // somebody did that: the program is not to blame
    return error(ErrorCode::Unsupported, "the worker '{}' {} before it said hello: {}", program_, to_string(status),
                 words);
  }
}

bool WorkerProcess::send(const Message& message) {
  return process_ && process_->channel().send(encode(message), deadline_in_ms(kSendMs)) == Transfer::Done;
}

std::optional<Message> WorkerProcess::receive(Deadline deadline) {
  std::string bytes;
  if (!process_ || process_->channel().receive(bytes, deadline) != Transfer::Done) return std::nullopt;
  Result<Message> message = decode(bytes);
  if (!message) return std::nullopt;
  return *std::move(message);
}

MeasureResult WorkerProcess::bury() {
  MeasureResult result;
  result.status = TrialStatus::Crash;
  if (!process_) return result;
  const ExitStatus status = process_->finish(kGoneMs);
  const std::string words = process_->last_words();
  process_.reset();
  result.message = "the worker " + to_string(status);
  if (!words.empty()) result.message += ": " + words;
  // LLVM, unlike the rest, ends the process when an allocation fails
  if (words.find("out of memory") != std::string::npos || words.find("bad_alloc") != std::string::npos)
    result.status = TrialStatus::OutOfMemory;
  return result;
}

}  // namespace hone::measure
