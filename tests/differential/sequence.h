/// Random sequences of schedule steps over the catalogue of definitions, with the promises that each step makes
/// checked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "hone/schedule/trace.h"
#include "hone/support/function_ref.h"

namespace hone::differential {

/// How often each primitive was applied and refused.
struct Tally {
  std::int64_t sequences = 0;
  std::array<std::int64_t, std::variant_size_v<schedule::Step>> legal{}, refused{};
};

/// One line per primitive.
std::string to_text(const Tally& tally);

/// A definition at a random shape, and the steps applied to it.
struct Sequence {
  std::string definition;
  schedule::Program naive;
  schedule::Schedule schedule;
  std::optional<std::string> failure;  ///< the first promise that a step broke
};

/// The sequence of this number: the same for the same seed. Checks that a refused step says why and changes nothing,
/// that after a legal one the program verifies and reads back from its text, and that the trace replays.
Sequence draw_sequence(std::uint64_t seed, std::uint64_t number, Tally& tally);

/// A shorter trace for which `is_wrong` still holds: leaves out steps one by one, as long as the others stay legal.
schedule::Trace shorten(const schedule::Program& naive, schedule::Trace trace,
                        FunctionRef<bool(const schedule::Program&)> is_wrong);

}  // namespace hone::differential
