#include "hone/codegen/reduce_lanes.h"

#include "hone/codegen/pass_test.h"

namespace hone::codegen {
namespace {

using namespace ir;

int count_loops(const Function& f) {
  int loops = 0;
  walk(f.body, [&](const Stmt& s) { loops += s.as<For>() ? 1 : 0; });
  return loops;
}

/// How many loops are left of this program, `extent` and the store put in, after comparing values at several widths.
int loops_left(std::int64_t extent, const std::string& store, const std::string& annotation = "reduce_lanes(\"1\")") {
  const Function f =
      program("func f(x: f32[" + std::to_string(extent * 2) + "], y: f32[4]) {\n  y[1] = 3f32\n  for i in 0.." +
              std::to_string(extent) + " @" + annotation + " {\n    " + store + "\n  }\n}\n");
  for (const int vector_bits : {128, 256, 512}) {
    const Function after = reduce_lanes(f, vector_bits);
    EXPECT_TRUE(verify(after)) << to_text(after);
    EXPECT_TRUE(same_values(f, after)) << vector_bits << " bits";
  }
  return count_loops(reduce_lanes(f, 512));
}

TEST(ReduceLanes, CombinesWholeVectors) {
  for (const std::int64_t extent : {2, 4, 8, 16, 32, 64, 128}) {
    EXPECT_EQ(loops_left(extent, "y[1] = y[1] + x[i]"), 0) << extent;
    EXPECT_EQ(loops_left(extent, "y[1] = max(x[i + 1], y[1])"), 0) << extent;
    EXPECT_EQ(loops_left(extent, "y[1] = min(y[1], x[i * 2])"), 0) << extent;
  }
}

TEST(ReduceLanes, LeavesWhatIsNoReductionOfWholeVectors) {
  EXPECT_EQ(loops_left(7, "y[1] = y[1] + x[i]"), 1);                    // no power of two
  EXPECT_EQ(loops_left(24, "y[1] = y[1] + x[i]"), 1);                   // no whole vectors
  EXPECT_EQ(loops_left(1024, "y[1] = y[1] + x[i]"), 1);                 // too many
  EXPECT_EQ(loops_left(4, "y[i] = y[i] + x[i]"), 1);                    // no reduction
  EXPECT_EQ(loops_left(4, "y[1] = y[0] + x[i]"), 1);                    // another element
  EXPECT_EQ(loops_left(4, "y[1] = x[i] - y[1]"), 1);                    // not to be reordered
  EXPECT_EQ(loops_left(4, "y[1] = y[1] + y[1] * x[i]"), 1);             // read twice
  EXPECT_EQ(loops_left(16, "y[1] = y[1] + x[i]", "unroll(\"0\")"), 1);  // not asked for
}

}  // namespace
}  // namespace hone::codegen
