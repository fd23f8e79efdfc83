/// Templates written in Python: hone._native.Config and Schedule, and the table of templates.
#pragma once

#include <nanobind/nanobind.h>

namespace hone::python {

/// Adds the classes and functions that hone.templates uses.
void define_templates(nanobind::module_& m);

}  // namespace hone::python
