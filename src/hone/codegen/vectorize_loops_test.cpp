#include "hone/codegen/vectorize_loops.h"

#include "hone/codegen/mask_loads.h"
#include "hone/codegen/pass_test.h"

namespace hone::codegen {
namespace {

using namespace ir;

/// The program with its loads masked and its loops vectorized, checked against the interpreter at several widths.
Function vectorized(std::string_view text) {
  const Function f = program(text);
  for (const int vector_bits : {128, 256, 512}) {
    const Function after = vectorize_loops(mask_loads(f), vector_bits);
    EXPECT_TRUE(verify(after)) << to_text(after);
    EXPECT_TRUE(same_values(f, after)) << vector_bits << " bits";
    walk(after.body, [&](const Stmt& s) {
      EXPECT_FALSE(s.as<For>() && s.get<For>().how == ForKind::Vectorized) << to_text(after);
    });
  }
  return vectorize_loops(mask_loads(f), 512);
}

int count(const Function& f, Kind kind) {
  int found = 0;
  walk(f.body, [&](const Stmt& s) { found += s.kind() == kind; }, [&](const Expr& e) { found += e.kind() == kind; });
  return found;
}

TEST(VectorizeLoops, TailsBecomeMasksAndLanesShareWhatDoesNotDependOnThem) {
  const Function f = vectorized(R"(func f(A: f32[100], s: f32[7], B: f32[100]) {
  for i.0 in 0..7 {
    for i.1 in 0..16 vectorized {
      if i.0 * 16 + i.1 < 100 {
        B[i.0 * 16 + i.1] = A[i.0 * 16 + i.1] * s[i.0] + 1f32
      }
    }
  }
}
)");
  EXPECT_EQ(count(f, Kind::If), 0) << "the first lane of the last part is inside\n" << to_text(f);
}

TEST(VectorizeLoops, AGuardThatMayFailForAllLanesStaysABranch) {
  const Function f = vectorized(R"(func f(A: f32[100], s: f32[7], B: f32[100]) {
  for i.0 in 0..9 {
    for i.1 in 0..16 vectorized {
      if i.0 * 16 + i.1 < 100 {
        B[i.0 * 16 + i.1] = A[i.0 * 16 + i.1] * s[i.0]
      }
    }
  }
}
)");
  EXPECT_EQ(count(f, Kind::If), 1) << "s[7] must not be loaded\n" << to_text(f);
}

TEST(VectorizeLoops, OddExtentsAndMixedTypes) {
  for (const int extent : {0, 1, 2, 3, 7, 13, 16, 17, 31, 64, 67})
    for (const char* type : {"f32", "f16", "i8", "f64", "u8"})
      vectorized(fmt::format(R"(func f(A: {1}[{0}], B: i32[{0}], C: {1}[{0}]) {{
  for i in 0..{0} vectorized {{
    C[i] = A[i] + {1}(B[i])
    B[i] = B[i] + i32(i)
  }}
}}
)",
                             extent, type));
}

TEST(VectorizeLoops, StridesGathersAndReversedLanes) {
  vectorized(R"(func f(I: i32[16], A: f32[64], B: f32[64]) {
  for i in 0..16 vectorized {
    B[i * 4] = A[i * 3 + 1]
    B[i * 4 + 1] = A[15 - i]
    B[i * 4 + 2] = A[i64(I[i]) % 5]
    B[i * 4 + 3] = A[i // 4] + A[i % 4]
  }
}
)");
}

TEST(VectorizeLoops, SidesOfASelectMayReachOutOfBounds) {
  vectorized(R"(func f(A: f32[16], s: f32[1], B: f32[18]) {
  for i in 0..18 vectorized {
    B[i] = select(1 <= i and i < 17, A[i - 1], s[0]) + select(i < 1, s[i], 2f32)
  }
}
)");
}

TEST(VectorizeLoops, MaskedLanesDoNotDivideByZero) {
  vectorized(R"(func f(A: i32[13], B: i32[13]) {
  for i in 0..13 {
    B[i] = 3i32
  }
  for j in 0..16 vectorized {
    if j < 13 {
      A[j] = A[j] / B[j] + A[j] // B[j] + A[j] % B[j]
    }
  }
}
)");
}

TEST(VectorizeLoops, InnerLoopsStayLoopsAroundVectors) {
  const Function f = vectorized(R"(func f(A: f32[384], B: f32[48]) {
  for j in 0..48 vectorized {
    B[j] = 0f32
    for k in 0..8 {
      B[j] = B[j] + A[k * 48 + j]
    }
  }
}
)");
  EXPECT_EQ(count(f, Kind::For), 3) << "k, and the three vectors of each statement\n" << to_text(f);
}

TEST(VectorizeLoops, LoopsWhoseLanesDifferAreSerial) {
  vectorized(R"(func f(A: f32[16], B: f32[16]) {
  for i in 0..16 vectorized {
    B[i] = 0f32
    for k in 0..i {
      B[i] = B[i] + A[k]
    }
  }
}
)");
}

TEST(VectorizeLoops, SumsIntoOneElementAreSerial) {
  vectorized(R"(func f(A: f32[16], B: f32[1]) {
  B[0] = 0f32
  for i in 0..16 vectorized {
    B[0] = B[0] + A[i]
  }
}
)");
}

TEST(VectorizeLoops, LetsWidenWithTheirValues) {
  vectorized(R"(func f(A: f32[16], B: f32[16], I: i64[16]) {
  for i in 0..16 vectorized {
    let x: f32 = A[i] * 2f32
    let n: i64 = i + 1
    B[i] = x * x
    I[i] = n
  }
}
)");
}

TEST(VectorizeLoops, OnlyTheInnerOfNestedVectorizedLoopsBecomesVectors) {
  vectorized(R"(func f(A: f32[64]) {
  for i in 0..4 vectorized {
    for j in 0..16 vectorized {
      A[i * 16 + j] = A[i * 16 + j] + 1f32
    }
  }
}
)");
}

}  // namespace
}  // namespace hone::codegen
