/// One space made of several.
#pragma once

#include <memory>
#include <vector>

#include "hone/space/space.h"

namespace hone::space {

/// All candidates of these spaces of one task, of which there is at least one. The first candidate is that of the first
/// space. Candidates are stored under the names of their own spaces, so that records of one of them are records of all.
std::unique_ptr<Space> make_union_space(std::string_view name, std::vector<std::unique_ptr<Space>> parts);

}  // namespace hone::space
