/// Moving elements of any type, strings included: what host kernels that rearrange tensors share.
#pragma once

#include <span>

#include "hone/runtime/value.h"

namespace hone::runtime {

/// A box inside a tensor: where it begins, and how many elements lie between neighbours along each of its axes (0
/// repeats one element, negative numbers go backwards).
struct Box {
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
};

/// How many elements lie between neighbours along each axis of a row-major tensor.
std::vector<std::int64_t> strides_of(const Shape& shape);

/// Copies a box of `extents` elements from one tensor into another of the same type. The caller answers for both boxes
/// lying inside their tensors.
void copy_box(const Tensor& from, const Box& source, Tensor& to, const Box& target, const Shape& extents);

/// Copies `count` neighbouring elements.
void copy_run(const Tensor& from, std::int64_t source, Tensor& to, std::int64_t target, std::int64_t count);

/// Fills a tensor with element `index` of another of the same type.
void fill(Tensor& to, const Tensor& from, std::int64_t index = 0);

/// Fills a tensor with zeros, false or empty strings.
void fill_zero(Tensor& to);

/// Fills a tensor with elements of another: along each axis, element i of the result is element maps[axis][i] of
/// `from`, or `other`'s first element (zero without it) where that is negative along any axis.
void take(const Tensor& from, const std::vector<std::vector<std::int64_t>>& maps, const Tensor* other, Tensor& to);

/// The content of `from` along one axis from `start` on, `count` elements of it: a copy.
Result<Tensor> slice_axis(const Tensor& from, std::size_t axis, std::int64_t start, std::int64_t count);

/// The parts one after the other along an axis; types and other extents must agree.
Result<Tensor> concat_axis(std::span<const Tensor> parts, std::int64_t axis);

}  // namespace hone::runtime
