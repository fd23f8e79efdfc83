/// Tensor expressions: what each element of a tensor is, as a function of its indices.
///
///     const Tensor a = placeholder("A", {m, k}), b = placeholder("B", {k, n});
///     const Tensor c = compute("C", {m, n}, [&](const Indices& i) {
///       return reduce_sum({k}, [&](const Indices& r) { return a(i[0], r[0]) * b(r[0], i[1]); });
///     });
///     const ir::Function matmul = lower("matmul", {a, b}, {c});
///
/// Values are ordinary IR expressions. `lower` (lower.h) writes the definition as naive loops; reductions are in
/// reduce.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hone/ir/expr.h"
#include "hone/support/function_ref.h"
#include "hone/tensor/reduce.h"

namespace hone::tensor {

using Shape = std::vector<std::int64_t>;

struct Operation;

/// A handle to one output of an operation: a placeholder or a compute.
class Tensor {
 public:
  Tensor(std::shared_ptr<const Operation> operation, std::size_t output);

  const std::string& name() const { return ir::name_of(buffer_); }
  ir::DType type() const { return buffer_.type(); }
  const Shape& shape() const;
  std::size_t rank() const { return shape().size(); }
  /// The extent of one axis.
  std::int64_t extent(std::size_t axis) const { return shape()[axis]; }

  /// The element at the given indices, as a value inside the body of a compute. Indices of other integer types become
  /// i64.
  ir::Expr operator()(Indices indices) const;
  template <typename... Index>
  ir::Expr operator()(const ir::Expr& first, const Index&... rest) const {
    return (*this)(Indices{first, to_index(rest)...});
  }

  /// The buffer that stands for the tensor in expressions.
  const ir::Expr& buffer() const { return buffer_; }
  const std::shared_ptr<const Operation>& operation() const { return operation_; }
  bool is(const Tensor& other) const { return buffer_.is(other.buffer_); }

 private:
  static ir::Expr to_index(const ir::Expr& index) { return index; }
  static ir::Expr to_index(std::int64_t index) { return ir::imm(index); }

  std::shared_ptr<const Operation> operation_;
  ir::Expr buffer_;
};

/// What the body of a compute gives: one value per output, or a reduction to them.
class Body {
 public:
  Body(ir::Expr value) : values_{std::move(value)} {}
  Body(std::vector<ir::Expr> values) : values_(std::move(values)) {}
  Body(Reduction reduction);

  /// The values, or what the reduction combines.
  const std::vector<ir::Expr>& values() const { return reduction_ ? reduction_->sources : values_; }
  const Reduction* reduction() const { return reduction_.get(); }

 private:
  std::vector<ir::Expr> values_;
  std::shared_ptr<const Reduction> reduction_;
};

/// A definition: no axes and no body for a placeholder, one body over the axes for a compute.
struct Operation {
  std::string name;
  Shape shape;
  std::vector<Axis> axes;         ///< the shape with the names of its loops
  std::vector<ir::Expr> indices;  ///< the variables that stand for the axes in the body
  std::vector<ir::Expr> buffers;  ///< one per output
  std::shared_ptr<const Body> body;
  std::vector<Tensor> reads;  ///< the tensors the body reads, in the order in which they stand in its values

  bool is_placeholder() const { return !body; }
};

/// A tensor that the caller provides.
Tensor placeholder(std::string name, Shape shape, ir::DType type = ir::kF32);

/// A tensor whose element at indices `i` is `body(i)`. The type is the value's. Extents 0 and 1 are fine; no axes make
/// a scalar. The body must read tensors through their own operator().
Tensor compute(std::string name, std::vector<Axis> axes, FunctionRef<Body(const Indices&)> body);

/// Several tensors of one shape that one block computes, such as a maximum and its place; one name each.
std::vector<Tensor> compute_all(const std::vector<std::string>& names, std::vector<Axis> axes,
                                FunctionRef<Body(const Indices&)> body);

}  // namespace hone::tensor
