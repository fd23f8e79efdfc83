/// The families of the operator table: each function gives the entries of one file.
#pragma once

#include <span>

#include "hone/graph/operator.h"

namespace hone::graph {

std::span<const Operator> elementwise_operators();
std::span<const Operator> activation_operators();
std::span<const Operator> compare_operators();
std::span<const Operator> cast_operators();
std::span<const Operator> quantize_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> rearrange_operators();
std::span<const Operator> generate_operators();
std::span<const Operator> index_operators();
std::span<const Operator> scatter_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> sample_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> matmul_operators();
std::span<const Operator> conv_operators();
std::span<const Operator> pool_operators();
std::span<const Operator> norm_operators();
std::span<const Operator> softmax_operators();
std::span<const Operator> deform_conv_operators();
std::span<const Operator> einsum_operators();
std::span<const Operator> rotary_operators();
std::span<const Operator> linear_attention_operators();
std::span<const Operator> flex_attention_operators();
std::span<const Operator> fused_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> attention_operators();
std::span<const Operator> loss_operators();
std::span<const Operator> training_operators();
std::span<const Operator> signal_operators();
std::span<const Operator> sort_operators();
std::span<const Operator> random_operators();
std::span<const Operator> sequence_operators();
std::span<const Operator> text_operators();
std::span<const Operator> control_operators();
std::span<const Operator> image_operators();
std::span<const Operator> tree_operators();
std::span<const Operator> ml_operators();
std::span<const Operator> microsoft_operators();
std::span<const Operator> microsoft_elementwise_operators();
std::span<const Operator> microsoft_norm_operators();
std::span<const Operator> microsoft_attention_operators();

using OperatorFamily = std::span<const Operator> (*)();

/// All of them.
std::span<const OperatorFamily> operator_families();

}  // namespace hone::graph
