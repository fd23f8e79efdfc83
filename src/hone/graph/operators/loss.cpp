#include "hone/graph/operators/families.h"
#include "hone/graph/operators/pointwise.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

/// The class axis of `scores` put into the indices of a target.
Indices with_class(const Indices& target, const Expr& chosen) {
  Indices all = target;
  all.insert(all.begin() + 1, chosen);
  return all;
}

Result<void> check_shapes(const Application& op) {
  if (op.rank(0) < 2) return op.fail("input 0 has rank {}, at least 2 needed", op.rank(0));
  tensor::Shape expected = op.shape(0);
  expected.erase(expected.begin() + 1);
  if (op.shape(1) != expected)
    return op.fail("input 1 has shape {}, allowed is {}", tensor::show_shape(op.shape(1)),
                   tensor::show_shape(expected));
  if (op.has(2) && op.shape(2) != tensor::Shape{op.shape(0)[1]})
    return op.fail("the weights have shape {}, allowed is [{}]", tensor::show_shape(op.shape(2)), op.shape(0)[1]);
  const std::string reduction = op.text("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return op.fail("attribute 'reduction' is '{}', allowed are none, sum and mean", reduction);
  return {};
}

/// The sum of all elements as a scalar.
Tensor total(const std::string& name, const Tensor& x) {
  return tensor::compute(name, {}, [&](const Indices&) -> tensor::Body {
    return tensor::reduce_sum(tensor::axes_of(x.shape()), [&](const Indices& r) { return x(r); });
  });
}

/// The loss from log-probabilities, which are f32 or f64: minus the weighted one of each target, reduced. Targets that
/// name no class are clamped; those equal to `ignore_index` weigh nothing.
Tensor loss_of(const Application& op, const Tensor& log_probability) {
  const Tensor& target = op.tensor(1);
  const ir::DType inner = log_probability.type();
  const std::int64_t classes = log_probability.extent(1);
  const auto weight_at = [&](const Indices& i, const Expr& chosen) {
    Expr weight = op.has(2) ? ir::cast(inner, op.tensor(2)(Indices{chosen})) : ir::constant(inner, 1.0);
    if (!op.attributes().has("ignore_index")) return weight;
    const Expr is_ignored = ir::eq(target(i), op.integer("ignore_index", 0));
    return ir::select(is_ignored, ir::constant(inner, 0.0), weight);
  };
  const auto class_at = [&](const Indices& i) {
    const Expr named = ir::cast(ir::kI64, target(i));
    return ir::max(ir::min(named, ir::imm(classes - 1)), ir::imm(0));
  };
  const auto loss_at = [&](const Indices& i) {
    const Expr chosen = class_at(i), weight = weight_at(i, chosen);
    const Expr loss = -log_probability(with_class(i, chosen)) * weight;
    if (!op.attributes().has("ignore_index")) return loss;
    // an ignored target counts nothing even if the probability is 0
    const Expr is_ignored = ir::eq(target(i), op.integer("ignore_index", 0));
    return ir::select(is_ignored, ir::constant(inner, 0.0), loss);
  };
  const ir::DType type = op.tensor(0).type();
  const std::string reduction = op.text("reduction", "mean");
  if (reduction == "none")
    return tensor::compute("loss", tensor::axes_of(target.shape()),
                           [&](const Indices& i) { return ir::cast(type, loss_at(i)); });
  const Tensor losses = tensor::compute("losses", tensor::axes_of(target.shape()), loss_at);
  const Tensor sum = total("loss_sum", losses);
  if (reduction == "sum") return tensor::compute("loss", {}, [&](const Indices& i) { return ir::cast(type, sum(i)); });
  const Tensor weights = tensor::compute("loss_weights", tensor::axes_of(target.shape()),
                                         [&](const Indices& i) { return weight_at(i, class_at(i)); });
  const Tensor weight_sum = total("weight_sum", weights);
  return tensor::compute("loss", {}, [&](const Indices& i) { return ir::cast(type, sum(i) / weight_sum(i)); });
}

/// The input in the type that losses are computed in.
Tensor widened_input(const Tensor& x) {
  if (widened(x.type()) == x.type()) return x;
  return tensor::map("widened", x, [&](const Expr& e) { return ir::cast(widened(x.type()), e); });
}

Result<Tensors> define_negative_log_likelihood(const Application& op) {
  HONE_TRY(check_shapes(op));
  return Tensors{loss_of(op, widened_input(op.tensor(0)))};
}

/// x - max - log(sum(exp(x - max))) along the class axis.
Tensor log_softmax(const Tensor& x) {
  tensor::Shape others = x.shape();
  const std::int64_t classes = x.extent(1);
  others.erase(others.begin() + 1);
  const auto without_class = [](Indices i) {
    i.erase(i.begin() + 1);
    return i;
  };
  const Tensor highest = tensor::compute("highest", tensor::axes_of(others), [&](const Indices& i) -> tensor::Body {
    return tensor::reduce_max({classes}, [&](const Indices& r) { return x(with_class(i, r[0])); });
  });
  const Tensor sums = tensor::compute("exp_sum", tensor::axes_of(others), [&](const Indices& i) -> tensor::Body {
    return tensor::reduce_sum({classes}, [&](const Indices& r) {
      return ir::call(ir::Intrinsic::Exp, {x(with_class(i, r[0])) - highest(i)});
    });
  });
  return tensor::compute("log_prob", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Indices other = without_class(i);
    return x(i) - highest(other) - ir::call(ir::Intrinsic::Log, {sums(other)});
  });
}

Result<Tensors> define_softmax_cross_entropy(const Application& op) {
  HONE_TRY(check_shapes(op));
  const ir::DType type = op.tensor(0).type();
  const Tensor log_probability = log_softmax(widened_input(op.tensor(0)));
  const Tensor rounded = log_probability.type() == type ? log_probability
                                                        : tensor::map("log_prob_rounded", log_probability,
                                                                      [&](const Expr& e) { return ir::cast(type, e); });
  return Tensors{loss_of(op, log_probability), rounded};
}

}  // namespace

std::span<const Operator> loss_operators() {
  static const Operator operators[] = {
      {.name = "NegativeLogLikelihoodLoss",
       .schema = "input: T, target: I, weight?: T -> loss: T; ignore_index, reduction; T: float, I: index",
       .define = define_negative_log_likelihood},
      {.name = "SoftmaxCrossEntropyLoss",
       .schema = "scores: T, labels: I, weights?: T -> output: T, log_prob?: T; ignore_index, reduction; "
                 "T: float, I: index",
       .define = define_softmax_cross_entropy},
  };
  return operators;
}

}  // namespace hone::graph
