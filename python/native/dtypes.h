/// Which numpy dtype stands for which element type.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <optional>

#include "hone/runtime/element_type.h"

namespace hone::python {

/// The element type of a numpy dtype in this machine's byte order; none if ONNX has no such type. Strings have none
/// either: numpy has several dtypes for them.
std::optional<runtime::ElementType> element_type_of(nanobind::handle dtype);

/// The numpy dtype of an element type. Types that numpy lacks are ml_dtypes', or unsigned integers of their size where
/// that package is not installed.
nanobind::object dtype_of(runtime::ElementType type);

/// A dtype of numpy's own whose elements have the size of `type`, as DLPack writes it.
nanobind::dlpack::dtype plain_dtype_of(runtime::ElementType type);

/// The element type that DLPack describes so.
std::optional<runtime::ElementType> element_type_of(nanobind::dlpack::dtype dtype);

}  // namespace hone::python
