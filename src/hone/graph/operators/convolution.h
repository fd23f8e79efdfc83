/// What the convolutions of several families share: options from attributes, the choice of definition, the bias.
#pragma once

#include "hone/graph/operator.h"
#include "hone/tensor/definitions.h"

namespace hone::graph {

/// The attributes of a convolution of input 0 by the given input.
Result<tensor::ConvOptions> conv_options(const Application& op, std::size_t weight);

/// A depthwise convolution where it is one, otherwise a general one.
Result<tensor::Tensor> convolve(const tensor::Tensor& x, const tensor::Tensor& weight,
                                const tensor::ConvOptions& options);

/// y plus input `bias`, one number per channel, if it is there.
Result<tensor::Tensor> with_bias(const Application& op, const tensor::Tensor& y, std::size_t bias);

}  // namespace hone::graph
