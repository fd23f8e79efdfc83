/// Reuse: the candidate that records suggest for a task, found for this task or for another one of its family.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "hone/measure/records/records.h"
#include "hone/space/space.h"

namespace hone::search {

/// How a candidate was come by, from the best to the worst.
enum class Origin : std::uint8_t {
  Exact,       ///< tuned for this task, in whatever model it was met
  Compatible,  ///< tuned for a task whose sizes divide those of this one: every decision means the same here
  Nearest,     ///< tuned for a task of similar sizes, or in a space that has changed: each decision as near as there is
  Predicted,   ///< by a trained network: nothing was measured
  Default,     ///< by rules: nothing was measured
};

/// "tuned", "compatible", "nearest", "predicted" or "default".
std::string_view to_string(Origin origin);

/// A candidate in the space that it was found in.
struct Reused {
  std::unique_ptr<space::Space> space;
  space::Candidate candidate;
  Origin origin = Origin::Default;
  measure::Record record;  ///< of the trial that it was adopted by
};

/// What was adopted for the task on the target; else for the compatible task whose time, scaled by how much smaller it
/// is, is least; else for the nearest task of the family. Nothing if no record helps: algorithms are not carried over
/// to other sizes, and candidates not to sizes that are far away. An error if records cannot be read.
Result<std::optional<Reused>> find_reusable(const measure::Records& records, const space::Task& task,
                                            const codegen::Target& target);

}  // namespace hone::search
