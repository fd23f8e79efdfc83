#include "hone/graph/lane_access.h"

#include <algorithm>
#include <optional>

#include "hone/ir/rewrite.h"

namespace hone::graph {
namespace {

using Assignment = std::vector<std::pair<ir::Expr, std::int64_t>>;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// The value of an index; nothing if it is not plain arithmetic of known variables.
std::optional<std::int64_t> value_of(const ir::Expr& e, const Assignment& variables) {
  if (const std::optional<std::int64_t> constant = ir::as_int(e)) return constant;
  if (e.as<ir::Var>()) {
    for (const auto& [var, value] : variables)
      if (var.is(e)) return value;
    return std::nullopt;
  }
  const auto of_two = [&](const auto& node, auto&& combine) -> std::optional<std::int64_t> {
    const std::optional<std::int64_t> a = value_of(node.a, variables), b = value_of(node.b, variables);
    if (!a || !b) return std::nullopt;
    return combine(*a, *b);
  };
  using Number = std::int64_t;
  if (const auto* add = e.as<ir::Add>()) return of_two(*add, [](Number a, Number b) { return a + b; });
  if (const auto* sub = e.as<ir::Sub>()) return of_two(*sub, [](Number a, Number b) { return a - b; });
  if (const auto* mul = e.as<ir::Mul>()) return of_two(*mul, [](Number a, Number b) { return a * b; });
  if (const auto* min = e.as<ir::Min>()) return of_two(*min, [](Number a, Number b) { return std::min(a, b); });
  if (const auto* max = e.as<ir::Max>()) return of_two(*max, [](Number a, Number b) { return std::max(a, b); });
  if (const auto* div = e.as<ir::FloorDiv>())
    return of_two(*div, [](Number a, Number b) { return b == 0 ? 0 : floor_div(a, b); });
  if (const auto* mod = e.as<ir::FloorMod>())
    return of_two(*mod, [](Number a, Number b) { return b == 0 ? 0 : a - b * floor_div(a, b); });
  return std::nullopt;
}

/// Where an element stands in memory.
std::int64_t address_of(std::span<const std::int64_t> at, std::span<const std::int64_t> shape, std::int64_t block) {
  std::int64_t address = 0;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const bool is_blocked = block > 0 && axis == 1;
    address = address * (is_blocked ? shape[axis] / block : shape[axis]) +
              (is_blocked ? floor_div(at[axis], block) : at[axis]);
  }
  return block > 0 ? address * block + (at[1] - block * floor_div(at[1], block)) : address;
}

LaneAccess kind_of(std::span<const std::int64_t> distances) {
  const auto width = static_cast<std::int64_t>(distances.size());
  bool is_same = true, is_vector = true, is_near = true;
  for (std::int64_t i = 0; i < width; ++i) {
    const std::int64_t d = distances[static_cast<std::size_t>(i)];
    is_same &= d == 0;
    is_vector &= d == i;
    is_near &= d >= 0 && d < width;
  }
  if (is_same) return LaneAccess::Same;
  if (is_vector) return LaneAccess::Vector;
  return is_near ? LaneAccess::Near : LaneAccess::Apart;
}

}  // namespace

LaneAccess lane_access(const std::vector<ir::Expr>& indices, std::span<const std::int64_t> shape, std::int64_t block,
                       const ir::Expr& lane, std::int64_t width, const KernelResult& result) {
  const bool moves =
      std::any_of(indices.begin(), indices.end(), [&](const ir::Expr& index) { return ir::uses(index, lane); });
  if (!moves) return LaneAccess::Same;
  Assignment variables;
  for (const auto* loops : {&result.spatial, &result.reduced})
    for (const LoopVariable& loop : *loops)
      if (loop.var.as<ir::Var>()) variables.emplace_back(loop.var, 0);
  constexpr std::int64_t kPlaces = 3;
  LaneAccess worst = LaneAccess::Same;
  std::vector<std::int64_t> at(indices.size()), distances(static_cast<std::size_t>(width));
  for (std::int64_t place = 0; place < kPlaces; ++place) {
    std::int64_t first = 0;
    for (const auto* loops : {&result.spatial, &result.reduced})
      for (const LoopVariable& loop : *loops)
        for (auto& [var, value] : variables)
          if (var.is(loop.var)) {
            value = place * (loop.extent - 1) / (kPlaces - 1);
            if (var.is(lane)) first = value / width * width;
          }
    std::int64_t base = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      for (auto& [var, value] : variables)
        if (var.is(lane)) value = first + i;
      for (std::size_t axis = 0; axis < indices.size(); ++axis) {
        if (i > 0 && !ir::uses(indices[axis], lane)) continue;
        const std::optional<std::int64_t> value = value_of(indices[axis], variables);
        if (!value) return LaneAccess::Apart;
        at[axis] = *value;
      }
      const std::int64_t address = address_of(at, shape, block);
      if (i == 0) base = address;
      distances[static_cast<std::size_t>(i)] = address - base;
    }
    worst = std::max(worst, kind_of(distances));
  }
  return worst;
}

}  // namespace hone::graph
