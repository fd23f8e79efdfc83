#include "hone/support/rng.h"

#include "hone/support/error.h"

namespace hone {

namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t Rng::next() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

std::int64_t Rng::uniform(std::int64_t low, std::int64_t high) {
  HONE_CHECK(low <= high, "empty range {}..{}", low, high);
  const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (width == 0) return static_cast<std::int64_t>(next());
  // Rejecting the unfinished last copy of the range keeps every value equally likely.
  const std::uint64_t unfair = (0 - width) % width;
  std::uint64_t bits = next();
  while (bits < unfair) bits = next();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + bits % width);
}

double Rng::unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

Rng Rng::fork(std::uint64_t salt) const { return Rng(mix(state_ ^ mix(salt))); }

}  // namespace hone
