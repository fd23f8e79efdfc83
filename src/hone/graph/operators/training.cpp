#include "hone/graph/operators/families.h"
#include "hone/graph/operators/pointwise.h"
#include "hone/runtime/kernels/elementwise.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

/// The values of one element, which one step of an optimizer reads: the learning rate, the number of steps so far (0
/// or more, as a number), the parameter, its gradient and its states.
struct Step {
  Expr rate, count, x, gradient;
  std::vector<Expr> states;
};

/// Reads inputs "R, T, then all parameters, all gradients, all states of the first kind, …", and makes outputs "all
/// parameters, all states of the first kind, …" of what `update` gives for one element.
Result<Tensors> define_steps(const Application& op, std::size_t state_kinds,
                             FunctionRef<std::vector<Expr>(const Step&)> update) {
  const std::size_t kinds = 2 + state_kinds;
  if (op.input_count() < 2 + kinds || (op.input_count() - 2) % kinds != 0)
    return op.fail("{} inputs, allowed are 2 and {} for each parameter", op.input_count(), kinds);
  HONE_TRY(expect_one_element(op, 0));
  HONE_TRY(expect_one_element(op, 1));
  const std::size_t count = (op.input_count() - 2) / kinds;
  std::vector<Tensors> results(1 + state_kinds);
  for (std::size_t n = 0; n < count; ++n) {
    const Tensor& x = op.tensor(2 + n);
    for (std::size_t kind = 1; kind < kinds; ++kind)
      if (op.shape(2 + kind * count + n) != x.shape() || op.type(2 + kind * count + n) != op.type(2 + n))
        return op.fail("input {} differs from parameter {} in shape or type", 2 + kind * count + n, n);
    const auto values = [&](const Indices& i) -> tensor::Body {
      const auto at = [&](std::size_t kind) { return op.tensor(2 + kind * count + n)(i); };
      Step step{.rate = ir::cast(x.type(), only_element(op.tensor(0))),
                .count = ir::cast(x.type(), only_element(op.tensor(1))),
                .x = at(0),
                .gradient = at(1),
                .states = {}};
      for (std::size_t kind = 2; kind < kinds; ++kind) step.states.push_back(at(kind));
      return update(step);
    };
    const std::vector<std::string> names(1 + state_kinds, op.op());
    const Tensors made = tensor::compute_all(names, tensor::axes_of(x.shape()), values);
    for (std::size_t kind = 0; kind < made.size(); ++kind) results[kind].push_back(made[kind]);
  }
  Tensors all;
  for (const Tensors& kind : results) all.insert(all.end(), kind.begin(), kind.end());
  return all;
}

Expr regularized(const Application& op, const Step& step) {
  const double coefficient = op.real("norm_coefficient", 0);
  return coefficient == 0 ? step.gradient : number(step.x, coefficient) * step.x + step.gradient;
}

Expr sqrt(const Expr& x) { return ir::call(ir::Intrinsic::Sqrt, {x}); }

Result<Tensors> define_adagrad(const Application& op) {
  const double decay = op.real("decay_factor", 0), epsilon = op.real("epsilon", 1e-6f);
  return define_steps(op, 1, [&](const Step& step) {
    const Expr rate = step.rate / (number(step.x, 1) + step.count * number(step.x, decay));
    const Expr gradient = regularized(op, step);
    const Expr squares = step.states[0] + gradient * gradient;
    return std::vector<Expr>{step.x - rate * gradient / (sqrt(squares) + number(step.x, epsilon)), squares};
  });
}

Result<Tensors> define_adam(const Application& op) {
  const double alpha = op.real("alpha", 0.9f), beta = op.real("beta", 0.999f), epsilon = op.real("epsilon", 1e-6f);
  const double shrinking = op.real("norm_coefficient_post", 0);
  return define_steps(op, 2, [&](const Step& step) {
    const Expr one = number(step.x, 1);
    const auto power = [&](double base) { return ir::call(ir::Intrinsic::Pow, {number(step.x, base), step.count}); };
    const Expr gradient = regularized(op, step);
    const Expr momentum = number(step.x, alpha) * step.states[0] + number(step.x, 1 - alpha) * gradient;
    const Expr squares = number(step.x, beta) * step.states[1] + number(step.x, 1 - beta) * (gradient * gradient);
    const Expr corrected = step.rate * sqrt(one - power(beta)) / (one - power(alpha));
    const Expr rate = ir::select(step.count > zero(step.count), corrected, step.rate);
    const Expr x = step.x - rate * (momentum / (sqrt(squares) + number(step.x, epsilon)));
    return std::vector<Expr>{shrinking == 0 ? x : number(step.x, 1 - shrinking) * x, momentum, squares};
  });
}

Result<Tensors> define_momentum(const Application& op) {
  const double alpha = op.real("alpha", 0), beta = op.real("beta", 0);
  const std::string mode = op.text("mode", "");
  if (mode != "standard" && mode != "nesterov")
    return op.fail("attribute 'mode' is '{}', allowed are standard and nesterov", mode);
  return define_steps(op, 1, [&](const Step& step) {
    const Expr gradient = regularized(op, step);
    const Expr share = ir::select(step.count > zero(step.count), number(step.x, beta), number(step.x, 1));
    const Expr momentum = number(step.x, alpha) * step.states[0] + share * gradient;
    const Expr direction = mode == "standard" ? momentum : gradient + number(step.x, alpha) * momentum;
    return std::vector<Expr>{step.x - step.rate * direction, momentum};
  });
}

/// In training, elements are dropped by a host kernel; otherwise the output is the input, and the mask all true.
Result<bool> drops(const Application& op) {
  if (!op.has(2)) return false;
  HONE_TRY(const std::vector<std::int64_t> training, op.ints(2));
  return training.size() == 1 && training[0] != 0;
}

Result<Tensors> define_dropout(const Application& op) {
  HONE_TRY(Tensors result, map_first(op, [](const Expr& x) { return x; }));
  result.push_back(
      tensor::compute("mask", tensor::axes_of(op.shape(0)), [](const Indices&) { return ir::boolean(true); }));
  return result;
}

std::vector<ElementType> dropout_types(const Application& op) { return {op.type(0), ElementType::Bool}; }

constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";

}  // namespace

std::span<const Operator> training_operators() {
  static const Operator operators[] = {
      {.name = "Dropout",
       .schema = "data: T, ratio?, training_mode?: bool -> output: T, mask?: bool; seed, ratio; "
                 "T: float|float8e4m3fn|float8e4m3fnuz|float8e5m2|float8e5m2fnuz",
       .define = define_dropout,
       .host = runtime::dropout_kernel,
       .output_types = dropout_types,
       .wants_host = drops,
       .is_random = true},
      {.name = "Adagrad",
       .domain = kTrainingDomain,
       .schema = "R: float, T: int64, inputs...: float -> outputs...; decay_factor, epsilon, norm_coefficient",
       .define = define_adagrad},
      {.name = "Adam",
       .domain = kTrainingDomain,
       .schema = "R: float, T: int64, inputs...: float -> outputs...; alpha, beta, epsilon, norm_coefficient, "
                 "norm_coefficient_post",
       .define = define_adam},
      {.name = "Momentum",
       .domain = kTrainingDomain,
       .schema = "R: float, T: int64, inputs...: float -> outputs...; alpha, beta, mode, norm_coefficient",
       .define = define_momentum},
  };
  return operators;
}

}  // namespace hone::graph
