#include "hone/codegen/compact_buffers.h"

#include "hone/codegen/pass_test.h"

namespace hone::codegen {
namespace {

using namespace ir;

/// The compacted program, checked against the interpreter.
Function compacted(std::string_view text) {
  const Function f = program(text), after = compact_buffers(f);
  EXPECT_TRUE(verify(after)) << to_text(after);
  EXPECT_TRUE(same_values(f, after));
  return after;
}

/// How often a loop stands around the allocation of a buffer, and the buffer's shape.
struct Place {
  int depth = -1;
  std::vector<std::int64_t> shape;
  bool operator==(const Place&) const = default;
};

void find_place(const Stmt& s, std::string_view name, int depth, Place& found) {
  const Allocate* allocation = s.as<Allocate>();
  if (allocation && name_of(allocation->buffer) == name) found = {depth, shape_of(allocation->buffer)};
  for_each_child(
      s, [&](const Stmt& child) { find_place(child, name, depth + (s.as<For>() ? 1 : 0), found); }, [](const Expr&) {});
}

Place place_of(std::string_view name, const Function& f) {
  Place found;
  find_place(f.body, name, 0, found);
  return found;
}

TEST(CompactBuffers, AProducerWithAHaloBecomesPrivateToTheLoopItIsComputedIn) {
  const Function f = compacted(R"(func f(A: f32[32], B: f32[30]) {
  alloc T: f32[32]
  for i.0 in 0..8 parallel {
    for j in 0..6 {
      block T {
        vj: spatial(32) = i.0 * 4 + j
        where i.0 * 4 + j < 32
        T[vj] = A[vj] * 2f32
      }
    }
    for i.1 in 0..4 {
      block B {
        vi: spatial(30) = i.0 * 4 + i.1
        where i.0 * 4 + i.1 < 30
        B[vi] = T[vi] + T[vi + 1] + T[vi + 2]
      }
    }
  }
}
)");
  EXPECT_EQ(place_of("T", f), (Place{1, {6}})) << to_text(f);
}

TEST(CompactBuffers, ReadsGuardedAgainstTheLowerBorderAreCoveredByTheWritesBefore) {
  const Function f = compacted(R"(func f(A: f32[32], B: f32[32]) {
  alloc T: f32[32]
  for i.0 in 0..8 {
    for j in 0..6 {
      block T {
        vj: spatial(32) = i.0 * 4 + j - 1
        where 0 <= i.0 * 4 + j - 1 and i.0 * 4 + j - 1 < 32
        T[vj] = A[vj] * 2f32
      }
    }
    for i.1 in 0..4 {
      block B {
        vi: spatial(32) = i.0 * 4 + i.1
        B[vi] = select(0 <= vi - 1, T[vi - 1], 0f32) + T[vi]
      }
    }
  }
}
)");
  EXPECT_EQ(place_of("T", f), (Place{1, {6}})) << to_text(f);
}

TEST(CompactBuffers, ARowKeptFromTheIterationBeforeStaysOutsideOfTheLoop) {
  const Function f = compacted(R"(func f(A: f32[32], B: f32[32]) {
  alloc T: f32[32]
  for i in 0..32 {
    block T {
      vi: spatial(32) = i
      T[vi] = A[vi] * 2f32
    }
    block B {
      vi_1: spatial(32) = i
      B[vi_1] = select(0 <= vi_1 - 1, T[vi_1 - 1], 0f32)
    }
  }
}
)");
  EXPECT_EQ(place_of("T", f).depth, 0) << to_text(f);
}

TEST(CompactBuffers, AnAccumulatorStaysOutsideOfItsReductionLoop) {
  const Function f = compacted(R"(func f(A: f32[4, 5], B: f32[4]) {
  alloc T: f32[4]
  for i in 0..4 {
    for k in 0..5 {
      block T {
        vi: spatial(4) = i
        vk: reduce(5) = k
        init {
          T[vi] = 0f32
        }
        T[vi] = T[vi] + A[vi, vk]
      }
    }
    block B {
      vi_1: spatial(4) = i
      B[vi_1] = T[vi_1]
    }
  }
}
)");
  EXPECT_EQ(place_of("T", f), (Place{1, {1}})) << to_text(f);
}

TEST(CompactBuffers, TwoCopiesUsedInTurnStayOutsideOfTheLoop) {
  const Function f = compacted(R"(func f(A: f32[9, 4], B: f32[9, 4]) {
  alloc T: f32[2, 4]
  for p in 0..4 {
    T[0, p] = A[0, p]
  }
  for i in 0..9 {
    if i < 8 {
      for j in 0..4 {
        T[(i + 1) % 2, j] = A[i + 1, j]
      }
    }
    for k in 0..4 {
      B[i, k] = T[i % 2, k]
    }
  }
}
)");
  EXPECT_EQ(place_of("T", f), (Place{0, {2, 4}})) << to_text(f);
}

TEST(CompactBuffers, BuffersReadThroughIndicesFromMemoryKeepTheirShape) {
  const Function f = compacted(R"(func f(I: i32[6], A: f32[5], B: f32[6]) {
  alloc T: f32[5]
  for i in 0..5 {
    T[i] = A[i] + 1f32
  }
  for j in 0..6 {
    B[j] = T[i64(I[j]) % 5]
  }
}
)");
  EXPECT_EQ(place_of("T", f), (Place{0, {5}})) << to_text(f);
}

TEST(CompactBuffers, ConstantPartsAreCutToWhatIsTouchedAndUnusedBuffersVanish) {
  const Function f = compacted(R"(func f(A: f32[16]) {
  alloc T: f32[16]
  alloc U: f32[16]
  for i in 0..3 {
    T[i + 4] = A[i]
  }
  for j in 0..3 {
    A[j + 8] = T[j + 4]
  }
}
)");
  EXPECT_EQ(place_of("T", f), (Place{0, {3}})) << to_text(f);
  EXPECT_EQ(place_of("U", f).depth, -1) << to_text(f);
}

TEST(CompactBuffers, ScalarAndVectorAccessesMoveTogether) {
  const Function f = compacted(R"(func f(A: f32[32], B: f32[32]) {
  alloc T: f32[32]
  for i in 0..4 {
    for j in 0..8 {
      block T {
        vj: spatial(32) = i * 8 + j
        T[vj] = A[vj] * 2f32
      }
    }
    block B {
      vi: spatial(4) = i
      B[ramp(vi * 8, 1, 8)] = T[ramp(vi * 8, 1, 8)]
    }
  }
}
)");
  EXPECT_EQ(place_of("T", f), (Place{1, {8}})) << to_text(f);
}

TEST(CompactBuffers, VectorizedLoopsAreNotEntered) {
  const Function f = compacted(R"(func f(A: f32[16], B: f32[16]) {
  alloc T: f32[16]
  for i in 0..4 {
    for j in 0..4 vectorized {
      T[i * 4 + j] = A[i * 4 + j]
      B[i * 4 + j] = T[i * 4 + j]
    }
  }
}
)");
  EXPECT_EQ(place_of("T", f), (Place{1, {4}})) << to_text(f);
}

TEST(CompactBuffers, AWriteWithGapsDoesNotCoverARead) {
  const Function f = compacted(R"(func f(A: f32[16], B: f32[4, 6]) {
  alloc P: f32[20]
  for v in 0..4 {
    for j in 0..4 {
      block P {
        vv: spatial(4) = v
        vj: spatial(4) = j
        P[vj * 2 + vv] = A[vj * 2 + vv]
      }
    }
    for k in 0..6 {
      block B {
        vv: spatial(4) = v
        vk: spatial(6) = k
        where 1 <= v
        B[vv, vk] = P[vk + vv]
      }
    }
  }
})");
  EXPECT_EQ(place_of("P", f).depth, 0) << "every second element comes from the iteration before";
}

}  // namespace
}  // namespace hone::codegen
