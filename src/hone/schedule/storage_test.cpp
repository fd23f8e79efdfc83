#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/staged_rows.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {
namespace {

using ir::Scope;
using Factors = std::vector<std::int64_t>;

TEST(SetScope, MovesAnAllocatedBuffer) {
  for (const std::int64_t n : {0, 1, 5}) {
    const Program naive = chain(n, 3);
    const Program p = checked(naive, set_scope(naive, "B", Scope::Local));
    EXPECT_TRUE(prints(p, "local")) << ir::to_text(p);
    checked(naive, set_scope(p, "C", Scope::Shared));
    EXPECT_EQ(ir::to_text(checked(naive, set_scope(p, "B", Scope::Global))), ir::to_text(naive));
  }
}

TEST(SetScope, RefusesParametersAndWhatIsNotThere) {
  const Program p = chain(4, 3);
  EXPECT_EQ(refusal(set_scope(p, "A", Scope::Local)),
            "set_scope: buffer 'A' is a parameter, allowed are allocated buffers");
  EXPECT_EQ(refusal(set_scope(p, "X", Scope::Local)), "set_scope: no buffer 'X', the buffers are A, D, B, C");
}

TEST(StorageAlign, PadsAStrideOncePerAxis) {
  const Program naive = chain(5, 7);
  Program p = checked(naive, storage_align(naive, "B", 1, 4, 0));
  p = checked(naive, storage_align(p, "B", 0, 32, 8));
  p = checked(naive, storage_align(p, "B", 0, 16, 1));
  const std::vector<ir::StorageAlign> expected = {{0, 16, 1}, {1, 4, 0}};
  EXPECT_EQ(find_buffer(p, "B", "test")->get<ir::Buffer>().alignments, expected);
}

TEST(StorageAlign, RefusesWhatIsOutOfRange) {
  const Program p = chain(5, 7);
  EXPECT_EQ(refusal(storage_align(p, "A", 0, 4, 0)),
            "storage_align: buffer 'A' is a parameter, allowed are allocated buffers");
  EXPECT_EQ(refusal(storage_align(p, "B", 3, 4, 0)), "storage_align: axis 3 of buffer 'B' is outside 0..1");
  EXPECT_EQ(refusal(storage_align(p, "B", -1, 4, 0)), "storage_align: axis -1 of buffer 'B' is outside 0..1");
  EXPECT_EQ(refusal(storage_align(p, "B", 0, 0, 0)), "storage_align: factor 0 of buffer 'B' is outside 1..4096");
  EXPECT_EQ(refusal(storage_align(p, "B", 0, 5000, 0)), "storage_align: factor 5000 of buffer 'B' is outside 1..4096");
  EXPECT_EQ(refusal(storage_align(p, "B", 0, 4, 4)), "storage_align: offset 4 of buffer 'B' is outside 0..3");
  EXPECT_EQ(refusal(storage_align(p, "B", 0, 4, -1)), "storage_align: offset -1 of buffer 'B' is outside 0..3");
}

TEST(StorageAlign, RefusesScalars) {
  const tensor::Tensor a = tensor::placeholder("A", {});
  const tensor::Tensor b = tensor::compute("B", {}, [&](const tensor::Indices& i) { return a(i) + a(i); });
  const tensor::Tensor c = tensor::compute("C", {}, [&](const tensor::Indices& i) { return b(i) * b(i); });
  EXPECT_EQ(refusal(storage_align(tensor::lower("scalar", {a}, {c}), "B", 0, 4, 0)),
            "storage_align: buffer 'B' is a scalar and has no axis 0");
}

TEST(DoubleBuffer, AlternatesBetweenTwoCopies) {
  for (const std::int64_t n : {0, 1, 2, 5}) {
    const Program naive = staged_rows(n, 3);
    const Program p = checked(naive, double_buffer(naive, "T", "i"));
    EXPECT_TRUE(prints(p, fmt::format("alloc T: f32[2, {}, 3]", n))) << ir::to_text(p);
    EXPECT_TRUE(prints(p, "T[i % 2, vi, vj]")) << ir::to_text(p);
  }
}

TEST(DoubleBuffer, StaysRightWhenItsLoopIsSplit) {
  const Program naive = staged_rows(7, 3);
  const Program p = checked(naive, double_buffer(naive, "T", "i"));
  checked(naive, split(p, "i", Factors{kRest, 3}));
}

TEST(DoubleBuffer, KeepsItsBlocksInTheirPlace) {
  const Program p = *double_buffer(staged_rows(4, 3), "T", "i");
  constexpr const char* kReason = " uses loop 'i' itself, as for buffers used in turn, and stays";
  EXPECT_EQ(refusal(compute_at(p, "T", "k")), std::string("compute_at: block 'T'") + kReason);
  EXPECT_EQ(refusal(reverse_compute_at(p, "D", "j")), std::string("reverse_compute_at: block 'D'") + kReason);
  EXPECT_EQ(refusal(compute_inline(p, "T")), std::string("compute_inline: block 'T'") + kReason);
}

TEST(DoubleBuffer, KeepsAlignmentsOnTheirAxes) {
  const Program naive = staged_rows(4, 3);
  const Program p = checked(naive, double_buffer(*storage_align(naive, "T", 0, 16, 0), "T", "i"));
  EXPECT_EQ(find_buffer(p, "T", "test")->get<ir::Buffer>().alignments, (std::vector<ir::StorageAlign>{{1, 16, 0}}));
}

TEST(DoubleBuffer, RefusesBuffersThatIterationsShare) {
  const Program p = staged_rows(4, 3);
  EXPECT_EQ(refusal(double_buffer(p, "A", "i")),
            "double_buffer: buffer 'A' is a parameter, allowed are allocated buffers");
  EXPECT_EQ(refusal(double_buffer(p, "T", "j")),
            "double_buffer: buffer 'T' is used outside loop 'j', allowed are uses inside it");
  EXPECT_EQ(refusal(double_buffer(p, "T", "x")), "double_buffer: no loop 'x', the loops are i, j, k");
  EXPECT_EQ(refusal(double_buffer(*unroll(p, "i"), "T", "i")),
            "double_buffer: loop 'i' is unrolled, allowed are serial loops");
}

TEST(DoubleBuffer, RefusesAnAccumulator) {
  const Result<Program> p = ir::parse_function(R"(func sums(A: f32[4], D: f32[4]) {
  alloc S: f32[]
  for k in 0..4 {
    block S {
      vk: reduce(4) = k
      init {
        S[] = 0f32
      }
      S[] = S[] + A[vk]
    }
    block D {
      vd: spatial(4) = k
      D[vd] = S[]
    }
  }
}
)");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(refusal(double_buffer(*p, "S", "k")),
            "double_buffer: block 'S' reduces into buffer 'S' over loop 'k', so that its iterations need one copy");
}

}  // namespace

Program staged_rows(std::int64_t n, std::int64_t m) {
  constexpr const char* kText = R"(func staged_rows(A: f32[{0}, {1}], D: f32[{0}, {1}]) {{
  alloc T: f32[{0}, {1}]
  for i in 0..{0} {{
    for j in 0..{1} {{
      block T {{
        vi: spatial({0}) = i
        vj: spatial({1}) = j
        T[vi, vj] = A[vi, vj] * 2f32
      }}
    }}
    for k in 0..{1} {{
      block D {{
        vi_1: spatial({0}) = i
        vk: spatial({1}) = k
        D[vi_1, vk] = T[vi_1, vk] + T[vi_1, {1} - 1 - vk]
      }}
    }}
  }}
}}
)";
  return *ir::parse_function(fmt::format(fmt::runtime(kText), n, m));
}

}  // namespace hone::schedule
