#include "hone/graph/operators/convolution.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/product.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using ir::Intrinsic;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// The function that a fused operator ends with; parameters as the attribute `activation_params` lists them.
Result<Expr> activated(const Application& op, const Expr& x) {
  const std::string name = op.text("activation", "");
  const std::vector<float> params = op.attributes().reals("activation_params");
  const auto parameter = [&](std::size_t i, const char* attribute, double fallback) {
    return real_constant(x.type(), i < params.size() ? static_cast<double>(params[i]) : op.real(attribute, fallback));
  };
  const Expr zero = real_constant(x.type(), 0), one = real_constant(x.type(), 1);
  if (name.empty()) return x;
  if (name == "Relu") return ir::max(x, zero);
  if (name == "Tanh") return ir::call(Intrinsic::Tanh, {x});
  if (name == "Sigmoid") return ir::call(Intrinsic::Sigmoid, {x});
  if (name == "LeakyRelu") return ir::select(x >= zero, x, x * parameter(0, "activation_alpha", 0.01));
  if (name == "Clip")
    return ir::min(ir::max(x, parameter(0, "activation_alpha", 0)), parameter(1, "activation_beta", 1));
  if (name == "HardSigmoid")
    return ir::max(zero,
                   ir::min(one, x * parameter(0, "activation_alpha", 0.2) + parameter(1, "activation_beta", 0.5)));
  return op.unsupported("activation '{}', known are Relu, Tanh, Sigmoid, LeakyRelu, Clip and HardSigmoid", name);
}

/// Applies the activation, and goes back to the type of input 0.
Result<std::vector<Tensor>> activate(const Application& op, const Tensor& x) {
  HONE_TRY(activated(op, real_constant(x.type(), 0)));  // refuses what is not known
  return std::vector<Tensor>{
      tensor::map("activated", x, [&](const Expr& e) { return ir::cast(op.tensor(0).type(), *activated(op, e)); })};
}

/// X, W, B?, Z?: activation(conv + bias + Z).
Result<std::vector<Tensor>> define_fused_conv(const Application& op) {
  HONE_TRY(tensor::ConvOptions options, conv_options(op, 1));
  options.result = accumulator_type(op.tensor(0).type());
  HONE_TRY(const Tensor product, convolve(op.tensor(0), op.tensor(1), options));
  HONE_TRY(Tensor y, with_bias(op, product, 2));
  if (op.has(3)) {
    HONE_TRY(y, tensor::zip("sum", y, converted(op.tensor(3), y.type()),
                            [](const Expr& a, const Expr& b) { return a + b; }));
  }
  return activate(op, y);
}

/// The operand with its batch axes rotated: axis 0 goes before the last one.
Tensor with_batch_moved(const Tensor& x) {
  tensor::Shape shape(x.shape().begin() + 1, x.shape().end() - 1);
  shape.push_back(x.extent(0));
  shape.push_back(x.shape().back());
  return tensor::compute("moved", tensor::axes_of(shape), [&](const Indices& i) {
    Indices at = {i[i.size() - 2]};
    at.insert(at.end(), i.begin(), i.end() - 2);
    at.push_back(i.back());
    return x(at);
  });
}

/// alpha · op(A) · op(B).
Result<std::vector<Tensor>> define_fused_matmul(const Application& op) {
  Tensor a = op.tensor(0), b = op.tensor(1);
  if (op.integer("transBatchA", 0) != 0 && a.rank() >= 3) a = with_batch_moved(a);
  if (op.integer("transBatchB", 0) != 0 && b.rank() >= 3) b = with_batch_moved(b);
  const ir::DType type = accumulator_type(a.type());
  HONE_TRY(const Tensor product, product_of(op, a, b,
                                            {.transpose_a = op.integer("transA", 0) != 0,
                                             .transpose_b = op.integer("transB", 0) != 0,
                                             .result = type}));
  const double alpha = op.real("alpha", 1);
  if (alpha == 1) return activate(op, product);
  return activate(op, tensor::map("scaled", product, [&](const Expr& e) { return e * real_constant(type, alpha); }));
}

/// activation(alpha · op(A) · op(B) + beta · C).
Result<std::vector<Tensor>> define_fused_gemm(const Application& op) {
  const ir::DType type = accumulator_type(op.tensor(0).type());
  if (op.rank(0) != 2 || op.rank(1) != 2)
    return op.fail("operands of {} and {} axes, allowed are 2", op.rank(0), op.rank(1));
  HONE_TRY(const Tensor product, product_of(op, op.tensor(0), op.tensor(1),
                                            {.transpose_a = op.integer("transA", 0) != 0,
                                             .transpose_b = op.integer("transB", 0) != 0,
                                             .result = type}));
  const double alpha = op.real("alpha", 1), beta = op.real("beta", 1);
  if (op.has(2)) {
    const auto shape = tensor::broadcast(op.op(), product.shape(), op.shape(2));
    if (!shape || *shape != product.shape())
      return op.fail("C of shape {} does not broadcast to {}", tensor::show_shape(op.shape(2)),
                     tensor::show_shape(product.shape()));
  }
  return activate(op, tensor::compute("gemm", tensor::axes_of(product.shape()), [&](const Indices& i) {
                    Expr value = product(i) * real_constant(type, alpha);
                    if (op.has(2))
                      value = value + ir::cast(type, tensor::broadcast_at(op.tensor(2), i)) * real_constant(type, beta);
                    return value;
                  }));
}

}  // namespace

std::span<const Operator> fused_operators() {
  static const Operator entries[] = {
      {.name = "FusedConv",
       .domain = "com.microsoft",
       .schema = "X: T, W: T, B?: T, Z?: T -> Y: T; activation, activation_params, auto_pad, dilations, group, "
                 "kernel_shape, pads, strides; T: float",
       .define = define_fused_conv},
      {.name = "FusedMatMul",
       .domain = "com.microsoft",
       .schema = "A: T, B: T -> Y: T; alpha, transA, transB, transBatchA, transBatchB; T: float",
       .define = define_fused_matmul},
      {.name = "FusedMatMulActivation",
       .domain = "com.microsoft",
       .schema =
           "A: T, B: T -> Y: T; activation, activation_alpha, activation_beta, alpha, transA, transB, transBatchA, "
           "transBatchB; T: float",
       .define = define_fused_matmul},
      {.name = "FusedGemm",
       .domain = "com.microsoft",
       .schema =
           "A: T, B: T, C?: T -> Y: T; activation, activation_alpha, activation_beta, activation_gamma, alpha, beta, "
           "transA, transB; T: float",
       .define = define_fused_gemm},
  };
  return entries;
}

}  // namespace hone::graph
