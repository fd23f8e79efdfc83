#include <cmath>
#include <limits>
#include <set>

#include "hone/tensor/definitions.h"
#include "hone/tensor/testing.h"

namespace hone::tensor {
namespace {

using Arrays = std::vector<ir::Array>;

double identity(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Mean:
      return 0;
    case ReduceKind::Prod:
      return 1;
    case ReduceKind::Max:
      return -std::numeric_limits<double>::infinity();
    case ReduceKind::Min:
      return std::numeric_limits<double>::infinity();
  }
  return 0;
}

double combine(ReduceKind kind, double a, double b) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Mean:
      return a + b;
    case ReduceKind::Prod:
      return a * b;
    case ReduceKind::Max:
      return std::max(a, b);
    case ReduceKind::Min:
      return std::min(a, b);
  }
  return 0;
}

/// Goes through the whole input and picks what belongs to the element `i` of the result.
double reduce_reference(const ir::Array& x, ReduceKind kind, const std::set<std::size_t>& axes, KeepAxes keep,
                        const Index& i) {
  double result = identity(kind), count = 0;
  for_each_index(x.shape(), [&](const Index& from) {
    Index target;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      if (!axes.contains(axis)) target.push_back(from[axis]);
      if (axes.contains(axis) && keep == KeepAxes::Yes) target.push_back(0);
    }
    if (target != i) return;
    result = combine(kind, result, at(x, from));
    count += 1;
  });
  return kind == ReduceKind::Mean ? result / count : result;
}

TEST(Reductions, EveryKindOverAnyAxes) {
  for (const Shape& shape : {Shape{3, 5, 2}, Shape{1, 7, 1}, Shape{2, 0, 3}})
    for (const ReduceKind kind :
         {ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max, ReduceKind::Min, ReduceKind::Prod})
      for (const std::vector<int>& axes : std::vector<std::vector<int>>{{}, {1}, {-1, 0}, {2, 0, 1}})
        for (const KeepAxes keep : {KeepAxes::No, KeepAxes::Yes}) {
          std::set<std::size_t> counted;
          for (const int axis : axes) counted.insert(static_cast<std::size_t>((axis + 3) % 3));
          const Tensor x = placeholder("X", shape, ir::kF64);
          expect_values(
              {x}, reduce_axes(x, kind, axes, keep),
              [&](const Arrays& a, const Index& i) { return reduce_reference(a[0], kind, counted, keep, i); }, 1e-15);
        }
}

TEST(Reductions, AxesThatDoNotFitAreRefused) {
  const Tensor x = placeholder("X", {2, 3}, ir::kI32);
  EXPECT_EQ(message_of(reduce_axes(x, ReduceKind::Sum, {2})),
            "reduction: axis 2 of a tensor of 2 axes, allowed are -2..1");
  EXPECT_EQ(message_of(reduce_axes(x, ReduceKind::Sum, {1, -1})), "reduction: axis 1 occurs twice, allowed is once");
  EXPECT_EQ(message_of(reduce_axes(x, ReduceKind::Mean, {1})),
            "mean: 'X' has type i32, allowed are f16, bf16, f32 and f64");
  EXPECT_EQ(message_of(argmax(placeholder("E", {2, 0}), 1)), "argmax: axis 1 has no elements, allowed is 1 and more");
}

TEST(Reductions, ArgmaxAndArgminFindTheFirstBestElement) {
  for (const bool is_max : {true, false})
    for (const int axis : {0, 1, -1}) {
      const Tensor x = placeholder("X", {4, 7, 3}, ir::kI8);
      const Result<std::vector<Tensor>> found = is_max ? argmax(x, axis) : argmin(x, axis, KeepAxes::No);
      ASSERT_TRUE(found) << message_of(found);
      const Arrays arrays = run_on_whole_numbers({x}, *found);
      const auto reduced = static_cast<std::size_t>((axis + 3) % 3);
      std::int64_t flat = 0;
      for_each_index((*found)[0].shape(), [&](const Index& i) {
        Index from = i;
        from.insert(from.begin() + static_cast<std::ptrdiff_t>(reduced), 0);
        double best = at(arrays[0], from);
        std::int64_t place = 0;
        for (std::int64_t n = 1; n < x.extent(reduced); ++n) {
          from[reduced] = n;
          const double value = at(arrays[0], from);
          if (is_max ? value > best : value < best) best = value, place = n;
        }
        EXPECT_EQ(arrays[1].float_at(flat), best);
        EXPECT_EQ(arrays[2].int_at(flat), place);
        ++flat;
      });
    }
}

TEST(Normalize, SoftmaxIsItsFormulaAlongAnyAxis) {
  for (const Shape& shape : {Shape{3, 5}, Shape{7, 1}, Shape{0, 4}, Shape{4, 0}})
    for (const int axis : {0, -1}) {
      const Tensor x = placeholder("X", shape);
      const std::size_t along = axis == 0 ? 0 : 1;
      expect_values(
          {x}, softmax(x, axis),
          [&](const Arrays& a, const Index& i) {
            double sum = 0;
            Index from = i;
            for (from[along] = 0; from[along] < shape[along]; ++from[along]) sum += std::exp(at(a[0], from));
            return std::exp(at(a[0], i)) / sum;
          },
          1e-6);
    }
}

TEST(Normalize, LayerNormIsItsFormula) {
  for (const int first_axis : {1, 2, -3}) {
    const Tensor x = placeholder("X", {3, 5, 7});
    const Shape inner(x.shape().begin() + (first_axis + 3) % 3, x.shape().end());
    const Tensor scale = placeholder("scale", inner), bias = placeholder("bias", inner);
    const std::size_t first = 3 - inner.size();
    expect_values(
        {x, scale, bias}, layer_norm(x, scale, bias, first_axis),
        [&](const Arrays& a, const Index& i) {
          double sum = 0, squares = 0, count = 0;
          const auto each = [&](FunctionRef<void(double)> f) {
            for_each_index(inner, [&](const Index& k) {
              Index from(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(first));
              from.insert(from.end(), k.begin(), k.end());
              f(at(a[0], from));
            });
          };
          each([&](double value) { sum += value, count += 1; });
          each([&](double value) { squares += (value - sum / count) * (value - sum / count); });
          const Index own(i.begin() + static_cast<std::ptrdiff_t>(first), i.end());
          return (at(a[0], i) - sum / count) / std::sqrt(squares / count + 1e-5) * at(a[1], own) + at(a[2], own);
        },
        1e-5);
  }
  EXPECT_EQ(message_of(layer_norm(placeholder("X", {2, 3}), placeholder("S", {2}), placeholder("B", {3}), 1)),
            "layer norm: 'S' has shape [2], allowed is [3]");
}

}  // namespace
}  // namespace hone::tensor
