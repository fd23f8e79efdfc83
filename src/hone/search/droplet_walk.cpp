#include "hone/search/droplet_walk.h"

#include <algorithm>
#include <utility>

#include "hone/support/error.h"

namespace hone::search {
namespace {

/// Rings of subsets are exponential in the number of axes; what comes later is left out.
constexpr std::uint64_t kSubsets = 1 << 16;

std::size_t last_radius(const std::vector<std::size_t>& dims, DropletMoves moves, std::size_t widest) {
  const std::size_t longest = dims.empty() ? 1 : *std::max_element(dims.begin(), dims.end());
  const std::size_t all = moves == DropletMoves::Published ? longest : longest - 1;
  return widest == 0 ? all : std::min(widest, all);
}

}  // namespace

DropletWalk::DropletWalk(std::vector<std::size_t> dims, Position centre, DropletMoves moves, std::size_t widest,
                         std::vector<Position> near)
    : dims_(std::move(dims)),
      centre_(std::move(centre)),
      moves_(moves),
      widest_(last_radius(dims_, moves, widest)),
      near_(near.rbegin(), near.rend()) {
  HONE_CHECK(dims_.size() == centre_.size(), "{} axes, but {} coordinates", dims_.size(), centre_.size());
}

std::optional<Position> DropletWalk::next() {
  if (moves_ == DropletMoves::Published) return next_subset();
  std::optional<Position> position = next_coordinate();
  return position || moves_ == DropletMoves::Coordinates ? position : next_pair();
}

bool DropletWalk::shift(Position& position, std::size_t axis, bool is_up, std::size_t by) const {
  if (is_up ? position[axis] + by >= dims_[axis] : position[axis] < by) return false;
  position[axis] = is_up ? position[axis] + by : position[axis] - by;
  return true;
}

std::optional<Position> DropletWalk::next_coordinate() {
  for (; radius_ <= widest_; ++radius_, step_ = 0) {
    while (step_ < 2 * dims_.size()) {
      const std::uint64_t step = step_++;
      Position position = centre_;
      if (shift(position, step / 2, step % 2 == 0, radius_)) return position;
    }
    if (!near_.empty()) {
      Position position = std::move(near_.back());
      near_.pop_back();
      return position;
    }
  }
  return std::nullopt;
}

std::optional<Position> DropletWalk::next_pair() {
  constexpr std::pair<bool, bool> kSigns[] = {{true, true}, {false, false}, {true, false}, {false, true}};
  for (; first_ + 1 < dims_.size(); ++first_, second_ = first_ + 1)
    for (; second_ < dims_.size(); ++second_, signs_ = 0)
      while (signs_ < std::size(kSigns)) {
        const auto [first_up, second_up] = kSigns[signs_++];
        Position position = centre_;
        if (shift(position, first_, first_up, 1) && shift(position, second_, second_up, 1)) return position;
      }
  return std::nullopt;
}

std::optional<Position> DropletWalk::next_subset() {
  const std::size_t axes = std::min<std::size_t>(dims_.size(), 62);
  const std::uint64_t all = (std::uint64_t{1} << axes) - 1;
  if (step_ == 2 * std::min(all, kSubsets)) {
    ++radius_;
    step_ = 0;
  }
  if (all == 0 || radius_ > widest_) return std::nullopt;
  const std::uint64_t subset = all - step_ / 2;
  const bool is_up = step_++ % 2 == 0;
  Position position = centre_;
  for (std::size_t i = 0; i < axes; ++i) {
    if ((subset >> (axes - 1 - i) & 1) == 0) continue;
    if (is_up)
      position[i] = (position[i] + radius_) % dims_[i];
    else
      position[i] = position[i] > radius_ ? position[i] - radius_ : 0;
  }
  return position;
}

}  // namespace hone::search
