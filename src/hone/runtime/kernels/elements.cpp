#include "hone/runtime/kernels/elements.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

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

void copy_elements(const Tensor& source, std::int64_t from, Tensor& target, std::int64_t to, std::int64_t count) {
  HONE_CHECK(source.type() == target.type(), "elements of {} copied to {}", name_of(source.type()),
             name_of(target.type()));
  HONE_CHECK(from >= 0 && to >= 0 && from + count <= source.size() && to + count <= target.size(),
             "a copy of {} elements leaves its tensors", count);
  if (count == 0) return;
  if (source.type() == ElementType::String) {
    const auto strings = source.strings().subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
    std::copy(strings.begin(), strings.end(), target.strings().begin() + to);
    return;
  }
  const std::size_t width = bytes_of(source.type());
  std::memcpy(target.data() + static_cast<std::size_t>(to) * width,
              source.data() + static_cast<std::size_t>(from) * width, static_cast<std::size_t>(count) * width);
}

void clear_elements(Tensor& tensor) {
  if (tensor.type() == ElementType::String)
    std::fill(tensor.strings().begin(), tensor.strings().end(), std::string());
  else if (tensor.bytes() > 0)
    std::memset(tensor.data(), 0, tensor.bytes());
}

Result<Tensor> slice(const Tensor& tensor, std::size_t axis, std::int64_t begin, std::int64_t extent) {
  const AxisView view(tensor.shape(), axis);
  HONE_CHECK(begin >= 0 && extent >= 0 && begin + extent <= view.extent, "a slice outside its tensor");
  Shape shape = tensor.shape();
  shape[axis] = extent;
  HONE_TRY(Tensor part, Tensor::allocate(tensor.type(), std::move(shape)));
  for (std::int64_t i = 0; i < view.outer; ++i)
    copy_elements(tensor, (i * view.extent + begin) * view.inner, part, i * extent * view.inner, extent * view.inner);
  return part;
}

Result<Tensor> concatenate(std::span<const Tensor> tensors, std::int64_t axis_number) {
  if (tensors.empty()) return error(ErrorCode::InvalidArgument, "no tensors to concatenate");
  HONE_TRY(const std::size_t axis, checked_axis(axis_number, tensors[0].rank()));
  Shape shape = tensors[0].shape();
  shape[axis] = 0;
  for (const Tensor& tensor : tensors) {
    Shape expected = tensor.shape();
    if (expected.size() == shape.size()) expected[axis] = shape[axis];
    if (tensor.type() != tensors[0].type() || expected != shape)
      return error(ErrorCode::InvalidArgument, "cannot concatenate {} and {} along axis {}",
                   describe(tensors[0].type(), tensors[0].shape()), describe(tensor.type(), tensor.shape()), axis);
    if (__builtin_add_overflow(shape[axis], tensor.extent(axis), &shape[axis]))
      return error(ErrorCode::InvalidArgument, "the concatenated tensors are too long along axis {}", axis);
  }
  HONE_TRY(Tensor joined, Tensor::allocate(tensors[0].type(), shape));
  const AxisView whole(shape, axis);
  std::int64_t begin = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t row = tensor.extent(axis) * whole.inner;
    for (std::int64_t i = 0; i < whole.outer; ++i)
      copy_elements(tensor, i * row, joined, (i * whole.extent + begin) * whole.inner, row);
    begin += tensor.extent(axis);
  }
  return joined;
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
  return concatenate(rows, static_cast<std::int64_t>(axis));
}

}  // namespace hone::runtime
