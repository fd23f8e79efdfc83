/// Errors that a user, a file, a device or a search can cause, and checks for our own mistakes.
#pragma once

#include <fmt/core.h>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hone {

/// What kind of thing went wrong; callers branch on this, people read the message.
enum class ErrorCode {
  InvalidArgument,  ///< a value outside what the function accepts
  IllegalStep,      ///< a schedule step that would change what the program computes, or cannot be applied
  ParseError,       ///< text or JSON that does not follow its grammar
  VerifyError,      ///< a program that breaks a rule of the IR
  OutOfBounds,      ///< a load or store outside its buffer
  CompileError,     ///< the code generator or its back end refused the program
  OutOfMemory,      ///< an allocation the system cannot serve
  NotFound,         ///< a file, symbol or entry that does not exist
  Unsupported,      ///< a legal request that this target or build cannot serve
  NeedsValue,       ///< an answer that depends on the content of a tensor which is not known yet
};

/// The name of a code as it is printed, such as "illegal step".
std::string_view to_string(ErrorCode code);

/// A failure with its code, a message for people, and the place in our source that raised it.
struct Error {
  ErrorCode code;
  std::string message;
  std::source_location where;
};

/// A format string together with the place that wrote it; built implicitly from a string literal.
template <typename... Args>
struct FormatHere {
  fmt::format_string<Args...> text;
  std::source_location where;

  template <typename Text>
  consteval FormatHere(const Text& format, std::source_location location = std::source_location::current())
      : text(format), where(location) {}
};

/// Makes an error: `error(ErrorCode::IllegalStep, "split: factor {} is outside 1..{}", factor, extent)`.
template <typename... Args>
Error error(ErrorCode code, std::type_identity_t<FormatHere<Args...>> format, Args&&... args) {
  return Error{code, fmt::format(format.text, std::forward<Args>(args)...), format.where};
}

/// A mistake of our own: thrown by HONE_CHECK, caught by worker and binding alone.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError naming the failed condition and its place.
[[noreturn]] void fail_check(std::string_view condition, std::string_view message, std::source_location where);

}  // namespace hone

/// Throws InternalError unless `condition` holds; the message is a format string with its arguments.
#define HONE_CHECK(condition, ...)                                                                   \
  do {                                                                                               \
    if (!(condition)) [[unlikely]]                                                                   \
      ::hone::fail_check(#condition, ::fmt::format(__VA_ARGS__), ::std::source_location::current()); \
  } while (false)
