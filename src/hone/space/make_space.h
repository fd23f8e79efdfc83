/// Spaces by name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hone/space/space.h"

namespace hone::space {

/// "mapping", "sketch", "ansor" (sketches as Ansor published them, to compare with), "template", or "auto": the mapping
/// space, and where all its candidates are one program, the sketches beside them. For GPUs there is no mapping space,
/// and "auto" is "sketch".
std::span<const std::string_view> space_names();

/// The space of this name for a task, or an error that lists the names there are.
Result<std::unique_ptr<Space>> make_space(std::string_view name, const Task& task, const codegen::Target& target);

/// The name of the space that a stored candidate is of; empty if the text is not one.
std::string space_of(std::string_view candidate);

}  // namespace hone::space
