/// Host kernels: operators that are C++ functions and not loops: sorting, strings, sequences, control flow, …
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hone/runtime/attribute.h"
#include "hone/runtime/value.h"

namespace hone::runtime {

class ThreadPool;

/// A graph inside an operator (the branch of an If, the body of a Loop), ready to run.
class Body {
 public:
  virtual ~Body() = default;

  /// Runs it on its formal inputs; what it takes from the graphs around it is bound already.
  virtual Result<std::vector<Value>> run(std::span<const Value> inputs) const = 0;

  /// What the graph declares of an output: its type (Undefined if it does not say) and shape (0 where it does not say).
  struct Declared {
    ElementType type = ElementType::Undefined;
    Shape shape;
  };
  virtual Declared declared(std::size_t output) const = 0;
};

/// What one call of a host kernel reads and writes.
struct HostCall {
  std::span<const Value> inputs;  ///< absent ones included, trailing ones possibly left out
  /// One per output of the node. Where the operator's shape rule gave type and shape, the tensor is there already and
  /// is to be filled; the other outputs are the kernel's to make.
  std::span<Value> outputs;
  const Attributes& attributes;
  std::span<const Body* const> bodies = {};  ///< in the order of the names of the attributes that hold them
  std::int64_t opset = 0;                    ///< the version of the operator's domain that the model asks for
  ThreadPool* pool = nullptr;

  /// Whether input `i` was given.
  bool has(std::size_t i) const { return i < inputs.size() && !inputs[i].is_absent(); }
  /// Input `i`, which must be a tensor.
  Result<Tensor> tensor(std::size_t i) const;
  /// Output `i` as a tensor of this type and shape: the one that is there, if it fits, or a new one. The handle shares
  /// its memory with the output.
  Result<Tensor> output(std::size_t i, ElementType type, const Shape& shape);
  /// The graph number `i` inside the operator, or an error if the node has no such attribute.
  Result<const Body*> body(std::size_t i) const;
  /// Whether output `i` is wanted at all.
  bool wants(std::size_t i) const { return i < outputs.size(); }
};

using HostKernel = Result<void> (*)(HostCall& call);

/// Calls a kernel; memory that is not to be had, which C++ throws, is an error as well.
Result<void> run(HostKernel kernel, HostCall& call);

}  // namespace hone::runtime
