/// Linear quantisation as expressions, for all operators that quantise.
#pragma once

#include "hone/graph/operators/convert.h"

namespace hone::graph {

/// The number of type `to` that stands for round(scaled) + zero point, or the nearest one there is. `scaled` is a float
/// already divided by the scale; `zero_point`, an element of type `to`, may be null.
ir::Expr quantized(const ir::Expr& scaled, const ir::Expr& zero_point, ElementType to,
                   const ConvertOptions& options = {});

/// (x - zero point) · scale as f32, where x and the zero point, which may be null, are elements of type `from`.
ir::Expr dequantized(const ir::Expr& x, const ir::Expr& zero_point, ElementType from, const ir::Expr& scale);

/// Scale and zero point of one element, for inputs that hold one for all, one for each index of an axis, or one for
/// each block of an axis.
class Granularity {
 public:
  /// Checks input `parameter` (a scale or a zero point) against the shape of input `x`.
  static Result<Granularity> of(const Application& op, std::size_t x, std::size_t parameter);

  /// The parameter that belongs to the element of x at these indices.
  ir::Expr at(const tensor::Tensor& parameter, const tensor::Indices& indices) const;

 private:
  enum class Kind { Whole, Axis, Block };

  Kind kind_ = Kind::Whole;
  std::size_t axis_ = 0;
  std::int64_t block_ = 1;
};

}  // namespace hone::graph
