/// What the knobs of templates choose from (after AutoTVM, arXiv 1805.08166): how a loop is split, in which order loops
/// stand, and how they run. The order of options is AutoTVM's, so that numbers and neighbours of candidates are, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/space/sketch/factors.h"
#include "hone/support/result.h"

namespace hone::space {

/// In an option of a split: the outermost factor, which is what remains.
inline constexpr std::int64_t kRemaining = -1;

/// Which factors a split is made of.
enum class SplitPolicy : std::uint8_t {
  Divisors,     ///< of the extent
  PowersOfTwo,  ///< up to the extent
  Verbose,      ///< both
  Candidates,   ///< nothing but the options that are listed
};

/// Whether factors may leave iterations over, which are then guarded.
enum class Tails : std::uint8_t { ByPolicy, Never, Allowed };

/// How a loop may be split.
struct SplitRule {
  std::size_t outputs = 2;  ///< loops that result
  SplitPolicy policy = SplitPolicy::Divisors;
  std::int64_t max_factor = std::numeric_limits<std::int64_t>::max();
  Tails tails = Tails::ByPolicy;               ///< by policy: divisors leave none
  std::vector<Factors> candidates = {};        ///< of the policy of this name: kRemaining first, then outer to inner
  std::function<bool(const Factors&)> keep{};  ///< whether an option is kept; none: all are
  /// For the option to take when nothing is known: the largest factor of each loop, outer to inner, kRemaining for any.
  /// Empty: the first option.
  Factors fallback = {};
};

/// All options of a split of a loop of this extent: [kRemaining, factors from outer to inner]. The innermost factor
/// changes slowest. An error says which part of the rule leaves nothing.
Result<std::vector<Factors>> split_options(std::int64_t extent, const SplitRule& rule);

/// The option with the largest factors within these limits, the innermost first. The first option if there is none.
std::size_t fallback_split(const std::vector<Factors>& options, const Factors& limits);

/// Which orders there are.
enum class ReorderPolicy : std::uint8_t {
  Identity,        ///< the one that is there
  All,             ///< every one
  Interval,        ///< every one of the axes in [begin, end)
  Candidates,      ///< those that are listed
  Interleave,      ///< outer parts of spatial chains, then their last parts and the reduction chains, as merged
  InterleaveCuda,  ///< outer parts of spatial chains, then the reduction chains, then the last spatial parts
};

/// How axes may be ordered. They are known by their places.
struct ReorderRule {
  ReorderPolicy policy = ReorderPolicy::All;
  std::pair<std::size_t, std::size_t> interval = {};               ///< [begin, end)
  std::vector<std::vector<std::int64_t>> candidates = {};          ///< each with every place once
  std::vector<std::vector<std::int64_t>> spatial = {}, reduced{};  ///< chains, each from outer to inner
  std::size_t fallback = 0;
};

/// All orders of so many axes, each a list of their places.
Result<std::vector<std::vector<std::int64_t>>> reorder_options(std::size_t axes, const ReorderRule& rule);

/// How a loop may run. The numbers are stored.
enum class Mark : std::int64_t {
  None,
  Unroll,
  Vectorize,
  Fuse,  ///< with the next loop, which says how
  BlockZ,
  BlockY,
  BlockX,
  Virtual,
  ThreadZ,
  ThreadY,
  ThreadX,
};

/// The marks that so many loops, outer to inner, may have: "bind_gpu" (the last loops are the indices of a GPU's blocks
/// and threads), "bind_gpu_virtual" (with virtual threads between them), or any of none, unroll and vec joined by "_",
/// in all combinations with at most one vec; "try" is another word for none.
Result<std::vector<std::vector<std::int64_t>>> annotate_options(std::size_t loops, std::string_view policy);

/// All ways to place `anchors` things at different ones of so many loops, in ascending order: AutoTVM's "locate_cache".
Result<std::vector<std::vector<std::int64_t>>> locate_options(std::size_t loops, std::size_t anchors);

}  // namespace hone::space
