#include "hone/tensor/tensor.h"

#include <algorithm>

#include "hone/ir/rewrite.h"

namespace hone::tensor {

using ir::DType;
using ir::Expr;

namespace {

/// The tensors read by the compute whose body is being called on this thread. Values are plain IR expressions, which
/// know buffers but not the operations behind them; this list is how a compute learns which tensors it depends on.
class ReadRecorder {
 public:
  ReadRecorder() : outer_(std::exchange(current_, this)) {}
  ~ReadRecorder() { current_ = outer_; }
  ReadRecorder(const ReadRecorder&) = delete;
  ReadRecorder& operator=(const ReadRecorder&) = delete;

  static void record(const Tensor& tensor) {
    if (!current_) return;
    std::vector<Tensor>& reads = current_->reads;
    const bool is_known = std::any_of(reads.begin(), reads.end(), [&](const Tensor& t) { return t.is(tensor); });
    if (!is_known) reads.push_back(tensor);
  }

  std::vector<Tensor> reads;

 private:
  static thread_local ReadRecorder* current_;
  ReadRecorder* outer_;
};

thread_local ReadRecorder* ReadRecorder::current_ = nullptr;

/// The tensors in the order in which they stand in the values. The order in which the body read them does not do: C++
/// leaves it open which operand of `a(i) * b(i)` is made first, and names must not depend on the compiler.
std::vector<Tensor> in_order_of_use(const std::vector<Tensor>& tensors, const std::vector<Expr>& values) {
  std::vector<Tensor> ordered;
  const auto find = [](const std::vector<Tensor>& list, const Expr& buffer) {
    return std::find_if(list.begin(), list.end(), [&](const Tensor& t) { return t.buffer().is(buffer); });
  };
  for (const Expr& value : values)
    ir::walk(value, [&](const Expr& e) {
      if (!e.as<ir::Buffer>() || find(ordered, e) != ordered.end()) return;
      const auto found = find(tensors, e);
      if (found != tensors.end()) ordered.push_back(*found);
    });
  return ordered;
}

void check_axes(const std::string& name, const std::vector<Axis>& axes) {
  for (const Axis& axis : axes)
    HONE_CHECK(axis.extent >= 0, "tensor '{}' has an axis of extent {}, allowed is 0 and more", name, axis.extent);
}

}  // namespace

Body::Body(Reduction reduction) : reduction_(std::make_shared<const Reduction>(std::move(reduction))) {}

Tensor::Tensor(std::shared_ptr<const Operation> operation, std::size_t output)
    : operation_(std::move(operation)), buffer_(operation_->buffers.at(output)) {}

const Shape& Tensor::shape() const { return operation_->shape; }

Expr Tensor::operator()(Indices indices) const {
  HONE_CHECK(indices.size() == rank(), "{} indices for tensor '{}' of {} axes", indices.size(), name(), rank());
  for (Expr& index : indices) {
    HONE_CHECK(index.type().is_integer(), "tensor '{}' indexed by {}", name(), ir::to_string(index.type()));
    index = ir::cast(ir::kIndex, index);
  }
  ReadRecorder::record(*this);
  return ir::load(buffer_, std::move(indices));
}

Tensor placeholder(std::string name, Shape shape, DType type) {
  auto operation = std::make_shared<Operation>();
  operation->name = name;
  operation->shape = shape;
  operation->axes = axes_of(shape);
  check_axes(name, operation->axes);
  operation->buffers = {ir::buffer(std::move(name), type, shape)};
  return Tensor(std::move(operation), 0);
}

std::vector<Tensor> compute_all(const std::vector<std::string>& names, std::vector<Axis> axes,
                                FunctionRef<Body(const Indices&)> body) {
  HONE_CHECK(!names.empty(), "a compute without an output");
  check_axes(names[0], axes);
  auto operation = std::make_shared<Operation>();
  operation->name = names[0];
  for (const Axis& axis : axes) {
    operation->shape.push_back(axis.extent);
    operation->indices.push_back(ir::var(axis.name));
  }
  operation->axes = std::move(axes);

  ReadRecorder recorder;
  operation->body = std::make_shared<const Body>(body(operation->indices));
  operation->reads = in_order_of_use(recorder.reads, operation->body->values());

  const std::vector<Expr>& values = operation->body->values();
  HONE_CHECK(values.size() == names.size(), "'{}' has {} values for {} names", names[0], values.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    operation->buffers.push_back(ir::buffer(names[i], values[i].type(), operation->shape));
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < names.size(); ++i) outputs.emplace_back(operation, i);
  return outputs;
}

Tensor compute(std::string name, std::vector<Axis> axes, FunctionRef<Body(const Indices&)> body) {
  return compute_all({std::move(name)}, std::move(axes), body).front();
}

}  // namespace hone::tensor
