/// Python objects as values and back: numpy arrays, anything with __dlpack__, strings, lists, dicts and None.
#pragma once

#include <nanobind/nanobind.h>

#include "hone/session.h"

namespace hone::python {

/// Sets hone.Error as the Python exception and throws it.
[[noreturn]] void raise(ErrorCode code, const std::string& message);
[[noreturn]] void raise(const Error& error);
/// Whether an exception is a hone.Error.
bool is_hone_error(const nanobind::python_error& raised);

/// The value of a Result; its error is raised as hone.Error.
template <typename T>
T unwrap(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// The value that `object` stands for as the input `port`. Contiguous memory is shared, not copied, and kept alive by
/// the value. Raises hone.Error, naming the input, if no value can be made of it.
Value to_value(nanobind::handle object, const Port& port);

/// The Python object for a value. Arrays share the tensor's memory and keep it alive.
nanobind::object to_python(const Value& value);

}  // namespace hone::python
