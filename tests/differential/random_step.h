/// Random schedule steps: mostly plausible ones for the program at hand, some that must be refused, some nonsense.
#pragma once

#include <string>
#include <vector>

#include "hone/schedule/program.h"
#include "hone/schedule/step.h"
#include "hone/support/rng.h"

namespace hone::differential {

/// The names in a program, and random choices among them.
struct Draw {
  Draw(Rng& random, const schedule::Program& scheduled);

  Rng& rng;
  const schedule::Program& program;
  std::vector<std::string> loops, blocks, reductions, buffers, allocated;

  /// One of the names; now and then, or if there are none, one that does not exist.
  std::string one_of(const std::vector<std::string>& names);
  std::string loop() { return one_of(loops); }
  std::string block() { return one_of(blocks); }
  std::string buffer() { return one_of(buffers); }
  /// An allocated buffer, or sometimes any.
  std::string storage() { return one_of(rng.chance(0.9) ? allocated : buffers); }
  /// A loop around the block.
  std::string loop_around(const std::string& block);
  /// The extent of a loop, or 1 if there is no such loop.
  std::int64_t extent_of(const std::string& loop) const;
  /// A factor for a loop of this extent: divisors, primes, beyond the extent, and rarely no factor at all.
  std::int64_t factor(std::int64_t extent);
  ir::Scope scope();
  /// A name for a decision; rarely one that is taken.
  std::string decision_name();
};

/// A step of any kind.
schedule::Step random_step(Rng& rng, const schedule::Program& program);

/// Steps that belong together, such as a split whose inner loop is then vectorized. Names are foreseen: if one of the
/// steps is refused, the next may name things that do not exist.
std::vector<schedule::Step> random_idiom(Rng& rng, const schedule::Program& program);

}  // namespace hone::differential
