#include "hone/runtime/kernels/move.h"

#include <algorithm>
#include <cstring>

#include "hone/runtime/kernels/shape_rules.h"

namespace hone::runtime {
namespace {

/// Copies `count` elements of one type, with a distance between neighbours on each side.
template <typename T>
void copy_strided(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
}

struct Sixteen {
  std::uint64_t low, high;
};

void copy_line(const Tensor& from, std::int64_t source, std::int64_t source_stride, Tensor& to, std::int64_t target,
               std::int64_t target_stride, std::int64_t count) {
  const auto as = [&]<typename T>(T) {
    copy_strided(reinterpret_cast<const T*>(from.data()) + source, source_stride,
                 reinterpret_cast<T*>(to.data()) + target, target_stride, count);
  };
  switch (bytes_of(from.type())) {
    case 0:
      return as(std::string());
    case 1:
      return as(std::uint8_t());
    case 2:
      return as(std::uint16_t());
    case 4:
      return as(std::uint32_t());
    case 8:
      return as(std::uint64_t());
    default:
      HONE_CHECK(bytes_of(from.type()) == 16, "elements of {} moved", name_of(from.type()));
      return as(Sixteen());
  }
}

}  // namespace

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

void copy_run(const Tensor& from, std::int64_t source, Tensor& to, std::int64_t target, std::int64_t count) {
  HONE_CHECK(from.type() == to.type(), "{} moved into {}", name_of(from.type()), name_of(to.type()));
  if (count <= 0) return;
  const std::size_t bytes = bytes_of(from.type());
  if (bytes == 0) return copy_line(from, source, 1, to, target, 1, count);
  std::memcpy(to.data() + static_cast<std::size_t>(target) * bytes,
              from.data() + static_cast<std::size_t>(source) * bytes, static_cast<std::size_t>(count) * bytes);
}

void copy_box(const Tensor& from, const Box& source, Tensor& to, const Box& target, const Shape& extents) {
  HONE_CHECK(from.type() == to.type(), "{} moved into {}", name_of(from.type()), name_of(to.type()));
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
  if (extents.empty()) return copy_run(from, source.offset, to, target.offset, 1);
  const std::size_t last = extents.size() - 1;
  const bool is_run = source.strides[last] == 1 && target.strides[last] == 1;
  std::vector<std::int64_t> at(last, 0);
  std::int64_t read = source.offset, write = target.offset;
  while (true) {
    if (is_run)
      copy_run(from, read, to, write, extents[last]);
    else
      copy_line(from, read, source.strides[last], to, write, target.strides[last], extents[last]);
    std::size_t axis = last;
    while (axis > 0) {
      --axis;
      read += source.strides[axis];
      write += target.strides[axis];
      if (++at[axis] < extents[axis]) break;
      read -= extents[axis] * source.strides[axis];
      write -= extents[axis] * target.strides[axis];
      at[axis] = 0;
      if (axis == 0) return;
    }
    if (last == 0) return;
  }
}

void fill(Tensor& to, const Tensor& from, std::int64_t index) {
  copy_box(from, {index, {0}}, to, {0, {1}}, {to.size()});
}

void fill_zero(Tensor& to) {
  if (to.type() == ElementType::String) {
    std::fill(to.strings().begin(), to.strings().end(), std::string());
  } else if (to.bytes() > 0) {
    std::memset(to.data(), 0, to.bytes());
  }
}

namespace {

/// Neighbours of a result that come from neighbours (stride 1) or from one element (stride 0).
struct Run {
  std::int64_t target, source, stride, count;
};

/// The runs of a map; places that take the other element have none.
std::vector<Run> runs_of(const std::vector<std::int64_t>& map) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] < 0) continue;
    if (!runs.empty()) {
      Run& last = runs.back();
      const bool is_next = last.target + last.count == static_cast<std::int64_t>(i);
      if (is_next && last.count == 1 && (map[i] == last.source || map[i] == last.source + 1))
        last.stride = map[i] - last.source;
      if (is_next && map[i] == last.source + last.count * last.stride) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({static_cast<std::int64_t>(i), map[i], 1, 1});
  }
  return runs;
}

}  // namespace

void take(const Tensor& from, const std::vector<std::vector<std::int64_t>>& maps, const Tensor* other, Tensor& to) {
  HONE_CHECK(maps.size() == from.rank() && from.rank() == to.rank(), "{} maps for {} axes", maps.size(), from.rank());
  if (to.size() == 0) return;
  if (maps.empty()) return copy_run(from, 0, to, 0, 1);
  const bool has_others = std::any_of(maps.begin(), maps.end(), [](const std::vector<std::int64_t>& map) {
    return std::any_of(map.begin(), map.end(), [](std::int64_t index) { return index < 0; });
  });
  if (has_others && other)
    fill(to, *other);
  else if (has_others)
    fill_zero(to);
  const std::vector<std::int64_t> strides = strides_of(from.shape());
  const std::vector<Run> runs = runs_of(maps.back());
  const std::size_t outer = maps.size() - 1;
  const auto line = static_cast<std::int64_t>(maps.back().size());
  std::vector<std::size_t> at(outer, 0);
  for (std::int64_t start = 0; start < to.size(); start += line) {
    std::int64_t position = 0;
    for (std::size_t axis = 0; axis < outer && position >= 0; ++axis) {
      const std::int64_t index = maps[axis][at[axis]];
      position = index < 0 ? -1 : position + index * strides[axis];
    }
    if (position >= 0)
      for (const Run& run : runs) {
        if (run.stride == 1)
          copy_run(from, position + run.source, to, start + run.target, run.count);
        else
          copy_line(from, position + run.source, run.stride, to, start + run.target, 1, run.count);
      }
    for (std::size_t axis = outer; axis-- > 0;) {
      if (++at[axis] < maps[axis].size()) break;
      at[axis] = 0;
    }
  }
}

Result<Tensor> slice_axis(const Tensor& from, std::size_t axis, std::int64_t start, std::int64_t count) {
  HONE_CHECK(axis < from.rank() && start >= 0 && count >= 0 && start + count <= from.extent(axis),
             "elements {} to {} of axis {} taken", start, start + count, axis);
  Shape shape = from.shape();
  shape[axis] = count;
  HONE_TRY(Tensor to, Tensor::allocate(from.type(), shape));
  const std::vector<std::int64_t> strides = strides_of(from.shape());
  copy_box(from, {start * strides[axis], strides}, to, {0, strides_of(shape)}, shape);
  return to;
}

Result<Tensor> concat_axis(std::span<const Tensor> parts, std::int64_t axis_from) {
  if (parts.empty()) return error(ErrorCode::InvalidArgument, "0 tensors to concatenate, allowed is 1 and more");
  HONE_TRY(const std::int64_t axis, normalize_axis(axis_from, parts[0].rank()));
  const auto at = static_cast<std::size_t>(axis);
  Shape shape = parts[0].shape();
  shape[at] = 0;
  for (const Tensor& part : parts) {
    Shape other = part.shape();
    if (other.size() == shape.size()) other[at] = shape[at];
    if (other != shape || part.type() != parts[0].type())
      return error(ErrorCode::InvalidArgument, "{} and {} cannot be concatenated, they may differ in axis {} alone",
                   describe(parts[0].type(), parts[0].shape()), describe(part.type(), part.shape()), axis);
    shape[at] += part.extent(at);
  }
  HONE_TRY(Tensor to, Tensor::allocate(parts[0].type(), shape));
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::int64_t start = 0;
  for (const Tensor& part : parts) {
    copy_box(part, {0, strides_of(part.shape())}, to, {start * strides[at], strides}, part.shape());
    start += part.extent(at);
  }
  return to;
}

}  // namespace hone::runtime
