/// Seeded random numbers: the same seed gives the same sequence on every machine and thread count.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone {

/// A small fast generator (splitmix64). Copy it to fork a sequence; never share one between threads.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  /// The next 64 random bits.
  std::uint64_t next();

  /// A uniform integer in [low, high], both included.
  std::int64_t uniform(std::int64_t low, std::int64_t high);

  /// A uniform number in [0, 1).
  double unit();

  /// True with the given probability.
  bool chance(double probability) { return unit() < probability; }

  /// A uniform element of a non-empty range.
  template <typename Container>
  auto& choose(Container& items) {
    return items[static_cast<std::size_t>(uniform(0, static_cast<std::int64_t>(items.size()) - 1))];
  }

  /// An independent generator whose sequence depends on this one's state and on `salt`.
  Rng fork(std::uint64_t salt) const;

 private:
  std::uint64_t state_;
};

}  // namespace hone
