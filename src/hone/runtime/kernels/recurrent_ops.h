/// The two operations that recurrent cells spend their time in, for the widest vectors the machine has.
#pragma once

#include <cstdint>
#include <string>

#include "hone/runtime/thread_pool.h"
#include "hone/support/result.h"

namespace hone::runtime::recurrent {

/// A matrix inside a larger one: rows of `columns` numbers, `stride` apart.
template <typename T>
struct Matrix {
  T* data;
  std::int64_t rows, columns, stride;
};

/// sums += inputs · weights; spread over the pool where that pays.
template <typename T>
void multiply_add(const Matrix<const T>& inputs, const Matrix<const T>& weights, const Matrix<T>& sums,
                  ThreadPool* pool);

/// An activation function with its parameters.
struct Activation {
  enum class Kind {
    Relu,
    Tanh,
    Sigmoid,
    Affine,
    LeakyRelu,
    ThresholdedRelu,
    ScaledTanh,
    HardSigmoid,
    Elu,
    Softsign,
    Softplus
  };
  Kind kind;
  float alpha, beta;
};

/// The function of that name (in any case) with its default parameters.
Result<Activation> activation_named(const std::string& name);
/// How many of alpha and beta the function takes from the lists of an operator.
bool takes_alpha(Activation::Kind kind);
bool takes_beta(Activation::Kind kind);

/// Applies the function to `count` numbers in place.
template <typename T>
void activate(const Activation& activation, T* data, std::int64_t count);

}  // namespace hone::runtime::recurrent
