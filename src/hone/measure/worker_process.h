/// A worker process as the measurer sees it: started when it is needed, and started again when it dies.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hone/measure/protocol.h"
#include "hone/support/subprocess.h"

namespace hone::measure {

/// The file of the program hone_worker: what the variable HONE_WORKER names; or else beside the library or program that
/// holds this code, one folder up from there, or in ../libexec/hone. An error names the places that were looked at.
Result<std::string> find_worker_program();

/// One worker process, or the place of one.
class WorkerProcess {
 public:
  WorkerProcess(std::string program, std::int64_t memory_bytes)
      : program_(std::move(program)), memory_bytes_(memory_bytes) {}

  /// Makes sure that there is a process that answers, as far as one can know.
  Result<void> ensure_alive();
  /// Its process id; -1 if there is none.
  pid_t pid() const { return process_ ? process_->pid() : -1; }
  /// What to poll for an answer; -1 if there is none.
  int fd() const { return process_ ? process_->channel().fd() : -1; }

  /// Sends a message. False if the process has died.
  bool send(const Message& message);
  /// The message that has arrived; nothing if the process has died or talks nonsense.
  std::optional<Message> receive(Deadline deadline);

  /// Ends the process.
  void stop() { process_.reset(); }
  /// Ends the process and says what became of the trial that it was at: it died of it.
  MeasureResult bury();

 private:
  std::string program_;
  std::int64_t memory_bytes_;
  std::optional<Subprocess> process_;
};

}  // namespace hone::measure
