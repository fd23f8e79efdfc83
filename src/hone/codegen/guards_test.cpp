#include <gtest/gtest.h>

#include "hone/codegen/hoist_guards.h"
#include "hone/codegen/partition_loops.h"
#include "hone/codegen/pass_test.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {
namespace {

using namespace ir;

/// The program with guards hoisted and loops partitioned, checked against the interpreter.
std::string partitioned(std::string_view text) {
  const Function f = program(text), after = partition_loops(hoist_guards(f));
  EXPECT_TRUE(verify(after)) << to_text(after);
  EXPECT_TRUE(same_values(f, after));
  return to_text(after);
}

TEST(PartitionLoops, ATailIsSplitOffAndCutToItsLength) {
  EXPECT_EQ(partitioned(R"(func f(A: f32[100]) {
  for i.0 in 0..7 {
    for i.1 in 0..16 {
      if i.0 * 16 + i.1 < 100 {
        A[i.0 * 16 + i.1] = 0f32
      }
    }
  }
}
)"),
            R"(func f(A: f32[100]) {
  for i.0 in 0..6 {
    for i.1 in 0..16 {
      A[i.0 * 16 + i.1] = 0f32
    }
  }
  for i.1_1 in 0..4 {
    A[i.1_1 + 96] = 0f32
  }
}
)");
}

TEST(PartitionLoops, ParallelLoopsBranchInstead) {
  EXPECT_EQ(partitioned(R"(func f(A: f32[100]) {
  for i.0 in 0..7 parallel {
    for i.1 in 0..16 {
      if i.0 * 16 + i.1 < 100 {
        A[i.0 * 16 + i.1] = 0f32
      }
    }
  }
}
)"),
            R"(func f(A: f32[100]) {
  for i.0 in 0..7 parallel {
    if i.0 < 6 {
      for i.1 in 0..16 {
        A[i.0 * 16 + i.1] = 0f32
      }
    } else {
      for i.1_1 in 0..4 {
        A[i.1_1 + 96] = 0f32
      }
    }
  }
}
)");
}

TEST(PartitionLoops, FusedLoopsAskOnceForTheWholeTile) {
  const std::string after = partitioned(R"(func f(A: f32[100, 3]) {
  for i.0@j in 0..21 parallel {
    for i.1 in 0..16 {
      if i.0@j // 3 * 16 + i.1 < 100 {
        A[i.0@j // 3 * 16 + i.1, i.0@j % 3] = 1f32
      }
    }
  }
}
)");
  EXPECT_NE(after.find("if i.0@j // 3 < 6"), std::string::npos) << after;
}

TEST(PartitionLoops, LowerAndUpperBordersOfAWindow) {
  partitioned(R"(func f(A: f32[14], B: f32[14]) {
  for i in 0..14 {
    B[i] = 0f32
    for k in 0..3 {
      if 0 <= i + k - 1 and i + k - 1 < 14 {
        B[i] = B[i] + A[i + k - 1]
      }
    }
  }
}
)");
}

TEST(PartitionLoops, SeveralGuardsAndAnElse) {
  partitioned(R"(func f(A: f32[40], B: f32[40]) {
  for i in 0..40 {
    if i < 7 {
      A[i] = 1f32
    } else {
      A[i] = 2f32
    }
    if i < 31 {
      B[i] = A[i]
    }
    if 50 < i {
      B[i] = 9f32
    }
  }
}
)");
}

TEST(HoistGuards, GuardsMoveOutOfLoopsThatDoNotChangeThem) {
  const Function f = program(R"(func f(A: f32[3, 5], B: f32[3, 5]) {
  for i in 0..4 {
    for j in 0..8 {
      if i < 3 and j < 5 {
        A[i, j] = 0f32
      }
      if i < 3 and j < 5 {
        B[i, j] = 0f32
      }
    }
  }
}
)");
  const Function after = hoist_guards(f);
  EXPECT_TRUE(same_values(f, after));
  EXPECT_EQ(to_text(after.body), R"(for i in 0..4 {
  if i < 3 {
    for j in 0..8 {
      if j < 5 {
        A[i, j] = 0f32
        B[i, j] = 0f32
      }
    }
  }
}
)");
}

TEST(HoistGuards, GuardsThatReadMemoryStay) {
  const Function f = program(R"(func f(A: f32[4]) {
  for i in 0..4 {
    if A[0] < 1f32 {
      A[i] = A[i] + 1f32
    }
  }
}
)");
  EXPECT_EQ(to_text(hoist_guards(f)), to_text(f));
}

}  // namespace
}  // namespace hone::codegen
