/// The error of arguments that a kernel, or the rule of its shapes, does not accept.
#pragma once

#include "hone/support/error.h"

namespace hone::runtime {

template <typename... Args>
Error bad(std::type_identity_t<FormatHere<Args...>> format, Args&&... args) {
  return error<Args...>(ErrorCode::InvalidArgument, format, std::forward<Args>(args)...);
}

}  // namespace hone::runtime
