/// What operators on quantised numbers share: zero points, scales, and the way back to narrow integers.
#pragma once

#include "hone/graph/operator.h"

namespace hone::graph {

/// Whether the input is a single number, of whatever rank.
bool is_single(const Application& op, std::size_t input);

/// An error unless the input, if it is there, is a single number.
Result<void> expect_single(const Application& op, std::size_t input);

/// Input `input` as a number, or as one number per entry of an axis: the element at `index` of a vector.
ir::Expr scalar_or_entry(const Application& op, std::size_t input, const ir::Expr& index);

/// The input as i32, less its zero point (a number, or a vector with one entry per index of `axis`) if there is one.
Result<tensor::Tensor> without_zero_point(const Application& op, std::size_t input, std::size_t zero_point,
                                          std::size_t axis);

/// round(value) + zero point, saturated to the type; halves go to even. `value` is a float, `zero_point` an i32.
ir::Expr quantized(const ir::Expr& value, const ir::Expr& zero_point, ir::DType type);

}  // namespace hone::graph
