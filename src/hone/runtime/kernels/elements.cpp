#include "hone/runtime/kernels/elements.h"

#include "hone/runtime/kernels/move.h"

namespace hone::runtime {

AxisView::AxisView(const Shape& shape, std::size_t axis) : extent(shape[axis]) {
  for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
}

Result<std::size_t> checked_axis(std::int64_t axis, std::size_t rank) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis < -limit || axis >= limit)
    return error(ErrorCode::InvalidArgument, "axis {} is outside [{}, {})", axis, -limit, limit);
  return static_cast<std::size_t>(axis < 0 ? axis + limit : axis);
}

Result<std::int64_t> single_integer(const Tensor& tensor, std::string_view what) {
  if (tensor.size() != 1)
    return error(ErrorCode::InvalidArgument, "{} must be one number, found {}", what,
                 describe(tensor.type(), tensor.shape()));
  HONE_TRY(const std::vector<std::int64_t> numbers, tensor.to_ints());
  return numbers[0];
}

Result<Tensor> stack(std::span<const Tensor> tensors, std::int64_t axis_number) {
  if (tensors.empty()) return error(ErrorCode::InvalidArgument, "no tensors to stack");
  HONE_TRY(const std::size_t axis, checked_axis(axis_number, tensors[0].rank() + 1));
  std::vector<Tensor> rows;
  rows.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    if (tensor.type() != tensors[0].type() || tensor.shape() != tensors[0].shape())
      return error(ErrorCode::InvalidArgument, "cannot stack {} on {}", describe(tensor.type(), tensor.shape()),
                   describe(tensors[0].type(), tensors[0].shape()));
    Shape shape = tensor.shape();
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    rows.push_back(tensor.reshaped(std::move(shape)));
  }
  return concat_axis(rows, static_cast<std::int64_t>(axis));
}

}  // namespace hone::runtime
