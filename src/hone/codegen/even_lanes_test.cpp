#include "hone/codegen/even_lanes.h"

#include <gtest/gtest.h>

#include "hone/codegen/pass_test.h"
#include "hone/schedule/primitives.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::codegen {
namespace {

using namespace ir;

TEST(EvenLanes, SeesARampThroughDigits) {
  const Expr lane = make(Ramp{imm(0), imm(1)}, 64), row = var("row"), rows = make(Broadcast{row}, 64);
  EXPECT_EQ(to_text(even_lanes((rows * 16 + floor_div(lane, 4)) * 4 + floor_mod(lane, 4), {})),
            "ramp(row * 64, 1, 64)");
  EXPECT_EQ(to_text(even_lanes(floor_div(lane, 64) + rows, {})), "broadcast(row, 64)");
}

TEST(EvenLanes, LeavesOtherVectorsAlone) {
  const Expr lane = make(Ramp{imm(0), imm(1)}, 8), row = var("row");
  const Expr loaded = load(buffer("T", kI64, std::vector<std::int64_t>{8}), {lane});
  for (const Expr& e : {lane, row, Expr(floor_mod(lane, 4)), Expr(loaded + lane), Expr(floor_div(lane, 2) * 8)})
    EXPECT_TRUE(even_lanes(e, {}).is(e)) << to_text(e);
}

TEST(EvenLanes, LetAnIntrinsicLoadPackedWeightsAsOneVector) {
  const tensor::Tensor a = tensor::placeholder("A", {3, 8}, kU8), b = tensor::placeholder("B", {8, 32}, kI8);
  const tensor::Tensor c = tensor::compute("C", {{"i", 3}, {"j", 32}}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum(
        {{"k", 8}}, [&](const tensor::Indices& r) { return cast(kI32, a(i[0], r[0])) * cast(kI32, b(r[0], i[1])); });
  });
  const Function naive = tensor::lower("matmul", {a, b}, {c});
  using Factors = std::vector<std::int64_t>;
  Function p = *schedule::transform_layout(naive, "B", "(k, n) -> (n // 16, k // 4, n % 16, k % 4)");
  p = *schedule::split(p, "j", Factors{2, 16});
  p = *schedule::split(p, "k", Factors{2, 4});
  p = *schedule::reorder(p, std::vector<std::string>{"i", "j.0", "k.0", "j.1", "k.1"});
  p = *schedule::decompose_reduction(p, "C", "k.0");
  p = *schedule::tensorize(p, "j.1", "dot4_u8i8i32x16");
  const Result<Function> lowered = lower(p, *parse_target("x86-64 -mattr=+avx512"));
  ASSERT_TRUE(lowered) << lowered.error().message;
  EXPECT_TRUE(same_values(naive, *lowered));
  const std::string text = to_text(*lowered);
  EXPECT_NE(text.find("dot4("), std::string::npos) << text;
  EXPECT_EQ(text.find("broadcast(4, 64)"), std::string::npos) << text;
}

}  // namespace
}  // namespace hone::codegen
