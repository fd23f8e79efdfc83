/// The arithmetic of recurrent cells in vectors as wide as the machine's, written so that one source serves all widths.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace hone::runtime::recurrent {

/// `Lanes` numbers that are computed with at once. Functions on them must be inlined into a function whose target has
/// such registers.
template <typename T, int Lanes>
struct Vector {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef T Type __attribute__((vector_size(Lanes * sizeof(T))));
  typedef Bits BitsType __attribute__((vector_size(Lanes * sizeof(T))));
};

#define HONE_INLINE inline __attribute__((always_inline))

template <typename V, typename T>
HONE_INLINE void load(V& v, const T* from) {
  std::memcpy(&v, from, sizeof(V));
}
template <typename V, typename T>
HONE_INLINE void store(const V& v, T* to) {
  std::memcpy(to, &v, sizeof(V));
}

/// sums[row][column] += inputs[row][k] · weights[k][column] for one block of rows and of columns; `weight_stride` and
/// `sum_stride` are those of rows.
template <typename T, int Lanes, int Rows, int Vectors>
HONE_INLINE void multiply_block(const T* inputs, std::int64_t input_stride, const T* weights,
                                std::int64_t weight_stride, std::int64_t depth, T* sums, std::int64_t sum_stride) {
  using V = typename Vector<T, Lanes>::Type;
  V total[Rows][Vectors];
  for (int row = 0; row < Rows; ++row)
    for (int v = 0; v < Vectors; ++v) load(total[row][v], sums + row * sum_stride + v * Lanes);
  for (std::int64_t k = 0; k < depth; ++k) {
    V weight[Vectors];
    for (int v = 0; v < Vectors; ++v) load(weight[v], weights + k * weight_stride + v * Lanes);
    for (int row = 0; row < Rows; ++row) {
      const T input = inputs[row * input_stride + k];
      for (int v = 0; v < Vectors; ++v) total[row][v] += weight[v] * input;
    }
  }
  for (int row = 0; row < Rows; ++row)
    for (int v = 0; v < Vectors; ++v) store(total[row][v], sums + row * sum_stride + v * Lanes);
}

/// The same for all rows and for columns [begin, end).
template <typename T, int Lanes>
HONE_INLINE void multiply_columns(const T* inputs, std::int64_t input_stride, const T* weights,
                                  std::int64_t weight_stride, std::int64_t depth, T* sums, std::int64_t sum_stride,
                                  std::int64_t rows, std::int64_t begin, std::int64_t end) {
  std::int64_t row = 0;
  const auto block = [&]<int Rows, int Vectors>() __attribute__((always_inline)) {
    std::int64_t column = begin;
    const T* input = inputs + row * input_stride;
    T* sum = sums + row * sum_stride;
    for (; column + Vectors * Lanes <= end; column += Vectors * Lanes)
      multiply_block<T, Lanes, Rows, Vectors>(input, input_stride, weights + column, weight_stride, depth, sum + column,
                                              sum_stride);
    for (; column + Lanes <= end; column += Lanes)
      multiply_block<T, Lanes, Rows, 1>(input, input_stride, weights + column, weight_stride, depth, sum + column,
                                        sum_stride);
    for (; column < end; ++column)
      for (int r = 0; r < Rows; ++r)
        for (std::int64_t k = 0; k < depth; ++k)
          sum[r * sum_stride + column] += input[r * input_stride + k] * weights[k * weight_stride + column];
    row += Rows;
  };
  while (row + 4 <= rows) block.template operator()<4, 2>();
  while (row < rows) block.template operator()<1, 8>();
}

/// e^x: 2^n by the exponent's bits, the rest by a polynomial; about one unit in the last place of f32.
template <int Lanes>
HONE_INLINE void exponential(typename Vector<float, Lanes>::Type& x) {
  using V = typename Vector<float, Lanes>::Type;
  using B = typename Vector<float, Lanes>::BitsType;
  x = x > 88.37F ? V{} + 88.37F : x;
  x = x < -87.33F ? V{} - 87.33F : x;
  constexpr float kRound = 12582912.0F;  // adding it leaves a whole number in the lowest bits
  const V n = (x * 1.44269504088896341F + kRound) - kRound;
  const V r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  V p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const B exponent = (__builtin_convertvector(n, B) + 127) << 23;
  V scale;
  std::memcpy(&scale, &exponent, sizeof(V));
  x = p * scale;
}

template <int Lanes>
HONE_INLINE void sigmoid(typename Vector<float, Lanes>::Type& x) {
  x = -x;
  exponential<Lanes>(x);
  x = 1.0F / (1.0F + x);
}

/// Near zero a polynomial, which keeps the relative error small; elsewhere by the exponential.
template <int Lanes>
HONE_INLINE void hyperbolic_tangent(typename Vector<float, Lanes>::Type& x) {
  using V = typename Vector<float, Lanes>::Type;
  const V square = x * x;
  V p = square * -5.70498872745e-3F + 2.06390887954e-2F;
  p = p * square - 5.37397155531e-2F;
  p = p * square + 1.33314422036e-1F;
  p = p * square - 3.33332819422e-1F;
  const V near = p * square * x + x;
  V e = x + x;
  exponential<Lanes>(e);
  const V far = 1.0F - 2.0F / (e + 1.0F);
  x = square < 0.390625F ? near : far;
}

}  // namespace hone::runtime::recurrent
