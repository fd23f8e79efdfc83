#include "hone/runtime/kernels/recurrent_ops.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "hone/runtime/kernels/recurrent_math.h"

namespace hone::runtime::recurrent {
namespace {

using Kind = Activation::Kind;

template <typename T>
using MultiplyColumns = void (*)(const T* inputs, std::int64_t input_stride, const T* weights,
                                 std::int64_t weight_stride, std::int64_t depth, T* sums, std::int64_t sum_stride,
                                 std::int64_t rows, std::int64_t begin, std::int64_t end);
using ActivateFloats = void (*)(Kind kind, float* data, std::int64_t count);

template <int Lanes>
HONE_INLINE void activate_lanes(Kind kind, float* data, std::int64_t count) {
  typename Vector<float, Lanes>::Type v{};
  for (std::int64_t i = 0; i < count; i += Lanes) {
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(std::min<std::int64_t>(Lanes, count - i));
    std::memcpy(&v, data + i, bytes);
    if (kind == Kind::Sigmoid)
      sigmoid<Lanes>(v);
    else
      hyperbolic_tangent<Lanes>(v);
    std::memcpy(data + i, &v, bytes);
  }
}

/// The operations for one kind of machine.
struct Functions {
  MultiplyColumns<float> multiply_floats;
  MultiplyColumns<double> multiply_doubles;
  ActivateFloats activate_floats;
};

#define HONE_RECURRENT_FUNCTIONS(name, attributes, bytes)                                                             \
  template <typename T>                                                                                               \
  attributes void multiply_##name(const T* inputs, std::int64_t input_stride, const T* weights,                       \
                                  std::int64_t weight_stride, std::int64_t depth, T* sums, std::int64_t sum_stride,   \
                                  std::int64_t rows, std::int64_t begin, std::int64_t end) {                          \
    multiply_columns<T, (bytes) / sizeof(T)>(inputs, input_stride, weights, weight_stride, depth, sums, sum_stride,   \
                                             rows, begin, end);                                                       \
  }                                                                                                                   \
  attributes void activate_##name(Kind kind, float* data, std::int64_t count) {                                       \
    activate_lanes<(bytes) / sizeof(float)>(kind, data, count);                                                       \
  }                                                                                                                   \
  constexpr Functions k_##name{multiply_##name<float>, multiply_##name<double>, activate_##name};

HONE_RECURRENT_FUNCTIONS(baseline, , 16)
#if defined(__x86_64__)
HONE_RECURRENT_FUNCTIONS(avx2, __attribute__((target("avx2,fma"))), 32)
HONE_RECURRENT_FUNCTIONS(avx512, __attribute__((target("avx512f,fma"))), 64)
#endif

const Functions& functions() {
#if defined(__x86_64__)
  static const Functions& chosen = __builtin_cpu_supports("avx512f")                                 ? k_avx512
                                   : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? k_avx2
                                                                                                     : k_baseline;
  return chosen;
#else
  return k_baseline;
#endif
}

/// One number at a time, for the functions that models rarely use.
template <typename T>
T activated(const Activation& activation, T x) {
  const T alpha = activation.alpha, beta = activation.beta;
  switch (activation.kind) {
    case Kind::Relu:
      return std::max(x, T{0});
    case Kind::Tanh:
      return std::tanh(x);
    case Kind::Sigmoid:
      return T{1} / (T{1} + std::exp(-x));
    case Kind::Affine:
      return alpha * x + beta;
    case Kind::LeakyRelu:
      return x >= 0 ? x : alpha * x;
    case Kind::ThresholdedRelu:
      return x >= alpha ? x : T{0};
    case Kind::ScaledTanh:
      return alpha * std::tanh(beta * x);
    case Kind::HardSigmoid:
      return std::clamp(alpha * x + beta, T{0}, T{1});
    case Kind::Elu:
      return x >= 0 ? x : alpha * (std::exp(x) - T{1});
    case Kind::Softsign:
      return x / (T{1} + std::abs(x));
    case Kind::Softplus:
      return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}

struct Named {
  std::string_view name;
  Activation activation;
};

constexpr std::array kActivations = {
    Named{"relu", {Kind::Relu, 0, 0}},
    Named{"tanh", {Kind::Tanh, 0, 0}},
    Named{"sigmoid", {Kind::Sigmoid, 0, 0}},
    Named{"affine", {Kind::Affine, 1, 0}},
    Named{"leakyrelu", {Kind::LeakyRelu, 0.01F, 0}},
    Named{"thresholdedrelu", {Kind::ThresholdedRelu, 1, 0}},
    Named{"scaledtanh", {Kind::ScaledTanh, 1, 1}},
    Named{"hardsigmoid", {Kind::HardSigmoid, 0.2F, 0.5F}},
    Named{"elu", {Kind::Elu, 1, 0}},
    Named{"softsign", {Kind::Softsign, 0, 0}},
    Named{"softplus", {Kind::Softplus, 0, 0}},
};

}  // namespace

template <typename T>
void multiply_add(const Matrix<const T>& inputs, const Matrix<const T>& weights, const Matrix<T>& sums,
                  ThreadPool* pool) {
  constexpr std::int64_t kBlock = 128, kWorthSharing = 1 << 18;  // columns; multiplications
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    if constexpr (sizeof(T) == 4)
      functions().multiply_floats(inputs.data, inputs.stride, weights.data, weights.stride, inputs.columns, sums.data,
                                  sums.stride, sums.rows, begin, end);
    else
      functions().multiply_doubles(inputs.data, inputs.stride, weights.data, weights.stride, inputs.columns, sums.data,
                                   sums.stride, sums.rows, begin, end);
  };
  if (!pool || pool->threads() == 1 || inputs.columns * sums.rows * sums.columns < kWorthSharing)
    return run(0, sums.columns);
  pool->parallel_for((sums.columns + kBlock - 1) / kBlock, [&](std::int64_t begin, std::int64_t end) {
    run(begin * kBlock, std::min(end * kBlock, sums.columns));
  });
}

template void multiply_add(const Matrix<const float>&, const Matrix<const float>&, const Matrix<float>&, ThreadPool*);
template void multiply_add(const Matrix<const double>&, const Matrix<const double>&, const Matrix<double>&,
                           ThreadPool*);

Result<Activation> activation_named(const std::string& name) {
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Named& entry : kActivations)
    if (entry.name == lower) return entry.activation;
  return error(ErrorCode::Unsupported, "activation '{}' is not known", name);
}

bool takes_alpha(Kind kind) {
  return kind == Kind::Affine || kind == Kind::LeakyRelu || kind == Kind::ThresholdedRelu || kind == Kind::ScaledTanh ||
         kind == Kind::HardSigmoid || kind == Kind::Elu;
}

bool takes_beta(Kind kind) { return kind == Kind::Affine || kind == Kind::ScaledTanh || kind == Kind::HardSigmoid; }

template <typename T>
void activate(const Activation& activation, T* data, std::int64_t count) {
  if constexpr (sizeof(T) == 4)
    if (activation.kind == Kind::Sigmoid || activation.kind == Kind::Tanh)
      return functions().activate_floats(activation.kind, data, count);
  for (std::int64_t i = 0; i < count; ++i) data[i] = activated(activation, data[i]);
}

template void activate(const Activation&, float*, std::int64_t);
template void activate(const Activation&, double*, std::int64_t);

}  // namespace hone::runtime::recurrent
