/// The sampling steps: what they may decide, and how a decision is drawn.
#pragma once

#include "hone/schedule/trace.h"

namespace hone::schedule {

/// An error unless the decision is `parts` factors of at least 1 that cover the loop, the innermost within its limit.
Result<void> check_tile(const Program& program, const SampleTile& step);
/// The option that was decided for.
Result<std::int64_t> chosen_option(const SampleChoice& step);
/// The loop that was decided for; empty means that the block stays where it is.
Result<std::string> chosen_location(const Program& program, const SampleLocation& step);

}  // namespace hone::schedule
