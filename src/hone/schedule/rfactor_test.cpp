#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {
namespace {

using namespace tensor;
using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

TEST(Rfactor, SplitsAReductionInTwoEitherWay) {
  for (const std::int64_t k : {1, 2, 5, 8, 13})
    for (const std::string loop : {"k.0", "k.1"}) {
      const Program naive = matmul(3, 4, k);
      const Program p = checked(naive, split(naive, "k", Factors{kRest, 4}));
      const Program factored = checked(naive, rfactor(p, "C", loop));
      EXPECT_TRUE(prints(factored, "block C.rf"));
    }
}

TEST(Rfactor, OverTheOnlyReductionLoopStoresTheSources) {
  const Program naive = matmul(3, 4, 5);
  const Program p = checked(naive, rfactor(naive, "C", "k"));
  EXPECT_TRUE(prints(p, "C.rf[vk, vi, vj] = A[vi, vk] * B[vk, vj]")) << ir::to_text(p);
}

TEST(Rfactor, LetsThePartialResultsRunInParallelAndInLanes) {
  const Program naive = row_sums(2, 3, 50);
  Program p = checked(naive, split(naive, "k", Factors{kRest, 8}));
  p = checked(naive, rfactor(p, "R", "k.1"));
  p = checked(naive, vectorize(p, "k.1"));
  Program q = checked(naive, split(naive, "k", Factors{4, kRest}));
  q = checked(naive, rfactor(q, "R", "k.0"));
  q = checked(naive, reorder(q, Loops{"k.0", "i"}));
  q = checked(naive, parallel(q, "k.0"));
}

TEST(Rfactor, KnowsEveryReductionOfOneOutput) {
  const Tensor a = placeholder("A", {3, 7});
  const Tensor flags = placeholder("F", {3, 7}, ir::kBool);
  const Tensor whole = placeholder("G", {3, 7}, ir::kI32);
  const auto over_row = [](auto reduce, const Tensor& t) {
    return compute("R", {3}, [&](const Indices& i) {
      return reduce({{"k", 7}}, [&](const Indices& r) { return t(i[0], r[0]); });
    });
  };
  const std::vector<Program> programs = {
      lower("prod", {a}, {over_row(reduce_prod, a)}),       lower("max", {a}, {over_row(reduce_max, a)}),
      lower("min", {a}, {over_row(reduce_min, a)}),         lower("any", {flags}, {over_row(reduce_any, flags)}),
      lower("all", {flags}, {over_row(reduce_all, flags)}), lower("max", {whole}, {over_row(reduce_max, whole)}),
      lower("sum", {whole}, {over_row(reduce_sum, whole)}), lower("min", {whole}, {over_row(reduce_min, whole)}),
  };
  for (const Program& naive : programs)
    for (const std::string loop : {"k.0", "k.1"}) {
      const Program p = checked(naive, split(naive, "k", Factors{kRest, 3}));
      checked(naive, rfactor(p, "R", loop));
    }
}

TEST(Rfactor, KeepsTheFirstOfEqualMaxima) {
  for (const std::int64_t m : {1, 5, 12})
    for (const std::string loop : {"k.0", "k.1"}) {
      const Program naive = argmax(4, m);
      const Program p = checked(naive, split(naive, "k", Factors{kRest, 4}));
      checked(naive, rfactor(p, "V", loop));
    }
}

TEST(Rfactor, WorksOnSeveralReductionLoopsInAnyOrder) {
  const Program naive = convolution(3, 2, 4, 1);
  Program p = checked(naive, split(naive, "c", Factors{kRest, 2}));
  p = checked(naive, reorder(p, Loops{"s", "f", "c.1"}));
  p = checked(naive, rfactor(p, "C", "c.1"));
  checked(naive, rfactor(p, "C.rf", "s"));
}

TEST(Rfactor, RefusesWithTheReason) {
  const Program p = row_sums(4, 3, 8);
  const std::string before = ir::to_text(p);
  EXPECT_EQ(refusal(rfactor(p, "R", "i")), "rfactor: loop 'i' is not a reduction loop of block 'R'");
  EXPECT_EQ(refusal(rfactor(p, "R", "j")), "rfactor: loop 'j' is not around block 'R'");
  EXPECT_EQ(refusal(rfactor(p, "X", "k")), "rfactor: no block 'X', the blocks are R, D");
  EXPECT_EQ(refusal(rfactor(*decompose_reduction(p, "R", "k"), "R", "k")),
            "rfactor: block 'R' is a reduction initialised elsewhere");
  EXPECT_EQ(refusal(rfactor(*compute_at(p, "R", "j"), "R", "k")),
            "rfactor: buffer 'R' is read by block 'D' in the nest of block 'R'");
  EXPECT_EQ(ir::to_text(p), before);

  const Tensor a = placeholder("A", {4});
  const Combiner keep_last{.identity = {ir::constant(ir::kF32, 0.0)},
                           .combine = [](const std::vector<ir::Expr>& old, const std::vector<ir::Expr>& next) {
                             return std::vector<ir::Expr>{old[0] * ir::constant(ir::kF32, 0.5) + next[0]};
                           }};
  const Tensor b = compute("B", {2}, [&](const Indices&) {
    return reduce({{"k", 4}}, keep_last, [&](const Indices& r) { return std::vector<ir::Expr>{a(r)}; });
  });
  EXPECT_EQ(refusal(rfactor(lower("decay", {a}, {b}), "B", "k")),
            "rfactor: block 'B' does not combine by sum, product, minimum, maximum, and, or, or one selection");
}

}  // namespace
}  // namespace hone::schedule
