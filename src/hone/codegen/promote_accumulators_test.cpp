#include "hone/codegen/promote_accumulators.h"

#include "hone/codegen/pass_test.h"

namespace hone::codegen {
namespace {

using namespace ir;

std::string promoted(std::string_view text) {
  const Function f = program(text), after = promote_accumulators(f);
  EXPECT_TRUE(verify(after)) << to_text(after);
  EXPECT_TRUE(same_values(f, after));
  return to_text(after);
}

TEST(PromoteAccumulators, AReductionStaysInRegistersFromItsInitialisationOn) {
  EXPECT_EQ(promoted(R"(func f(A: f32[64], C: f32[8]) {
  for i in 0..2 {
    C[ramp(i * 4, 1, 2)] = broadcast(0f32, 2)
    C[ramp(i * 4 + 2, 1, 2)] = broadcast(1f32, 2)
    for k in 0..8 {
      C[ramp(i * 4, 1, 2)] = C[ramp(i * 4, 1, 2)] + A[ramp(k * 8 + i * 4, 1, 2)]
      C[ramp(i * 4 + 2, 1, 2)] = C[ramp(i * 4 + 2, 1, 2)] + A[ramp(k * 8 + i * 4 + 2, 1, 2)]
    }
  }
}
)"),
            R"(func f(A: f32[64], C: f32[8]) {
  for i in 0..2 {
    alloc C_acc: f32[4] in register
    C_acc[ramp(0, 1, 2)] = broadcast(0f32, 2)
    C_acc[ramp(2, 1, 2)] = broadcast(1f32, 2)
    for k in 0..8 {
      C_acc[ramp(0, 1, 2)] = C_acc[ramp(0, 1, 2)] + A[ramp(k * 8 + i * 4, 1, 2)]
      C_acc[ramp(2, 1, 2)] = C_acc[ramp(2, 1, 2)] + A[ramp(k * 8 + i * 4 + 2, 1, 2)]
    }
    C[ramp(i * 4, 1, 2)] = C_acc[ramp(0, 1, 2)]
    C[ramp(i * 4 + 2, 1, 2)] = C_acc[ramp(2, 1, 2)]
  }
}
)");
}

/// Programs that must stay as they are.
void expect_unchanged(std::string_view text) { EXPECT_EQ(promoted(text), text); }

TEST(PromoteAccumulators, OverlappingElementsStayInMemory) {
  expect_unchanged(R"(func f(A: f32[8], C: f32[8]) {
  for k in 0..8 {
    C[ramp(0, 1, 4)] = C[ramp(0, 1, 4)] + broadcast(A[k], 4)
    C[3] = C[3] + A[k]
  }
}
)");
}

TEST(PromoteAccumulators, ElementsThatTheLoopReachesOtherwiseStayInMemory) {
  expect_unchanged(R"(func f(A: f32[8], C: f32[8]) {
  for k in 0..8 {
    C[0] = C[0] + C[k]
  }
}
)");
}

TEST(PromoteAccumulators, StoresThatMayNotHappenStayInMemory) {
  expect_unchanged(R"(func f(A: f32[8], C: f32[8]) {
  for k in 0..8 {
    if A[k] < 0f32 {
      C[0] = C[0] + A[k]
    }
  }
}
)");
}

TEST(PromoteAccumulators, LoopsThatMayNotRunAreLeftAlone) {
  expect_unchanged(R"(func f(A: f32[8], C: f32[8]) {
  for i in 0..8 {
    for k in 0..i {
      C[i] = C[i] + A[k]
    }
  }
}
)");
}

TEST(PromoteAccumulators, MaskedRowsThatWouldOverlapWithoutTheirMasksArePromoted) {
  const std::string after = promoted(R"(func f(A: f32[8], C: f32[6]) {
  for k in 0..8 {
    C[ramp(0, 1, 4)] = (C[ramp(0, 1, 4)] where ramp(0, 1, 4) < broadcast(3, 4)) + broadcast(A[k], 4) where ramp(0, 1, 4) < broadcast(3, 4)
    C[ramp(3, 1, 4)] = (C[ramp(3, 1, 4)] where ramp(0, 1, 4) < broadcast(3, 4)) + broadcast(A[k], 4) where ramp(0, 1, 4) < broadcast(3, 4)
  }
}
)");
  EXPECT_NE(after.find("C_acc: f32[8] in register"), std::string::npos) << after;
}

TEST(PromoteAccumulators, TheOutermostLoopThatKeepsTheElementIsChosen) {
  const std::string after = promoted(R"(func f(A: f32[16], m: f32[1]) {
  m[0] = -100f32
  for i in 0..4 {
    for j in 0..4 {
      m[0] = max(m[0], A[i * 4 + j])
    }
  }
}
)");
  EXPECT_EQ(after.find("alloc"), after.find("\n") + 3) << after;
}

}  // namespace
}  // namespace hone::codegen
