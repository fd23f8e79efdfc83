#include "hone/runtime/host_kernel.h"

#include <new>
#include <stdexcept>

namespace hone::runtime {

Result<Tensor> HostCall::tensor(std::size_t i) const {
  if (i >= inputs.size()) return error(ErrorCode::InvalidArgument, "input {} is missing", i);
  const Tensor* tensor = inputs[i].tensor();
  if (!tensor) return error(ErrorCode::InvalidArgument, "input {} must be a tensor, found {}", i, inputs[i].describe());
  return *tensor;
}

Result<const Body*> HostCall::body(std::size_t i) const {
  if (i >= bodies.size())
    return error(ErrorCode::InvalidArgument, "{} graphs in the attributes, {} needed", bodies.size(), i + 1);
  return bodies[i];
}

Result<Tensor> HostCall::output(std::size_t i, ElementType type, const Shape& shape) {
  HONE_CHECK(i < outputs.size(), "output {} of {}", i, outputs.size());
  if (const Tensor* there = outputs[i].tensor(); there && there->type() == type && there->shape() == shape)
    return *there;
  HONE_TRY(Tensor made, Tensor::allocate(type, shape));
  outputs[i] = made;
  return made;
}

Result<void> run(HostKernel kernel, HostCall& call) {
  try {
    return kernel(call);
  } catch (const std::bad_alloc&) {
    return error(ErrorCode::OutOfMemory, "no memory for what the operator computes");
  } catch (const std::length_error&) {
    return error(ErrorCode::OutOfMemory, "the operator computes more than memory can hold");
  }
}

}  // namespace hone::runtime
