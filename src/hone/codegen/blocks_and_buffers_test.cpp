#include <gtest/gtest.h>

#include "hone/codegen/flatten_buffers.h"
#include "hone/codegen/hoist_inits.h"
#include "hone/codegen/lower_blocks.h"
#include "hone/codegen/mask_loads.h"
#include "hone/codegen/pass_test.h"
#include "hone/codegen/unroll_loops.h"

namespace hone::codegen {
namespace {

using namespace ir;

constexpr std::string_view kArgmax = R"(func argmax(A: f32[3, 5], V: f32[3], I: i64[3]) {
  for k in 0..5 {
    for i in 0..3 {
      block argmax {
        vi: spatial(3) = i
        vk: reduce(5) = k
        init {
          V[vi] = -100f32
          I[vi] = 0
        }
        let better: bool = V[vi] < A[vi, vk]
        V[vi] = select(better, A[vi, vk], V[vi])
        I[vi] = select(better, vk, I[vi])
      }
    }
  }
}
)";

bool has_init(const Function& f) {
  bool found = false;
  walk(f.body, [&](const Stmt& s) { found |= s.as<Block>() && s.get<Block>().init; });
  return found;
}

TEST(HoistInits, TwoOutputsAreInitialisedBeforeTheReductionLoop) {
  const Function f = program(kArgmax), after = hoist_inits(f);
  EXPECT_TRUE(verify(after)) << to_text(after);
  EXPECT_TRUE(same_values(f, after));
  EXPECT_FALSE(has_init(after)) << to_text(after);
}

TEST(HoistInits, AResultReadInsideTheReductionLoopKeepsItsGuard) {
  const Function f = program(R"(func f(A: f32[5], B: f32[5], C: f32[1]) {
  for k in 0..5 {
    block C {
      vk: reduce(5) = k
      init {
        C[0] = 0f32
      }
      C[0] = C[0] + A[vk]
    }
    block B {
      vk_1: spatial(5) = k
      B[vk_1] = C[0]
    }
  }
}
)");
  const Function after = hoist_inits(f);
  EXPECT_TRUE(has_init(after));
  EXPECT_TRUE(same_values(f, lower_blocks(after)));
}

TEST(LowerBlocks, LoopsThatABindingMakesNegativeRunNever) {
  const Function f = program(R"(func f(A: f32[7]) {
  if 100f32 < A[0] {
    block A {
      vi: spatial(7) = -3
      for j in 0..vi {
        A[j] = 1f32
      }
    }
  }
}
)");
  const Function after = lower_blocks(f);
  EXPECT_TRUE(verify(after)) << to_text(after);
  EXPECT_TRUE(same_values(f, after));
}

TEST(LowerBlocks, GuardsThatAlwaysHoldAreLeftOut) {
  const Function f = program(R"(func f(A: f32[7]) {
  for i.0 in 0..2 {
    for i.1 in 0..4 {
      block A {
        vi: spatial(7) = i.0 * 4 + i.1
        where i.0 * 4 + i.1 < 7 and i.0 * 4 + i.1 < 8 and 0 <= i.1
        A[vi] = 1f32
      }
    }
  }
}
)");
  EXPECT_EQ(to_text(lower_blocks(f).body), R"(for i.0 in 0..2 {
  for i.1 in 0..4 {
    if i.0 * 4 + i.1 < 7 {
      A[i.0 * 4 + i.1] = 1f32
    }
  }
}
)");
}

TEST(FlattenBuffers, StridesOfAllocatedBuffersFollowTheirAlignments) {
  const Function f = program(R"(func f(A: f32[3, 5, 2]) {
  alloc T: f32[3, 5, 2] align(1, 4, 3) align(0, 8, 0)
  for i in 0..3 {
    for j in 0..5 {
      for k in 0..2 {
        T[i, j, k] = A[i, j, k]
      }
    }
  }
  for l in 0..5 {
    A[0, l, 0] = T[2, l, 1]
  }
}
)");
  const Function after = flatten_buffers(f);
  EXPECT_TRUE(same_values(f, after));
  EXPECT_EQ(to_text(after), R"(func f(A: f32[30]) {
  alloc T: f32[48]
  for i in 0..3 {
    for j in 0..5 {
      for k in 0..2 {
        T[i * 16 + j * 3 + k] = A[i * 10 + j * 2 + k]
      }
    }
  }
  for l in 0..5 {
    A[l * 2] = T[l * 3 + 33]
  }
}
)");
}

TEST(FlattenBuffers, ScalarsBecomeOneElement) {
  const Function f = program("func f(A: f32[]) {\n  A[] = A[] + 1f32\n}\n");
  EXPECT_EQ(to_text(flatten_buffers(f)), "func f(A: f32[1]) {\n  A[0] = A[0] + 1f32\n}\n");
}

TEST(UnrollLoops, MarkedLoopsBecomeCopiesInOrder) {
  const Function f = program(R"(func f(A: f32[8]) {
  for i in 0..3 unrolled {
    for j in 0..2 {
      A[i * 2 + j] = A[i * 2 + j + 1]
    }
  }
  for z in 0..0 unrolled {
    A[z] = 0f32
  }
}
)");
  const Result<Function> after = unroll_loops(f);
  ASSERT_TRUE(after);
  EXPECT_TRUE(verify(*after)) << to_text(*after);
  EXPECT_TRUE(same_values(f, *after));
}

TEST(UnrollLoops, TheAnnotationUnrollsInnerLoopsWithinItsBudget) {
  const auto lines_with_budget = [](int budget) {
    const Function f = program(fmt::format(R"(func f(A: f32[24]) {{
  for i in 0..4 @unroll("{}") {{
    for j in 0..3 {{
      for k in 0..2 {{
        A[i * 6 + j * 2 + k] = 1f32
      }}
    }}
  }}
}}
)",
                                           budget));
    const Function after = unroll_loops(f).value();
    EXPECT_TRUE(same_values(f, after));
    int loops = 0;
    walk(after.body, [&](const Stmt& s) { loops += s.kind() == Kind::For; });
    return loops;
  };
  EXPECT_EQ(lines_with_budget(1), 3);
  EXPECT_EQ(lines_with_budget(2), 2);
  EXPECT_EQ(lines_with_budget(6), 1);
  EXPECT_EQ(lines_with_budget(24), 0);
}

TEST(UnrollLoops, WhatCannotBeUnrolledIsAnError) {
  const auto message = [](std::string_view text) {
    const Result<Function> after = unroll_loops(program(text));
    return after ? "" : after.error().message;
  };
  EXPECT_EQ(
      message(
          "func f(A: f32[8]) {\n  for i in 0..8 {\n    for j in 0..i unrolled {\n      A[j] = 0f32\n    }\n  }\n}\n"),
      "unroll: the extent of loop 'j' is i, only constants can be unrolled");
  EXPECT_EQ(message("func f(A: f32[90000]) {\n  for j in 0..90000 unrolled {\n    A[j] = 0f32\n  }\n}\n"),
            "unroll: loop 'j' would become 90000 statements, allowed are 16384");
  EXPECT_EQ(message("func f(A: f32[8]) {\n  for j in 0..8 @unroll(\"many\") {\n    A[j] = 0f32\n  }\n}\n"),
            "unroll: annotation 'unroll' of loop 'j' is 'many', not a number >= 0");
}

TEST(MaskLoads, OnlyLoadsThatMayLieOutsideAreMasked) {
  const Function f = program(R"(func f(A: f32[8], B: f32[8]) {
  for i in 0..8 {
    B[i] = select(1 <= i, A[i - 1], A[i]) + select(A[i] < 0f32, A[i], select(i < 7, A[i + 1], 0f32))
  }
}
)");
  const Function after = mask_loads(f);
  EXPECT_TRUE(same_values(f, after));
  EXPECT_EQ(to_text(after.body), R"(for i in 0..8 {
  B[i] = select(1 <= i, (A[i - 1] where 1 <= i), A[i]) + select(A[i] < 0f32, A[i], select(i < 7, (A[i + 1] where not A[i] < 0f32 and i < 7), 0f32))
}
)");
  EXPECT_EQ(to_text(mask_loads(after)), to_text(after)) << "once is enough";
}

TEST(MaskLoads, IntegersAreDividedByOneWhereTheConditionFails) {
  const Function f = program(R"(func f(A: i32[4], B: i32[4]) {
  for i in 0..4 {
    B[i] = select(A[i] == 0i32, 0i32, B[i] / A[i])
  }
}
)");
  const Function after = mask_loads(f);
  EXPECT_TRUE(same_values(f, after));
  EXPECT_NE(to_text(after).find("B[i] / select(not A[i] == 0i32, A[i], 1i32)"), std::string::npos) << to_text(after);
}

}  // namespace
}  // namespace hone::codegen
