/// Factors of loops: the two families of tiles that knobs choose from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::space {

using Factors = std::vector<std::int64_t>;

/// The most options a knob has.
inline constexpr std::size_t kMostOptions = 2000;
/// The largest innermost factor of a divisor tile.
inline constexpr std::int64_t kMaxInnermost = 64;

/// All divisors of a positive number, ascending.
Factors divisors(std::int64_t number);

/// Divisor tiles: all lists of `parts` factors, outer to inner, whose product divides the extent, the last factor at
/// most `max_innermost`; in ascending order. An outermost loop runs over the rest.
std::vector<Factors> factorizations(std::int64_t extent, std::size_t parts, std::int64_t max_innermost = kMaxInnermost);

/// Numbers worth trying for a loop of up to `count` iterations, whatever it divides into: powers of two, and the
/// divisors of `count`.
Factors block_sizes(std::int64_t count);

/// At most `most` of the options, evenly spread.
std::vector<Factors> thinned(std::vector<Factors> options, std::size_t most = kMostOptions);

}  // namespace hone::space
