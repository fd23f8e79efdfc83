#include "hone/graph/operators/families.h"

namespace hone::graph {

std::span<const OperatorFamily> operator_families() {
  // clang-format off: one a line
  static const OperatorFamily families[] = {
      elementwise_operators,
      activation_operators,
      compare_operators,
      cast_operators,
      quantize_operators,
      shape_operators,
      rearrange_operators,
      generate_operators,
      index_operators,
      scatter_operators,
      resize_operators,
      sample_operators,
      reduction_operators,
      matmul_operators,
      conv_operators,
      pool_operators,
      norm_operators,
      softmax_operators,
      deform_conv_operators,
      einsum_operators,
      rotary_operators,
      linear_attention_operators,
      flex_attention_operators,
      fused_operators,
      recurrent_operators,
      attention_operators,
      loss_operators,
      training_operators,
      signal_operators,
      sort_operators,
      random_operators,
      sequence_operators,
      text_operators,
      control_operators,
      image_operators,
      tree_operators,
      ml_operators,
      microsoft_operators,
      microsoft_elementwise_operators,
      microsoft_norm_operators,
      microsoft_attention_operators,
  };
  // clang-format on
  return families;
}

}  // namespace hone::graph
