#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

Result<Tensor> HostCall::tensor(std::size_t i) const {
  if (i >= inputs.size()) return error(ErrorCode::InvalidArgument, "input {} is missing", i);
  const Tensor* tensor = inputs[i].tensor();
  if (!tensor) return error(ErrorCode::InvalidArgument, "input {} must be a tensor, found {}", i, inputs[i].describe());
  return *tensor;
}

Result<Tensor> HostCall::output(std::size_t i, ElementType type, const Shape& shape) {
  HONE_CHECK(i < outputs.size(), "output {} of {}", i, outputs.size());
  if (const Tensor* there = outputs[i].tensor(); there && there->type() == type && there->shape() == shape)
    return *there;
  HONE_TRY(Tensor made, Tensor::allocate(type, shape));
  outputs[i] = made;
  return made;
}

}  // namespace hone::runtime
