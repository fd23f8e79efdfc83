/// The messages between the measurer and its workers, as bytes and back.
///
/// A worker says Hello; then the measurer sends Prepare (compile these programs, make their arguments) and gets
/// Prepared, sends Run (check and time them) and gets Finished. Prepared and Finished carry one result per program. If
/// no program can be run, Run is not sent. Several jobs may be prepared before the first of them is run; a worker keeps
/// each until then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/measure/trial.h"

namespace hone::measure {

/// Changes with the messages below, so that a worker of another version is recognised.
inline constexpr std::uint32_t kProtocolVersion = 3;

enum class MessageKind : std::uint8_t { Hello, Prepare, Prepared, Run, Finished };

/// A KernelProgram as text.
struct ProgramText {
  std::string main, prepare;  ///< `prepare` is empty if there is none
  std::vector<std::uint64_t> packed;
};

/// A TaskData, its programs as text.
struct TaskText {
  std::vector<std::optional<Fill>> fills;
  std::optional<ProgramText> reference;
  std::vector<std::string> expected;
  double tolerance = -1;
  std::int64_t integer_tolerance = 0;
  bool allows_nan = false;

  bool says_what_is_expected() const { return reference || !expected.empty(); }
};

/// Any message: `kind` says which fields mean something.
struct Message {
  MessageKind kind = MessageKind::Hello;
  std::uint32_t version = kProtocolVersion;  ///< Hello
  std::uint64_t job = 0;                     ///< Prepare, Run: which programs
  std::string target;                        ///< Prepare
  Timing timing;                             ///< Prepare
  std::uint64_t task_number = 0;             ///< Prepare: which task the programs compute
  std::optional<TaskText> task;              ///< Prepare: none if the worker was told of this number before
  std::vector<std::uint64_t> forgotten;      ///< Prepare: tasks that will not be asked for again
  std::vector<ProgramText> programs;         ///< Prepare
  std::vector<MeasureResult> results;        ///< Prepared, Finished
};

ProgramText to_text(const KernelProgram& program);
TaskText to_text(const TaskData& data);
Result<KernelProgram> parse(const ProgramText& text);

std::string encode(const Message& message);
/// An error if these bytes are no message: nothing that a broken process sends does harm.
Result<Message> decode(std::string_view bytes);

}  // namespace hone::measure
