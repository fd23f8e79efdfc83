/// Matrix products as several families write them.
#pragma once

#include "hone/graph/operator.h"
#include "hone/tensor/definitions.h"

namespace hone::graph {

/// a by b as numpy multiplies: vectors are rows on the left and columns on the right, and their axis is dropped again.
Result<tensor::Tensor> product_of(const Application& op, const tensor::Tensor& a, const tensor::Tensor& b,
                                  tensor::MatmulOptions options = {});

}  // namespace hone::graph
