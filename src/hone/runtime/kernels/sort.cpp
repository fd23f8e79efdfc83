#include "hone/runtime/kernels/sort.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/move.h"

namespace hone::runtime {
namespace {

template <typename T>
constexpr bool is_floating = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;

/// Less, in an order that also has a place for NaN: at the end.
template <typename T>
bool is_less(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
    return is_less<float>(a, b);
  else if constexpr (is_floating<T>)
    return a < b || (std::isnan(b) && !std::isnan(a));
  else
    return a < b;
}

template <typename T>
bool is_zero(const T& element) {
  if constexpr (std::is_same_v<T, std::string>)
    return element.empty();
  else if constexpr (is_floating<T>)
    return static_cast<double>(element) == 0;
  else
    return element == 0;
}

template <typename T>
Result<void> non_zero_of(HostCall& call, const Tensor& input) {
  const auto elements = elements_of<T>(input);
  const std::int64_t count = std::count_if(elements.begin(), elements.end(), [](const T& e) { return !is_zero(e); });
  const auto rank = static_cast<std::int64_t>(input.rank());
  HONE_TRY(Tensor output, call.output(0, ElementType::I64, {rank, count}));
  const auto indices = output.as<std::int64_t>();
  std::vector<std::int64_t> at(input.rank(), 0);
  std::size_t column = 0;
  for (const T& element : elements) {
    if (!is_zero(element)) {
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        indices[axis * static_cast<std::size_t>(count) + column] = at[axis];
      ++column;
    }
    for (std::size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < input.extent(axis)) break;
      at[axis] = 0;
    }
  }
  return {};
}

/// Which slices of a tensor are equal: the groups in the order of the output.
struct Groups {
  std::vector<std::int64_t> first;   ///< per group: its first slice
  std::vector<std::int64_t> counts;  ///< per group
  std::vector<std::int64_t> group;   ///< per slice
};

template <typename T>
Groups group_slices(const Tensor& input, const AxisView& view, bool is_sorted) {
  const auto elements = elements_of<T>(input);
  const auto at = [&](std::int64_t outer, std::int64_t slice, std::int64_t inner) -> const T& {
    return elements[static_cast<std::size_t>((outer * view.extent + slice) * view.inner + inner)];
  };
  const auto comes_before = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t o = 0; o < view.outer; ++o)
      for (std::int64_t i = 0; i < view.inner; ++i) {
        if (is_less<T>(at(o, a, i), at(o, b, i))) return true;
        if (is_less<T>(at(o, b, i), at(o, a, i))) return false;
      }
    return false;
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(view.extent));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), comes_before);

  Groups groups;
  groups.group.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || comes_before(order[i - 1], order[i])) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    groups.group[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(groups.first.size()) - 1;
    ++groups.counts.back();
  }
  if (is_sorted) return groups;

  std::vector<std::size_t> by_place(groups.first.size());
  std::iota(by_place.begin(), by_place.end(), 0);
  std::sort(by_place.begin(), by_place.end(),
            [&](std::size_t a, std::size_t b) { return groups.first[a] < groups.first[b]; });
  Groups unsorted;
  std::vector<std::int64_t> new_group(by_place.size());
  for (std::size_t i = 0; i < by_place.size(); ++i) {
    new_group[by_place[i]] = static_cast<std::int64_t>(i);
    unsorted.first.push_back(groups.first[by_place[i]]);
    unsorted.counts.push_back(groups.counts[by_place[i]]);
  }
  for (const std::int64_t group : groups.group) unsorted.group.push_back(new_group[static_cast<std::size_t>(group)]);
  return unsorted;
}

Result<void> write_indices(HostCall& call, std::size_t output, const std::vector<std::int64_t>& numbers) {
  if (!call.wants(output)) return {};
  HONE_TRY(Tensor tensor, call.output(output, ElementType::I64, {static_cast<std::int64_t>(numbers.size())}));
  std::copy(numbers.begin(), numbers.end(), tensor.as<std::int64_t>().begin());
  return {};
}

template <typename T>
void top_k_of(const Tensor& input, const AxisView& view, std::int64_t k, bool wants_largest, Tensor& values,
              Tensor& indices) {
  const auto elements = elements_of<T>(input);
  const auto best = elements_of<T>(values);
  const auto places = indices.as<std::int64_t>();
  std::vector<std::int64_t> order(static_cast<std::size_t>(view.extent));
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const auto at = [&](std::int64_t row) -> const T& {
        return elements[static_cast<std::size_t>((o * view.extent + row) * view.inner + i)];
      };
      const auto comes_before = [&](std::int64_t a, std::int64_t b) {
        const T &left = at(a), &right = at(b);
        if (wants_largest ? is_less<T>(right, left) : is_less<T>(left, right)) return true;
        if (wants_largest ? is_less<T>(left, right) : is_less<T>(right, left)) return false;
        return a < b;
      };
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), comes_before);
      for (std::int64_t row = 0; row < k; ++row) {
        const auto target = static_cast<std::size_t>((o * k + row) * view.inner + i);
        places[target] = order[static_cast<std::size_t>(row)];
        best[target] = at(order[static_cast<std::size_t>(row)]);
      }
    }
}

}  // namespace

Result<void> non_zero(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  return with_element_type(input.type(), [&](auto zero) { return non_zero_of<decltype(zero)>(call, input); });
}

Result<void> unique(HostCall& call) {
  HONE_TRY(Tensor input, call.tensor(0));
  std::size_t axis = 0;
  if (call.attributes.has("axis")) {
    HONE_TRY(axis, checked_axis(call.attributes.integer("axis", 0), input.rank()));
  } else {
    input = input.reshaped({input.size()});
  }
  const AxisView view(input.shape(), axis);
  const bool is_sorted = call.attributes.integer("sorted", 1) != 0;
  Groups groups;
  HONE_TRY(with_element_type(input.type(), [&](auto zero) -> Result<void> {
    groups = group_slices<decltype(zero)>(input, view, is_sorted);
    return {};
  }));

  Shape shape = input.shape();
  shape[axis] = static_cast<std::int64_t>(groups.first.size());
  HONE_TRY(Tensor output, call.output(0, input.type(), shape));
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::size_t g = 0; g < groups.first.size(); ++g)
      copy_run(input, (o * view.extent + groups.first[g]) * view.inner, output,
               (o * shape[axis] + static_cast<std::int64_t>(g)) * view.inner, view.inner);
  HONE_TRY(write_indices(call, 1, groups.first));
  HONE_TRY(write_indices(call, 2, groups.group));
  return write_indices(call, 3, groups.counts);
}

Result<void> top_k(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const std::size_t axis, checked_axis(call.attributes.integer("axis", -1), input.rank()));
  std::int64_t k = call.attributes.integer("k", -1);
  if (call.has(1)) {
    HONE_TRY(const Tensor number, call.tensor(1));
    HONE_TRY(k, single_integer(number, "k"));
  }
  if (k < 0 || k > input.extent(axis))
    return error(ErrorCode::InvalidArgument, "k is {}, allowed are 0 to {}", k, input.extent(axis));
  const bool wants_largest = call.attributes.integer("largest", 1) != 0;
  Shape shape = input.shape();
  shape[axis] = k;
  HONE_TRY(Tensor values, call.output(0, input.type(), shape));
  Tensor indices;
  if (call.wants(1)) {
    HONE_TRY(indices, call.output(1, ElementType::I64, shape));
  } else {
    HONE_TRY(indices, Tensor::allocate(ElementType::I64, shape));
  }
  return with_number_type(input.type(), [&](auto zero) -> Result<void> {
    top_k_of<decltype(zero)>(input, AxisView(input.shape(), axis), k, wants_largest, values, indices);
    return {};
  });
}

}  // namespace hone::runtime
