#include "hone/space/row_schedule.h"

#include "hone/space/schedule_test.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::space {
namespace {

using tensor::Indices;
using tensor::Shape;
using tensor::Tensor;

ir::Function softmax(const Shape& shape) {
  const Tensor x = tensor::placeholder("x", shape);
  return tensor::lower("softmax", {x}, {*tensor::softmax(x, -1)});
}

/// A layer norm over the axes from `first` on, with an elementwise block before and after it.
ir::Function layer_norm(const Shape& shape, int first) {
  const Shape row(shape.begin() + first, shape.end());
  const Tensor x = tensor::placeholder("x", shape), scale = tensor::placeholder("scale", row);
  const Tensor bias = tensor::placeholder("bias", row);
  const Tensor doubled = tensor::map("doubled", x, [](const ir::Expr& e) { return e + e; });
  const Tensor y = *tensor::layer_norm(doubled, scale, bias, first, 1e-5);
  const Tensor out = tensor::map("out", y, [](const ir::Expr& e) { return ir::max(e, ir::constant(ir::kF32, 0.0)); });
  return tensor::lower("layer_norm", {x, scale, bias}, {out});
}

void expect_same(const ir::Function& naive, const char* text) {
  const codegen::Target target = codegen::parse_target(text).value();
  expect_same_result(naive, schedule_rows(naive, target), target);
}

TEST(RowSchedule, ComputesRowsOfAnyLength) {
  for (const char* text : {"cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1", "x86-64 -threads=2"})
    for (const std::int64_t length : {2, 3, 15, 16, 17, 64, 100, 197, 257})
      expect_same(length % 2 == 0 ? softmax({5, length}) : layer_norm({2, 3, 1, length}, 3), text);
  expect_same(softmax({1, 33}), "cpu -threads=1");
  expect_same(softmax({97, 197}), "cpu -threads=2");  // large enough to run in parallel
  expect_same(layer_norm({2, 61, 97}, 2), "cpu -threads=2");
}

TEST(RowSchedule, RowsMayHaveSeveralAxes) {
  expect_same(layer_norm({3, 5, 33}, 1), "cpu -threads=2");
  expect_same(layer_norm({2, 3, 4, 1, 17}, 2), "cpu -threads=1");
}

TEST(RowSchedule, RefusesWhatIsNotMadeOfRows) {
  const codegen::Target target = codegen::parse_target("cpu -threads=1").value();
  const auto message = [&](const ir::Function& naive) {
    const auto made = schedule_rows(naive, target);
    return made ? std::string("none") : made.error().message;
  };
  const Tensor a = tensor::placeholder("a", {5, 7}), b = tensor::placeholder("b", {7, 5});
  const Tensor product = *tensor::matmul(a, b);
  const Tensor doubled = tensor::map("doubled", product, [](const ir::Expr& e) { return e + e; });
  EXPECT_EQ(message(tensor::lower("f", {a, b}, {product})), "rows: the result is no tensor made of rows");
  EXPECT_EQ(message(tensor::lower("f", {a, b}, {doubled})), "rows: a reduction does not run along rows");
  EXPECT_EQ(message(tensor::lower("f", {a}, {tensor::map("y", a, [](const ir::Expr& e) { return e + e; })})),
            "rows: there is no single result made of rows");
  EXPECT_EQ(message(tensor::lower("f", {a}, {*tensor::softmax(a, 0)})), "rows: a reduction does not run along rows");
  EXPECT_EQ(message(softmax({7})), "rows: there is no single result made of rows");
  EXPECT_EQ(message(softmax({7, 1})), "rows: 7 rows of 1 elements, allowed are 1 row and more of 2..65536");
  EXPECT_EQ(message(softmax({0, 5})), "rows: 0 rows of 5 elements, allowed are 1 row and more of 2..65536");
}

}  // namespace
}  // namespace hone::space
