/// Explains a space: how many of its candidates can be built, how many programs they are, and why others are refused.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "hone/space/space.h"
#include "hone/support/rng.h"

namespace hone::space {

/// What became of candidates.
struct Explanation {
  std::size_t drawn = 0, built = 0;
  std::size_t programs = 0;                     ///< different ones among those built
  bool is_all = false;                          ///< every candidate of the space was drawn, once
  std::map<std::string, std::size_t> rejected;  ///< by the reason: the error with its names and numbers left out

  /// A line for each reason, the most frequent first.
  std::string to_text() const;
};

/// Builds all candidates of a space if they are no more than `count`, else so many at random.
Explanation explain(const Space& space, std::size_t count, Rng& rng);

}  // namespace hone::space
