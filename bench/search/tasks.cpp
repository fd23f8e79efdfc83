#include "tasks.h"

#include <cstring>
#include <fmt/format.h>

#include "hone/schedule/primitives.h"
#include "hone/session.h"
#include "hone/space/layout.h"
#include "hone/tasks.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::bench {
namespace {

using tensor::Indices;
using tensor::placeholder;
using tensor::Tensor;

NamedTask direct_task(std::string name, ir::Function naive, std::vector<std::size_t> constants, double flops) {
  return {std::move(name), std::make_shared<const space::Task>(
                               space::Task{{{"direct", std::move(naive)}}, std::move(constants), flops})};
}

double product_flops(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

ir::Expr gelu(const ir::Expr& x) {
  const auto number = [](double value) { return ir::constant(ir::kF32, value); };
  const ir::Expr inner = number(0.7978845608) * (x + number(0.044715) * x * x * x);
  return number(0.5) * x * (number(1) + ir::call(ir::Intrinsic::Tanh, {inner}));
}

}  // namespace

Result<NamedTask> product_task(std::int64_t m, std::int64_t n, std::int64_t k, Weights weights) {
  const Tensor a = placeholder("a", {m, k}), b = placeholder("b", {k, n});
  HONE_TRY(const Tensor c, tensor::matmul(a, b));
  const bool is_constant = weights == Weights::Constant;
  return direct_task(fmt::format("matmul {}x{}x{}{}", m, n, k, is_constant ? " weights" : ""),
                     tensor::lower("product", {a, b}, {c}),
                     is_constant ? std::vector<std::size_t>{1} : std::vector<std::size_t>{}, product_flops(m, n, k));
}

Result<NamedTask> dense_gelu_task(std::int64_t m, std::int64_t n, std::int64_t k) {
  const Tensor a = placeholder("a", {m, k}), b = placeholder("b", {k, n}), bias = placeholder("bias", {n});
  HONE_TRY(const Tensor c, tensor::matmul(a, b));
  const Tensor out =
      tensor::compute("out", tensor::axes_of(c.shape()), [&](const Indices& i) { return gelu(c(i) + bias(i[1])); });
  return direct_task(fmt::format("dense+gelu {}x{}x{}", m, n, k), tensor::lower("dense", {a, b, bias}, {out}), {1, 2},
                     product_flops(m, n, k));
}

Result<NamedTask> batched_task(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  const Tensor a = placeholder("a", {batch, m, k}), b = placeholder("b", {batch, k, n});
  HONE_TRY(const Tensor c, tensor::matmul(a, b));
  return direct_task(fmt::format("batched matmul {}x{}x{}x{}", batch, m, n, k), tensor::lower("batched", {a, b}, {c}),
                     {}, static_cast<double>(batch) * product_flops(m, n, k));
}

Result<NamedTask> softmax_task(std::int64_t rows, std::int64_t columns) {
  const Tensor x = placeholder("x", {rows, columns});
  HONE_TRY(const Tensor y, tensor::softmax(x, 1));
  return direct_task(fmt::format("softmax {}x{}", rows, columns), tensor::lower("softmax", {x}, {y}), {},
                     5.0 * static_cast<double>(rows * columns));
}

Result<NamedTask> layer_norm_task(std::int64_t rows, std::int64_t columns) {
  const Tensor x = placeholder("x", {rows, columns}), scale = placeholder("scale", {columns}),
               bias = placeholder("bias", {columns});
  HONE_TRY(const Tensor y, tensor::layer_norm(x, scale, bias, 1));
  return direct_task(fmt::format("layer norm {}x{}", rows, columns), tensor::lower("layer_norm", {x, scale, bias}, {y}),
                     {1, 2}, 8.0 * static_cast<double>(rows * columns));
}

Result<NamedTask> conv_task(const Convolution& conv, const codegen::Target& target) {
  const bool is_depthwise = conv.groups > 1;
  const Tensor x = placeholder("x", {1, conv.in, conv.size, conv.size});
  const Tensor w = placeholder("w", {conv.out, conv.in / conv.groups, conv.kernel, conv.kernel});
  const Tensor b = placeholder("b", {conv.out});
  const std::int64_t pad = conv.kernel / 2;
  const tensor::ConvOptions options{.strides = {conv.stride, conv.stride},
                                    .padding_before = {pad, pad},
                                    .padding_after = {pad, pad},
                                    .groups = conv.groups};
  HONE_TRY(const Tensor y, is_depthwise ? tensor::depthwise_conv(x, w, options) : tensor::conv(x, w, options));
  const Tensor residual = placeholder("residual", y.shape());
  const Tensor out = tensor::compute("out", tensor::axes_of(y.shape()), [&](const Indices& i) {
    const ir::Expr sum = conv.has_residual ? y(i) + b(i[1]) + residual(i) : y(i) + b(i[1]);
    return ir::max(sum, ir::constant(ir::kF32, 0.0));
  });
  std::vector<Tensor> inputs = {x, w, b};
  std::vector<std::pair<std::size_t, std::int64_t>> images = {{0, conv.in}};
  if (conv.has_residual) {
    inputs.push_back(residual);
    images.emplace_back(3, conv.out);
  }
  images.emplace_back(inputs.size(), conv.out);
  ir::Function naive = tensor::lower("conv", inputs, {out});
  for (const auto& [param, channels] : images)
    for (std::int64_t block = target.lanes(32); block >= 4; block /= 2)
      if (channels % block == 0) {
        HONE_TRY(naive, schedule::set_param_layout(naive, param, space::blocked_map(4, block)));
        break;
      }
  const std::int64_t side = (conv.size + conv.stride - 1) / conv.stride;
  const std::int64_t sums = conv.in / conv.groups * conv.kernel * conv.kernel;
  return direct_task(fmt::format("{}{}x{}{} {}-{}@{}{}", is_depthwise ? "depthwise " : "conv ", conv.kernel,
                                 conv.kernel, conv.stride > 1 ? fmt::format("s{}", conv.stride) : "", conv.in, conv.out,
                                 conv.size, conv.has_residual ? " + residual" : ""),
                     std::move(naive), {1, 2}, product_flops(side * side, conv.out, sums));
}

Result<std::vector<NamedTask>> model_tasks(const std::filesystem::path& file, const codegen::Target& target,
                                           const std::string& part) {
  if (!std::filesystem::exists(file))
    return error(ErrorCode::NotFound,
                 "there is no model '{}': `./dev bench compare` makes it, or --models names a folder", file.string());
  HONE_TRY(const Session session, Session::load(file, {.threads = target.threads, .records = "", .keeps_tasks = true}));
  std::vector<Value> inputs;
  for (const Port& port : session.inputs()) {
    if (port.is_optional) {
      inputs.emplace_back();
      continue;
    }
    Shape shape = port.shape;
    for (std::int64_t& extent : shape) extent = std::max<std::int64_t>(extent, 1);
    HONE_TRY(runtime::Tensor tensor, runtime::Tensor::allocate(port.type, shape));
    std::memset(tensor.data(), 0, tensor.bytes());
    inputs.emplace_back(std::move(tensor));
  }
  HONE_TRY(const std::vector<TaskUse> uses, session.tasks(inputs));
  std::vector<NamedTask> tasks;
  for (const TaskUse& use : uses)
    if (use.name.find(part) != std::string::npos)
      tasks.push_back({fmt::format("{} {}: {}", file.stem().string(), tasks.size(), use.name), use.task});
  return tasks;
}

}  // namespace hone::bench
