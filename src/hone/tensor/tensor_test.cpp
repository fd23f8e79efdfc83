#include "hone/tensor/tensor.h"

#include <array>
#include <gtest/gtest.h>
#include <limits>

#include "hone/ir/interpret.h"
#include "hone/ir/rewrite.h"
#include "hone/tensor/lower.h"

namespace hone::tensor {
namespace {

using ir::Array;
using ir::Expr;

void run(const ir::Function& function, std::vector<Array*> args) {
  const Result<void> done = ir::interpret(function, args);
  ASSERT_TRUE(done) << done.error().message;
}

std::vector<std::string> loop_names(const ir::Function& function) {
  std::vector<std::string> names;
  ir::walk(function.body, [&](const ir::Stmt& s) {
    if (const ir::For* loop = s.as<ir::For>()) names.push_back(ir::name_of(loop->var));
  });
  return names;
}

std::vector<const ir::Block*> blocks(const ir::Function& function) {
  std::vector<const ir::Block*> found;
  ir::walk(function.body, [&](const ir::Stmt& s) {
    if (const ir::Block* block = s.as<ir::Block>()) found.push_back(block);
  });
  return found;
}

Tensor product(const Tensor& a, const Tensor& b) {
  return compute("C", {a.extent(0), b.extent(1)}, [&](const Indices& i) {
    return reduce_sum({a.extent(1)}, [&](const Indices& r) { return a(i[0], r[0]) * b(r[0], i[1]); });
  });
}

TEST(Lower, MatmulIsOneBlockWithInitInAPerfectNest) {
  const Tensor a = placeholder("A", {5, 7}), b = placeholder("B", {7, 3});
  const ir::Function f = lower("matmul", {a, b}, {product(a, b)});
  EXPECT_EQ(loop_names(f), (std::vector<std::string>{"i", "j", "k"}));
  ASSERT_EQ(blocks(f).size(), 1u);
  const ir::Block& block = *blocks(f)[0];
  EXPECT_EQ(block.name, "C");
  EXPECT_TRUE(block.init);
  ASSERT_EQ(block.iters.size(), 3u);
  EXPECT_EQ(ir::name_of(block.iters[2].var), "vk");
  EXPECT_EQ(block.iters[1].kind, ir::IterKind::Spatial);
  EXPECT_EQ(block.iters[2].kind, ir::IterKind::Reduce);
}

TEST(Lower, MatmulComputesTheProduct) {
  const Tensor a = placeholder("A", {5, 7}), b = placeholder("B", {7, 3});
  Rng rng(1);
  Array x = random_whole(rng, ir::kF32, {5, 7}), y = random_whole(rng, ir::kF32, {7, 3}), z(ir::kF32, {5, 3});
  run(lower("matmul", {a, b}, {product(a, b)}), {&x, &y, &z});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 7; ++k) sum += x.float_at(i * 7 + k) * y.float_at(k * 3 + j);
      EXPECT_EQ(z.float_at(i * 3 + j), sum);
    }
}

TEST(Lower, AReductionOverAnEmptyAxisIsItsIdentity) {
  const Tensor a = placeholder("A", {2, 0}), b = placeholder("B", {0, 3});
  Array x(ir::kF32, {2, 0}), y(ir::kF32, {0, 3}), z(ir::kF32, {2, 3});
  z.set(4, 9.0);
  const ir::Function f = lower("matmul", {a, b}, {product(a, b)});
  run(f, {&x, &y, &z});
  EXPECT_EQ(z.float_at(4), 0.0);
  EXPECT_EQ(loop_names(f), (std::vector<std::string>{"i", "j"}));
}

TEST(Lower, EmptySpatialAxesRunNothing) {
  const Tensor a = placeholder("A", {0, 4}), b = placeholder("B", {4, 3});
  Array x(ir::kF32, {0, 4}), y(ir::kF32, {4, 3}), z(ir::kF32, {0, 3});
  run(lower("matmul", {a, b}, {product(a, b)}), {&x, &y, &z});
}

TEST(Lower, StagesAreOrderedAndNamedApart) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = compute("B", {{"x", 4}}, [&](const Indices& i) { return a(i) + 1; });
  const Tensor c = compute("B", {{"x", 4}}, [&](const Indices& i) { return b(i) * 2; });
  const Tensor d = compute("D", {{"x", 4}}, [&](const Indices& i) { return b(i) + c(i); });
  const ir::Function f = lower("stages", {a}, {d});
  EXPECT_EQ(loop_names(f), (std::vector<std::string>{"x", "x_1", "x_2"}));
  ASSERT_EQ(blocks(f).size(), 3u);
  EXPECT_EQ(blocks(f)[0]->name, "B");
  EXPECT_EQ(blocks(f)[1]->name, "B_1");
  EXPECT_EQ(blocks(f)[2]->name, "D");
  Array x(ir::kF32, {4}), y(ir::kF32, {4});
  x.set(2, 5.0);
  run(f, {&x, &y});
  EXPECT_EQ(y.float_at(2), 18.0);
}

TEST(Lower, LoopsAvoidTheNamesOfBuffers) {
  const Tensor a = placeholder("i", {4}), b = placeholder("vj", {4});
  const Tensor c = compute("C", {4, 4}, [&](const Indices& i) { return a(i[0]) + b(i[1]); });
  EXPECT_EQ(loop_names(lower("f", {a, b}, {c})), (std::vector<std::string>{"i_1", "j_1"}));
}

TEST(Lower, ScalarsNeedNoLoop) {
  const Tensor a = placeholder("A", {}, ir::kI32);
  const Tensor b = compute("B", {}, [&](const Indices&) { return a(Indices{}) + 1; });
  Array x(ir::kI32, {}), y(ir::kI32, {});
  x.set(0, std::int64_t{41});
  run(lower("next", {a}, {b}), {&x, &y});
  EXPECT_EQ(y.int_at(0), 42);
}

TEST(Lower, AnInputMayBeAComputeThatIsCutOff) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = compute("B", {4}, [&](const Indices& i) { return a(i) + 1; });
  const Tensor c = compute("C", {4}, [&](const Indices& i) { return b(i) + 1; });
  EXPECT_EQ(blocks(lower("tail", {b}, {c})).size(), 1u);
}

TEST(Lower, MistakesAreCaught) {
  const Tensor a = placeholder("A", {4}), b = placeholder("B", {4});
  const Tensor c = compute("C", {4}, [&](const Indices& i) { return a(i) + b(i); });
  EXPECT_THROW(lower("f", {a}, {c}), InternalError) << "B is missing";
  EXPECT_THROW(lower("f", {a, b}, {c, c}), InternalError) << "C is listed twice";
  const Expr outside = a(ir::imm(0));
  const Tensor d = compute("D", {4}, [&](const Indices& i) { return b(i) + outside; });
  EXPECT_THROW(lower("f", {b}, {d}), InternalError) << "A is read outside the body";
}

struct Best {
  double value;
  std::int64_t place;
};

Best find_best(Reduction (*reduction)(std::vector<Axis>, Source, ir::DType), const std::vector<double>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const Tensor a = placeholder("A", {count});
  const std::vector<Tensor> best = compute_all({"best", "place"}, {}, [&](const Indices&) {
    return reduction({count}, [&](const Indices& r) { return a(r); }, ir::kI64);
  });
  Array x(ir::kF32, {count}), value(ir::kF32, {}), place(ir::kI64, {});
  for (std::int64_t i = 0; i < count; ++i) x.set(i, values[static_cast<std::size_t>(i)]);
  run(lower("best", {a}, best), {&x, &value, &place});
  return {value.float_at(0), place.int_at(0)};
}

TEST(Reduce, ArgmaxAndArgminTakeTheFirstOfEqualValues) {
  EXPECT_EQ(find_best(reduce_argmax, {1, 3, 2, 3}).place, 1);
  EXPECT_EQ(find_best(reduce_argmax, {1, 3, 2, 3}).value, 3);
  EXPECT_EQ(find_best(reduce_argmin, {5, 2, 7, 2}).place, 1);
}

TEST(Reduce, ArgmaxTakesNanOnlyIfNothingElseIsThere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(find_best(reduce_argmax, {nan, -7, nan}).place, 1);
  EXPECT_EQ(find_best(reduce_argmax, {nan, nan}).place, 0);
  EXPECT_EQ(find_best(reduce_argmax, {-infinity, -infinity}).place, 0);
  EXPECT_EQ(find_best(reduce_argmin, {nan, infinity, 4}).place, 2);
}

TEST(Reduce, EveryCombinerHasItsIdentity) {
  const Tensor a = placeholder("A", {0}, ir::kI8), flags = placeholder("flags", {0}, ir::kBool);
  const auto element = [&](const Indices& r) { return a(r); };
  const auto flag = [&](const Indices& r) { return flags(r); };
  const std::vector<std::pair<Reduction, std::int64_t>> cases = {
      {reduce_sum({0}, element), 0},   {reduce_prod({0}, element), 1}, {reduce_max({0}, element), -128},
      {reduce_min({0}, element), 127}, {reduce_any({0}, flag), 0},     {reduce_all({0}, flag), 1}};
  for (const auto& [reduction, identity] : cases) {
    const Tensor b = compute("B", {}, [&](const Indices&) { return reduction; });
    Array y(b.type(), {});
    run(lower("f", {}, {b}), {&y});
    EXPECT_EQ(y.int_at(0), identity);
  }
}

TEST(Reduce, OverNoAxesIsTheSource) {
  const Tensor a = placeholder("A", {3});
  const Tensor b =
      compute("B", {3}, [&](const Indices& i) { return reduce_max({}, [&](const Indices&) { return a(i); }); });
  const ir::Function f = lower("f", {a}, {b});
  EXPECT_FALSE(blocks(f)[0]->init);
  Array x(ir::kF32, {3}), y(ir::kF32, {3});
  x.set(1, 4.0);
  run(f, {&x, &y});
  EXPECT_EQ(max_difference(x, y), 0);
}

TEST(Reduce, AnyCombinerMayHaveSeveralOutputs) {
  const Tensor a = placeholder("A", {2, 3}, ir::kI32);
  const Expr zero = ir::constant(ir::kI32, std::int64_t{0});
  const Combiner sums{.identity = {zero, zero}, .combine = [](const std::vector<Expr>& x, const std::vector<Expr>& y) {
                        return std::vector<Expr>{x[0] + y[0], x[1] + y[1]};
                      }};
  const std::vector<Tensor> both = compute_all({"sum", "squares"}, {2}, [&](const Indices& i) {
    return reduce({3}, sums, [&](const Indices& r) {
      const Expr x = a(i[0], r[0]);
      return std::vector<Expr>{x, x * x};
    });
  });
  Array x(ir::kI32, {2, 3}), sum(ir::kI32, {2}), squares(ir::kI32, {2});
  for (std::int64_t i = 0; i < 6; ++i) x.set(i, i);
  run(lower("sums", {a}, both), {&x, &sum, &squares});
  EXPECT_EQ(sum.int_at(1), 12);
  EXPECT_EQ(squares.int_at(1), 50);
}

}  // namespace
}  // namespace hone::tensor
