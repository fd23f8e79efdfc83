#include "hone/space/sketch/register_tile.h"

#include <algorithm>
#include <numeric>

#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

constexpr std::int64_t kMostVectorsInTile = 4;  ///< of the vector axis in one tile
constexpr std::size_t kMostAxes = 2;            ///< beside it that a tile extends along
constexpr double kLatencyTimesUnits = 8;        ///< multiply-adds that must be under way at once
constexpr double kWorstToBest = 1.45;           ///< by the estimate below; it is too rough to leave out more

class Enumeration {
 public:
  Enumeration(const std::vector<NaiveLoop>& axes, std::size_t vector_axis, const std::vector<Read>& reads,
              const codegen::Target& target, int bits)
      : axes_(axes),
        vector_axis_(vector_axis),
        lanes_(std::max(1, target.lanes(bits))),
        registers_(target.vector_registers) {
    for (const Read& read : reads) {
      std::vector<bool> used;
      for (const NaiveLoop& axis : axes) used.push_back(read.uses(axis));
      if (std::find(uses_.begin(), uses_.end(), used) == uses_.end()) uses_.push_back(std::move(used));
    }
  }

  RegisterTiles run() {
    Factors tile(axes_.size(), 1);
    const Factors widths = vector_factors();
    for (const std::int64_t width : widths) {
      tile[vector_axis_] = width;
      extend(tile, 0, 0);
    }
    const std::uint64_t fitting = scored_.size();
    RegisterTiles tiles = choose();
    tiles.too_large = widths.size() * tiles_per_width() - fitting;
    tiles.too_slow = fitting - std::min<std::uint64_t>(fitting, tiles.options.size());
    return tiles;
  }

 private:
  struct Scored {
    double cost;
    Factors tile;
  };

  Factors vector_factors() const {
    const std::int64_t extent = axes_[vector_axis_].extent;
    Factors factors;
    for (std::int64_t i = 1; i <= kMostVectorsInTile && (i - 1) * lanes_ < extent; ++i)
      factors.push_back(std::min(i * lanes_, extent));
    for (const std::int64_t divisor : divisors(extent))
      if (divisor > lanes_ && divisor < kMostVectorsInTile * lanes_) factors.push_back(divisor);
    std::sort(factors.begin(), factors.end());
    factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
    return factors;
  }

  /// How many tiles there would be for each factor of the vector axis if there were no end of registers: those that
  /// extend along none of the other axes, along one, and along two.
  std::uint64_t tiles_per_width() const {
    static_assert(kMostAxes == 2);
    std::uint64_t single = 0, pairs = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (i == vector_axis_) continue;
      const auto more = static_cast<std::uint64_t>(std::min<std::int64_t>(axes_[i].extent, registers_) - 1);
      pairs += single * more;
      single += more;
    }
    return 1 + single + pairs;
  }

  /// How often something that uses these axes occurs in a tile, in vectors.
  std::int64_t count(const Factors& tile, const std::vector<bool>& used) const {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < tile.size(); ++i)
      if (used[i]) count *= i == vector_axis_ ? ceil_div(tile[i], lanes_) : tile[i];
    return count;
  }

  bool fits(const Factors& tile) const {
    std::int64_t loaded = 0;
    bool is_product = uses_.empty();  // something is the same for all lanes, and needs no vector of its own
    for (const std::vector<bool>& used : uses_) {
      if (used[vector_axis_]) loaded = loaded == 0 ? count(tile, used) : std::min(loaded, count(tile, used));
      is_product |= !used[vector_axis_];
    }
    const std::int64_t sums = count(tile, std::vector<bool>(tile.size(), true));
    return is_product ? sums + loaded + 1 <= registers_ : 2 * sums <= registers_;
  }

  double cost(const Factors& tile) const {
    double waste = 1, loads = 0;
    for (std::size_t i = 0; i < tile.size(); ++i) {
      const std::int64_t width = i == vector_axis_ ? ceil_div(tile[i], lanes_) * lanes_ : tile[i];
      waste *= static_cast<double>(ceil_div(axes_[i].extent, tile[i]) * width) / static_cast<double>(axes_[i].extent);
    }
    for (const std::vector<bool>& used : uses_) loads += static_cast<double>(count(tile, used));
    const auto sums = static_cast<double>(count(tile, std::vector<bool>(tile.size(), true)));
    return waste * (1 + 0.4 * loads / sums) * std::max(1.0, kLatencyTimesUnits / sums);
  }

  void extend(Factors& tile, std::size_t axis, std::size_t extended) {
    if (!fits(tile)) return;
    if (axis == axes_.size()) {
      scored_.push_back({cost(tile), tile});
      return;
    }
    if (axis == vector_axis_ || extended == kMostAxes) return extend(tile, axis + 1, extended);
    for (std::int64_t factor = 1; factor <= std::min<std::int64_t>(axes_[axis].extent, registers_); ++factor) {
      tile[axis] = factor;
      extend(tile, axis + 1, extended + (factor > 1 ? 1 : 0));
    }
    tile[axis] = 1;
  }

  RegisterTiles choose() {
    RegisterTiles tiles;
    if (scored_.empty()) return {{Factors(axes_.size(), 1)}, 0};
    std::stable_sort(scored_.begin(), scored_.end(), [](const Scored& a, const Scored& b) { return a.cost < b.cost; });
    const double limit = scored_[0].cost * kWorstToBest;
    const Factors best = scored_[0].tile;
    tiles.cost = scored_[0].cost;
    for (const Scored& scored : scored_)
      if (scored.cost <= limit && tiles.options.size() < kMostOptions) tiles.options.push_back(scored.tile);
    std::sort(tiles.options.begin(), tiles.options.end());
    tiles.best =
        static_cast<std::size_t>(std::find(tiles.options.begin(), tiles.options.end(), best) - tiles.options.begin());
    return tiles;
  }

  const std::vector<NaiveLoop>& axes_;
  std::size_t vector_axis_;
  std::int64_t lanes_, registers_;
  std::vector<std::vector<bool>> uses_;  ///< for each kind of read the axes it uses
  std::vector<Scored> scored_;
};

}  // namespace

RegisterTiles register_tiles(const std::vector<NaiveLoop>& axes, std::size_t vector_axis,
                             const std::vector<Read>& reads, const codegen::Target& target, int bits) {
  if (axes.empty()) return {{Factors()}, 0};
  return Enumeration(axes, vector_axis, reads, target, bits).run();
}

}  // namespace hone::space
