/// The space of sketches (after Ansor, arXiv 2006.06762): structures of programs that rules derive from the naive one,
/// and every number in them a knob.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "hone/space/sketch/rules.h"
#include "hone/support/rng.h"

namespace hone::space {

/// The sketches of a task: for each of its algorithms those that the rules derive, with tiles that fit the registers
/// ("hardware") and with tiles that divide the extents ("divisor"). Where no rule leads to a program that can be built,
/// there is one sketch that leaves the naive program as it is.
Result<std::unique_ptr<Space>> make_sketch_space(const Task& task, const codegen::Target& target,
                                                 const SketchOptions& options = {});

/// What became of candidates drawn at random.
struct Explanation {
  std::size_t drawn = 0, built = 0;
  std::map<std::string, std::size_t> rejected;  ///< by the reason: the error with its names and numbers left out

  /// A line for each reason, the most frequent first.
  std::string to_text() const;
};

/// Builds `count` candidates of any space, and counts what was rejected and why.
Explanation explain(const Space& space, std::size_t count, Rng& rng);

}  // namespace hone::space
