#include "hone/schedule/multi_stage.h"

#include <gtest/gtest.h>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/schedule/testing.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {

using namespace tensor;
using ir::Expr;

Program chain(std::int64_t n, std::int64_t m) {
  const Tensor a = placeholder("A", {n, m});
  const Expr zero = ir::constant(ir::kF32, 0.0), one = ir::constant(ir::kF32, 1.0), two = ir::constant(ir::kF32, 2.0);
  const Tensor b = compute("B", {n, m}, [&](const Indices& i) { return a(i) * two + one; });
  const Tensor c = compute("C", {n, m}, [&](const Indices& i) { return ir::max(b(i), zero); });
  const Tensor d = compute("D", {n, m}, [&](const Indices& i) { return c(i) + a(i); });
  return lower("chain", {a}, {d});
}

Program blur(std::int64_t n, std::int64_t m) {
  const Tensor a = placeholder("A", {n + 2, m + 2});
  const Tensor x =
      compute("X", {n + 2, m}, [&](const Indices& i) { return a(i[0], i[1]) + a(i[0], i[1] + 1) + a(i[0], i[1] + 2); });
  const Tensor y =
      compute("Y", {n, m}, [&](const Indices& i) { return x(i[0], i[1]) + x(i[0] + 1, i[1]) + x(i[0] + 2, i[1]); });
  return lower("blur", {a}, {y});
}

Program convolution(std::int64_t channels, std::int64_t filters, std::int64_t n, std::int64_t stride) {
  const Tensor image = placeholder("image", {channels, n, n}), weights = placeholder("W", {filters, channels, 3, 3});
  const Tensor bias = placeholder("bias", {filters});
  const Expr zero = ir::constant(ir::kF32, 0.0);
  const std::int64_t out = (n - 1) / stride + 1;
  const Tensor padded = compute("P", {channels, n + 2, n + 2}, [&](const Indices& i) {
    const Expr y = i[1] - 1, x = i[2] - 1;
    const Expr inside = ir::logical_and(ir::logical_and(y >= 0, y < n), ir::logical_and(x >= 0, x < n));
    return ir::select(inside, image(i[0], y, x), zero);
  });
  const Tensor conv = compute("C", {{"f", filters}, {"y", out}, {"x", out}}, [&](const Indices& i) {
    return reduce_sum({{"c", channels}, {"r", 3}, {"s", 3}}, [&](const Indices& r) {
      return padded(r[0], i[1] * stride + r[1], i[2] * stride + r[2]) * weights(i[0], r[0], r[1], r[2]);
    });
  });
  const Tensor biased = compute("D", {filters, out, out}, [&](const Indices& i) { return conv(i) + bias(i[0]); });
  const Tensor relu = compute("R", {filters, out, out}, [&](const Indices& i) { return ir::max(biased(i), zero); });
  return lower("convolution", {image, weights, bias}, {relu});
}

Program softmax(std::int64_t n, std::int64_t m) {
  const Tensor a = placeholder("A", {n, m});
  const Tensor highest = compute("M", {n}, [&](const Indices& i) {
    return reduce_max({{"k", m}}, [&](const Indices& r) { return a(i[0], r[0]); });
  });
  const Tensor powers =
      compute("E", {n, m}, [&](const Indices& i) { return ir::call(ir::Intrinsic::Exp, {a(i) - highest(i[0])}); });
  const Tensor total = compute("S", {n}, [&](const Indices& i) {
    return reduce_sum({{"k", m}}, [&](const Indices& r) { return powers(i[0], r[0]); });
  });
  const Tensor result = compute("D", {n, m}, [&](const Indices& i) { return powers(i) / total(i[0]); });
  return lower("softmax", {a}, {result});
}

Program row_sums(std::int64_t n, std::int64_t m, std::int64_t k) {
  const Tensor a = placeholder("A", {n, k}), b = placeholder("B", {m});
  const Tensor sums = compute("R", {n}, [&](const Indices& i) {
    return reduce_sum({{"k", k}}, [&](const Indices& r) { return a(i[0], r[0]); });
  });
  const Tensor d = compute("D", {n, m}, [&](const Indices& i) { return sums(i[0]) * b(i[1]); });
  return lower("row_sums", {a, b}, {d});
}

Program argmax(std::int64_t n, std::int64_t m) {
  const Tensor a = placeholder("A", {n, m});
  const std::vector<Tensor> best = compute_all({"V", "I"}, {n}, [&](const Indices& i) {
    return reduce_argmax({{"k", m}}, [&](const Indices& r) { return a(i[0], r[0]); });
  });
  return lower("argmax", {a}, best);
}

Program checked(const Program& naive, const Result<Program>& now) {
  if (!now) {
    ADD_FAILURE() << now.error().message;
    return naive;
  }
  const std::string text = ir::to_text(*now);
  if (const Result<void> verified = ir::verify(*now); !verified)
    ADD_FAILURE() << verified.error().message << "\n" << text;
  const Result<ir::Function> read = ir::parse_function(text);
  EXPECT_TRUE(read && ir::equal(*read, *now)) << (read ? "" : read.error().message) << "\n" << text;
  EXPECT_TRUE(same_values(naive, *now));
  return *now;
}

std::string refusal(const Result<Program>& now) {
  return now ? "no error in\n" + ir::to_text(*now) : now.error().message;
}

std::size_t top_level_count(const Program& program) {
  ir::Stmt body = program.body;
  while (body.as<ir::Allocate>()) body = body.get<ir::Allocate>().body;
  return body.as<ir::Seq>() ? body.get<ir::Seq>().stmts.size() : 1;
}

bool prints(const Program& program, std::string_view part) {
  return ir::to_text(program).find(part) != std::string::npos;
}

}  // namespace hone::schedule
