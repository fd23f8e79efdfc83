#include "hone/graph/operators/indexing.h"

#include <algorithm>

namespace hone::graph {

using ir::Expr;
using tensor::Indices;

Result<std::optional<Integers>> optional_ints(const Application& op, std::size_t i) {
  if (!op.has(i)) return std::optional<Integers>();
  HONE_TRY(Integers numbers, op.ints(i));
  return std::optional<Integers>(std::move(numbers));
}

std::optional<Integers> optional_integers(const Application& op, std::string_view name) {
  if (!op.attributes().has(name)) return std::nullopt;
  return op.integers(name);
}

Result<std::int64_t> single_int(const Application& op, std::size_t i) {
  HONE_TRY(const Integers numbers, op.ints(i));
  if (numbers.size() != 1) return op.fail("input {} has {} elements, allowed is 1", i, numbers.size());
  return numbers[0];
}

Expr safe_index(const Expr& index, std::int64_t extent) {
  const Expr wide = ir::cast(ir::kIndex, index);
  const Expr from_start = index.type().is_unsigned() ? wide : ir::select(wide < 0, wide + extent, wide);
  return ir::max(ir::min(from_start, ir::imm(extent - 1)), ir::imm(0));
}

Indices reshaped_indices(const Indices& indices, const tensor::Shape& to, const tensor::Shape& from) {
  Indices result(from.size(), ir::imm(0));
  if (std::find(from.begin(), from.end(), 0) != from.end()) return result;
  // Axes are taken in groups, as short as possible, that hold equally many elements on both sides.
  std::size_t read = 0, write = 0;
  while (read < to.size() || write < from.size()) {
    std::int64_t in = 1, out = 1;
    Expr flat;
    const std::size_t first = write;
    do {
      if (out <= in && write < from.size()) {
        out *= from[write++];
      } else if (read < to.size()) {
        if (to[read] != 1) flat = flat ? flat * to[read] + indices[read] : indices[read];
        in *= to[read++];
      } else {
        out *= from[write++];
      }
    } while (in != out);
    if (!flat) continue;
    std::int64_t above = out;
    for (std::size_t axis = first; axis < write; ++axis) {
      if (from[axis] == 1) continue;
      const bool is_first = above == out;
      above /= from[axis];
      const Expr reduced = above == 1 ? flat : ir::floor_div(flat, above);
      result[axis] = is_first ? reduced : ir::floor_mod(reduced, from[axis]);
    }
  }
  return result;
}

tensor::Tensor reshaped(const tensor::Tensor& x, const tensor::Shape& shape) {
  return tensor::compute("reshape", tensor::axes_of(shape),
                         [&](const Indices& i) { return x(reshaped_indices(i, shape, x.shape())); });
}

Expr zero(ir::DType type) { return type.is_float() ? ir::constant(type, 0.0) : ir::constant(type, std::int64_t{0}); }

}  // namespace hone::graph
