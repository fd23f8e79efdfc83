#include "hone/graph/operators/families.h"
#include "hone/graph/operators/microsoft.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

Result<void> expect_last_axis(const Application& op, std::size_t input) {
  if (!op.has(input) || op.shape(input) == tensor::Shape{op.shape(0).back()}) return {};
  return op.fail("input {} has shape {}, allowed is [{}]", input, tensor::show_shape(op.shape(input)),
                 op.shape(0).back());
}

/// What a normalisation over the last axis gives: the result, mean and inverse deviation as f32.
struct NormalizedTensors {
  Tensor y, mean, inverse;
};

/// (x - mean) · inverse deviation · gamma + beta; `x` has an accumulator's type, the result has that of `gamma`. An RMS
/// norm leaves the mean out.
NormalizedTensors normalize_last(const Tensor& x, const Tensor& gamma, const Tensor* beta, double epsilon,
                                 bool is_rms) {
  const ir::DType type = x.type();
  const auto rank = static_cast<std::int64_t>(x.rank());
  const ReducePlan plan(x.shape(), {rank - 1}, /*keep=*/true);
  Moments moments = moments_of(x, plan);
  if (is_rms) {
    const Tensor squares = sum_over("squares", plan, [&](const Indices& i) { return x(i) * x(i); });
    moments.variance =
        tensor::map("mean_square", squares, [&](const Expr& e) { return e / ir::constant(type, plan.count()); });
  }
  const Tensor inverse =
      tensor::map("inverse", moments.variance, [&](const Expr& e) { return inverse_root(e, epsilon); });
  const Tensor y = tensor::compute("normalized", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr centered = is_rms ? x(i) : x(i) - moments.mean(plan.row(i));
    Expr value = centered * inverse(plan.row(i)) * ir::cast(type, gamma(i.back()));
    if (beta) value = value + ir::cast(type, (*beta)(i.back()));
    return ir::cast(gamma.type(), value);
  });
  return {y, converted(moments.mean, ir::kF32), converted(inverse, ir::kF32)};
}

/// input, skip, gamma, then beta? (layer norm only) and bias?: a norm of the sum of both.
Result<std::vector<Tensor>> define_skip_norm(const Application& op, bool is_rms) {
  const Tensor &x = op.tensor(0), &skip = op.tensor(1);
  if (x.rank() < 1) return op.fail("a scalar as input, allowed is 1 axis and more");
  const std::size_t beta = 3, bias = is_rms ? 3 : 4;
  for (std::size_t input = 2; input < 5; ++input) HONE_TRY(expect_last_axis(op, input));
  const auto shape = tensor::broadcast(op.op(), x.shape(), skip.shape());
  if (!shape || *shape != x.shape())
    return op.fail("a skip of shape {} does not broadcast to {}", tensor::show_shape(skip.shape()),
                   tensor::show_shape(x.shape()));
  const ir::DType type = accumulator_type(x.type());
  const Tensor sum = tensor::compute("skip_sum", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr both = ir::cast(type, x(i)) + ir::cast(type, tensor::broadcast_at(skip, i));
    return op.has(bias) ? both + ir::cast(type, op.tensor(bias)(i.back())) : both;
  });
  const NormalizedTensors made = normalize_last(sum, op.tensor(2), !is_rms && op.has(beta) ? &op.tensor(beta) : nullptr,
                                                op.real("epsilon", 1e-12), is_rms);
  return std::vector<Tensor>{made.y, made.mean, made.inverse, converted(sum, x.type())};
}

Result<std::vector<Tensor>> define_skip_layer_norm(const Application& op) { return define_skip_norm(op, false); }
Result<std::vector<Tensor>> define_skip_rms_norm(const Application& op) { return define_skip_norm(op, true); }

/// An index into a table, kept inside it; negative ones count from the end.
Expr row_in(const Tensor& table, const Expr& index) {
  const Expr i = ir::cast(ir::kI64, index), from_end = ir::select(i < 0, i + table.extent(0), i);
  return ir::min(ir::max(from_end, ir::imm(0)), ir::imm(table.extent(0) - 1));
}

/// input_ids, segment_ids?, word, position, segment?, gamma, beta, mask?, position_ids?: the norm of summed embeddings.
Result<std::vector<Tensor>> define_embed_layer_norm(const Application& op) {
  if (op.rank(0) != 2 || op.rank(2) != 2 || op.rank(3) != 2)
    return op.fail("ids of {} axes and tables of {} and {}, allowed are 2", op.rank(0), op.rank(2), op.rank(3));
  const Tensor &ids = op.tensor(0), &words = op.tensor(2), &positions = op.tensor(3);
  const std::int64_t width = words.extent(1);
  for (const std::size_t table : {3, 4})
    if (op.has(table) && (op.rank(table) != 2 || op.shape(table)[1] != width || op.shape(table)[0] < 1))
      return op.fail("a table of shape {}, allowed is {} in the last axis", tensor::show_shape(op.shape(table)), width);
  if (words.extent(0) < 1) return op.fail("a table without rows");
  if (op.has(1) && op.shape(1) != ids.shape()) return op.fail("segment_ids and input_ids have different shapes");
  for (const std::size_t input : {5, 6})
    if (op.shape(input) != tensor::Shape{width})
      return op.fail("input {} has shape {}, allowed is [{}]", input, tensor::show_shape(op.shape(input)), width);
  if (op.has(7) && op.shape(7) != ids.shape()) return op.fail("mask and input_ids have different shapes");
  if (op.has(8) && op.shape(8) != ids.shape() && op.shape(8) != tensor::Shape{1, ids.extent(1)})
    return op.fail("position_ids of shape {}, allowed is that of the input_ids", tensor::show_shape(op.shape(8)));
  const ir::DType type = accumulator_type(words.type());
  const Tensor sum = tensor::compute("embedding", {ids.extent(0), ids.extent(1), width}, [&](const Indices& i) {
    Expr place = i[1];
    if (op.has(8)) place = tensor::broadcast_at(op.tensor(8), {i[0], i[1]});
    Expr value = ir::cast(type, words(row_in(words, ids(i[0], i[1])), i[2])) +
                 ir::cast(type, positions(row_in(positions, place), i[2]));
    if (op.has(4)) {
      const Expr segment = op.has(1) ? op.tensor(1)(i[0], i[1]) : ir::constant(ir::kI32, std::int64_t{0});
      value = value + ir::cast(type, op.tensor(4)(row_in(op.tensor(4), segment), i[2]));
    }
    return value;
  });
  const NormalizedTensors made = normalize_last(sum, op.tensor(5), &op.tensor(6), op.real("epsilon", 1e-12), false);
  const Tensor lengths = tensor::compute("mask_index", {ids.extent(0)}, [&](const Indices& i) {
    return tensor::reduce_sum({ids.extent(1)}, [&](const Indices& r) {
      return op.has(7) ? ir::cast(ir::kI32, op.tensor(7)(i[0], r[0])) : ir::constant(ir::kI32, std::int64_t{0});
    });
  });
  return std::vector<Tensor>{made.y, lengths, converted(sum, words.type())};
}

}  // namespace

std::span<const Operator> microsoft_norm_operators() {
  static const Operator entries[] = {
      microsoft("SkipLayerNormalization",
                "input: T, skip: T, gamma: T, beta?: T, bias?: T -> output: T, mean?, inv_std_var?, "
                "input_skip_bias_sum?: T; epsilon; T: float",
                define_skip_layer_norm),
      microsoft("SkipSimplifiedLayerNormalization",
                "input: T, skip: T, gamma: T, bias?: T -> output: T, mean?, inv_std_var?, input_skip_bias_sum?: T; "
                "epsilon; T: float",
                define_skip_rms_norm),
      microsoft(
          "EmbedLayerNormalization",
          "input_ids: int32, segment_ids?: int32, word_embedding: T, position_embedding: T, segment_embedding?: T, "
          "gamma: T, beta: T, mask?: int32, position_ids?: int32 -> output: T, mask_index?: int32, embedding_sum?: "
          "T; epsilon, mask_index_type; T: float",
          define_embed_layer_norm),
  };
  return entries;
}

}  // namespace hone::graph
