/// Definitions of common operators as tensor expressions; each takes tensors and gives the tensor it defines.
///
/// Shapes or types that do not fit are errors that name the operator, what was found and what is allowed. Axes may be
/// counted from the end: -1 is the last. Operators of several stages are named after their last one.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/support/result.h"
#include "hone/tensor/tensor.h"

namespace hone::tensor {

// Elementwise (elementwise.cpp).

/// `f` of each element.
Tensor map(std::string name, const Tensor& x, FunctionRef<ir::Expr(const ir::Expr&)> f);
/// `f` of the elements of two tensors of one type. Shapes broadcast as in numpy: aligned at the last axis, and extent 1
/// or a missing axis stands for any extent.
Result<Tensor> zip(std::string name, const Tensor& a, const Tensor& b,
                   FunctionRef<ir::Expr(const ir::Expr&, const ir::Expr&)> f);
/// a + b, broadcasting.
Result<Tensor> add(const Tensor& a, const Tensor& b);
/// max(x, 0).
Tensor relu(const Tensor& x);
/// tanh(2x + 1) · x in four stages, each of which could be fused with the next: a chain for tests. Floats only.
Result<Tensor> elementwise_chain(const Tensor& x);
/// result[i...] where axis n of the result is axis permutation[n] of x.
Result<Tensor> transpose(const Tensor& x, const std::vector<int>& permutation);

// Matrix products (matmul.cpp).

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
  ir::DType result = ir::kVoid;  ///< the type to multiply, add and store in; void: that of the operands
};

/// [..., m, k] by [..., k, n] gives [..., m, n]; leading axes are batches and broadcast. Transposed operands have their
/// last two axes exchanged.
Result<Tensor> matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

// Convolutions over any number of spatial axes (conv.cpp, conv_transpose.cpp).

/// One entry per spatial axis; an empty list stands for 1 everywhere (strides, dilations) or 0 everywhere (the others).
struct ConvOptions {
  std::vector<std::int64_t> strides, padding_before, padding_after, dilations;
  std::int64_t groups = 1;
  std::vector<std::int64_t> output_padding;  ///< transposed convolutions only: rows added at the end of the output
  ir::DType result = ir::kVoid;              ///< as in MatmulOptions
};

/// x[batch, channel, ...] by weight[out channel, channel / groups, kernel...]. Padding is a stage of its own, "pad", if
/// there is any.
Result<Tensor> conv(const Tensor& x, const Tensor& weight, const ConvOptions& options = {});
/// x[batch, channel, ...] by weight[channel · multiplier, 1, kernel...]: each channel by itself; `groups` is ignored.
Result<Tensor> depthwise_conv(const Tensor& x, const Tensor& weight, const ConvOptions& options = {});
/// The gradient of conv by its input: x[batch, channel, ...] by weight[channel, out channel / groups, kernel...]. The
/// input with its strides' zeros and the padding is a stage of its own, "spread".
Result<Tensor> conv_transpose(const Tensor& x, const Tensor& weight, const ConvOptions& options = {});
/// relu(conv(x, weight) + bias + residual), with bias[out channel] and residual of the result's shape; four stages
/// after the padding.
Result<Tensor> conv_bias_residual_relu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                       const Tensor& residual, const ConvOptions& options = {});

/// The block of the matrix products in what winograd_conv defines: [point y, point x, batch, tile y, tile x, out
/// channel] summed over the channels.
inline constexpr const char* kWinogradProducts = "winograd_products";

/// conv of x[batch, channel, y, x] by weight[out channel, channel, 3, 3] by Winograd's algorithm F(m, 3) for tiles of m
/// by m results, m being 2, 4 or 6: seven stages after the padding (winograd.cpp). Strides, dilations and groups are 1,
/// elements floats. Larger tiles multiply less and round more: errors of about 1e-6 of the output's scale for m = 4 and
/// 1e-5 for m = 6, in f32.
Result<Tensor> winograd_conv(const Tensor& x, const Tensor& weight, const ConvOptions& options, std::int64_t m);

// Pooling (pool.cpp).

/// Whether positions in the padding count as zeros of an average, or not at all.
enum class PadCount { Included, Excluded };

/// One entry per spatial axis; lists may be empty as in ConvOptions, but for the kernel.
struct PoolOptions {
  std::vector<std::int64_t> kernel, strides, padding_before, padding_after, dilations;
  PadCount pad_count = PadCount::Excluded;
  /// Rows at the end of `padding_after` that an average leaves out although padding is included.
  std::vector<std::int64_t> uncounted_after = {};
};

/// The largest element of each window of x[batch, channel, ...]; padding is lower than any element.
Result<Tensor> max_pool(const Tensor& x, const PoolOptions& options);
/// The mean of each window, 0 for a window that lies in the padding alone. Floats only.
Result<Tensor> average_pool(const Tensor& x, const PoolOptions& options);

// Reductions over axes (reductions.cpp, normalize.cpp).

enum class ReduceKind { Sum, Mean, Max, Min, Prod };
enum class KeepAxes { No, Yes };

/// Reduces the given axes, in any order, none twice; kept axes have extent 1.
Result<Tensor> reduce_axes(const Tensor& x, ReduceKind kind, const std::vector<int>& axes,
                           KeepAxes keep = KeepAxes::No);
/// Two tensors: the largest (smallest) values along one axis, and their places as reduce_argmax counts them.
Result<std::vector<Tensor>> argmax(const Tensor& x, int axis, KeepAxes keep = KeepAxes::No);
Result<std::vector<Tensor>> argmin(const Tensor& x, int axis, KeepAxes keep = KeepAxes::No);
/// exp(x - max) / sum(exp(x - max)) along one axis, in four stages. Floats only.
Result<Tensor> softmax(const Tensor& x, int axis);
/// (x - mean) / sqrt(variance + epsilon) · scale + bias over all axes from `first_axis` on, which is the shape of scale
/// and bias. Floats only.
Result<Tensor> layer_norm(const Tensor& x, const Tensor& scale, const Tensor& bias, int first_axis,
                          double epsilon = 1e-5);

// Moving elements (index_ops.cpp).

/// x with one axis indexed by a tensor of i32 or i64, whose axes take the place of that axis. Negative indices count
/// from the end; others outside the axis are the caller's mistake.
Result<Tensor> gather(const Tensor& x, const Tensor& indices, int axis);

/// What stands in the padding: one value, the nearest element, or the mirror image without the edge itself.
enum class PadMode { Constant, Edge, Reflect };

/// x with elements added before and after each axis.
Result<Tensor> pad(const Tensor& x, const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
                   PadMode mode = PadMode::Constant, double value = 0);
/// The tensors one after the other along an axis; all other extents and the types are equal.
Result<Tensor> concat(const std::vector<Tensor>& parts, int axis);

}  // namespace hone::tensor
