#include "hone/support/error.h"

namespace hone {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
      return "invalid argument";
    case ErrorCode::IllegalStep:
      return "illegal step";
    case ErrorCode::ParseError:
      return "parse error";
    case ErrorCode::VerifyError:
      return "verify error";
    case ErrorCode::OutOfBounds:
      return "out of bounds";
    case ErrorCode::CompileError:
      return "compile error";
    case ErrorCode::OutOfMemory:
      return "out of memory";
    case ErrorCode::NotFound:
      return "not found";
    case ErrorCode::Unsupported:
      return "unsupported";
    case ErrorCode::NeedsValue:
      return "needs value";
  }
  return "unknown error";
}

void fail_check(std::string_view condition, std::string_view message, std::source_location where) {
  throw InternalError(fmt::format("{}:{}: check '{}' failed: {}", where.file_name(), where.line(), condition, message));
}

}  // namespace hone
