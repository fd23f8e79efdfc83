#include "hone/schedule/lane_access.h"

#include <algorithm>
#include <span>

#include "hone/ir/affine.h"
#include "hone/ir/simplify.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// The index `base + Σ coefficient · loop` with one lane for each value of the loops, the last loop running fastest.
Expr lane_index(const Expr& base, std::span<const std::int64_t> coefficients, std::span<const std::int64_t> extents) {
  std::int64_t lanes = 1;
  for (const std::int64_t extent : extents) lanes *= extent;
  // One ramp if each loop goes on where the loop inside it ends.
  const std::int64_t step = coefficients.empty() ? 0 : coefficients.back();
  bool is_even = true, is_used = false;
  std::int64_t inner = 1;
  for (std::size_t i = extents.size(); i-- > 0; inner *= extents[i]) {
    is_even = is_even && coefficients[i] == step * inner;
    is_used = is_used || coefficients[i] != 0;
  }
  if (!is_used) return base;
  const int count = static_cast<int>(lanes);
  if (is_even) return make(Ramp{base, imm(step)}, count);

  Expr index = make(Broadcast{base}, count);
  const Expr lane = make(Ramp{imm(0), imm(1)}, count);
  inner = 1;
  for (std::size_t i = extents.size(); i-- > 0; inner *= extents[i]) {
    if (coefficients[i] == 0) continue;
    const Expr rest = floor_div(lane, inner);
    index = index + (i == 0 ? rest : floor_mod(rest, extents[i])) * coefficients[i];
  }
  return simplify(index);
}

}  // namespace

std::optional<std::int64_t> LaneAccess::stride(std::size_t loop) const {
  const Buffer& node = buffer.get<Buffer>();
  std::int64_t stride = 0, row = 1;
  for (std::size_t axis = bases.size(); axis-- > 0;) {
    const bool is_fixed = row >= 0 && (axis + 1 == bases.size() || node.alignments.empty());
    if (coefficients[axis][loop] != 0 && !is_fixed) return std::nullopt;
    stride += coefficients[axis][loop] * row;
    const std::optional<std::int64_t> extent = as_int(node.shape[axis]);
    row = extent && row >= 0 ? row * *extent : -1;
  }
  return stride;
}

std::optional<LaneAccess> take_apart(const Expr& buffer, const Indices& indices, const Substitution& bindings,
                                     const std::vector<Expr>& loops, const Bounds& bounds) {
  LaneAccess access{buffer, {}, {}};
  Substitution zeros;
  for (const Expr& loop : loops) zeros.emplace_back(loop, imm(0));
  for (const Expr& given : indices) {
    if (given.type().is_vector()) return std::nullopt;
    const Expr index = simplify(substitute(given, bindings), bounds);
    access.bases.push_back(simplify(substitute(index, zeros), bounds));
    const std::optional<Affine> rest = to_affine(simplify(index - access.bases.back(), bounds));
    std::vector<std::int64_t> coefficients;
    for (const Expr& loop : loops) coefficients.push_back(rest ? rest->coefficient(loop) : 0);
    const auto used = static_cast<std::size_t>(
        std::count_if(coefficients.begin(), coefficients.end(), [](std::int64_t c) { return c != 0; }));
    if (!rest || rest->constant != 0 || rest->terms.size() != used) return std::nullopt;
    access.coefficients.push_back(std::move(coefficients));
  }
  return access;
}

Indices lane_indices(const LaneAccess& access, const std::vector<std::size_t>& loops,
                     const std::vector<std::int64_t>& extents) {
  Indices indices;
  for (std::size_t axis = 0; axis < access.bases.size(); ++axis) {
    std::vector<std::int64_t> coefficients, counts;
    for (const std::size_t loop : loops) {
      coefficients.push_back(access.coefficients[axis][loop]);
      counts.push_back(extents[loop]);
    }
    indices.push_back(lane_index(access.bases[axis], coefficients, counts));
  }
  return indices;
}

}  // namespace hone::schedule
