/// Matrix products as several families write them.
#pragma once

#include "hone/graph/operator.h"
#include "hone/tensor/definitions.h"

namespace hone::graph {

/// a by b as numpy multiplies: vectors are rows on the left and columns on the right, and their axis is dropped again.
Result<tensor::Tensor> product_of(const Application& op, const tensor::Tensor& a, const tensor::Tensor& b,
                                  tensor::MatmulOptions options = {});

/// Which operand of a product.
enum class Side { Left, Right };

/// A quantised operand as i32 less its zero point: one number, one per row of the left operand or column of the right
/// one as a vector, or a tensor that broadcasts.
Result<tensor::Tensor> centered_operand(const Application& op, std::size_t input, std::size_t zero_point, Side side);

}  // namespace hone::graph
