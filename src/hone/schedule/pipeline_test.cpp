#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/staged_rows.h"
#include "hone/schedule/testing.h"

namespace hone::schedule {
namespace {

using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

TEST(SoftwarePipeline, RunsTheFirstStatementOneIterationAhead) {
  const Program naive = staged_rows(5, 3);
  const Program p = checked(naive, software_pipeline(naive, "i"));
  EXPECT_EQ(ir::to_text(p), R"(func staged_rows(A: f32[5, 3], D: f32[5, 3]) {
  alloc T: f32[2, 1, 3]
  for j.prologue in 0..3 {
    block T.prologue {
      vi: spatial(5) = 0
      vj: spatial(3) = j.prologue
      T[0 % 2, vi - 0, vj] = A[vi, vj] * 2f32
    }
  }
  for i in 0..5 @pipelined("1") {
    for j in 0..3 {
      block T {
        vi: spatial(5) = i + 1
        vj: spatial(3) = j
        where i + 1 < 5
        T[(i + 1) % 2, vi - (i + 1), vj] = A[vi, vj] * 2f32
      }
    }
    for k in 0..3 {
      block D {
        vi_1: spatial(5) = i
        vk: spatial(3) = k
        D[vi_1, vk] = T[i % 2, vi_1 - i, vk] + T[i % 2, vi_1 - i, 3 - 1 - vk]
      }
    }
  }
}
)");
}

TEST(SoftwarePipeline, KeepsTheValuesOfAnyExtent) {
  for (const std::int64_t n : {1, 2, 3, 8}) {
    const Program naive = staged_rows(n, 5);
    Program p = checked(naive, software_pipeline(naive, "i"));
    p = checked(naive, split(p, "j", Factors{kRest, 2}));
    checked(naive, unroll(p, "i"));
  }
}

TEST(SoftwarePipeline, AcceptsStagesWithoutIterations) {
  const Program naive = staged_rows(5, 0);
  checked(naive, software_pipeline(naive, "i"));
}

TEST(SoftwarePipeline, OverlapsTilesOfACopy) {
  const Program naive = blur(13, 6);
  Program p = checked(naive, split(naive, "i_1", Factors{kRest, 4}));
  p = checked(naive, compute_at(p, "X", "i_1.0"));
  p = checked(naive, software_pipeline(p, "i_1.0"));
  EXPECT_TRUE(prints(p, "alloc X: f32[2, 6, 6]")) << ir::to_text(p);
}

TEST(SoftwarePipeline, OverlapsInsideAnOuterParallelLoop) {
  const Program naive = blur(12, 7);
  Program p = checked(naive, split(naive, "i_1", Factors{kRest, 2, 3}));
  p = checked(naive, parallel(p, "i_1.0"));
  p = checked(naive, compute_at(p, "X", "i_1.1"));
  checked(naive, software_pipeline(p, "i_1.1"));
}

TEST(SoftwarePipeline, LaterStepsSeeThatIterationsDependOnEachOther) {
  const Program p = *software_pipeline(staged_rows(4, 3), "i");
  constexpr const char* kReason = ": loop 'i' is software-pipelined, its iterations depend on each other";
  EXPECT_EQ(refusal(software_pipeline(p, "i")), std::string("software_pipeline") + kReason);
  EXPECT_EQ(refusal(parallel(p, "i")), std::string("parallel") + kReason);
  EXPECT_EQ(refusal(split(p, "i", Factors{2, 2})), std::string("split") + kReason);
  EXPECT_EQ(refusal(double_buffer(p, "T", "i")),
            "double_buffer: loop 'i' is software-pipelined, its iterations depend on each other");
}

TEST(SoftwarePipeline, LeavesThePrologueBesideItsLoop) {
  const Program naive = staged_rows(4, 3);
  const Program p = checked(naive, software_pipeline(naive, "i"));
  const Program cached = checked(naive, cache_read(p, "T.prologue", "A", ir::Scope::Local));
  EXPECT_EQ(refusal(reverse_compute_inline(cached, "T.prologue")),
            "reverse_compute_inline: buffer 'T' is written by 2 blocks, allowed is 1");
}

TEST(SoftwarePipeline, RefusesLoopsWithoutTwoStages) {
  const Program naive = staged_rows(4, 3);
  EXPECT_EQ(refusal(software_pipeline(naive, "j")),
            "software_pipeline: the body of loop 'j' is one statement, allowed are two or more");
  EXPECT_EQ(refusal(software_pipeline(naive, "x")), "software_pipeline: no loop 'x', the loops are i, j, k");
  EXPECT_EQ(refusal(software_pipeline(staged_rows(0, 3), "i")),
            "software_pipeline: the extent of loop 'i' is 0, allowed are constants from 1");
  EXPECT_EQ(refusal(software_pipeline(*unroll(naive, "i"), "i")),
            "software_pipeline: loop 'i' is unrolled, allowed are serial loops");
  EXPECT_EQ(refusal(software_pipeline(*prefetch(naive, "A", "i", 1), "i")),
            "software_pipeline: no buffer passes from the first statement of loop 'i' to the others");
}

Program parsed(std::string_view text) {
  const Result<Program> program = ir::parse_function(text);
  return program ? *program : throw InternalError(program.error().message);
}

TEST(SoftwarePipeline, RefusesAFirstStatementThatNeedsTheOthers) {
  const Program p = parsed(R"(func f(A: f32[4], D: f32[5]) {
  alloc T: f32[4]
  for i in 0..4 {
    block T {
      vi: spatial(4) = i
      T[vi] = A[vi] + D[vi]
    }
    block D {
      vj: spatial(4) = i
      D[vj + 1] = T[vj]
    }
  }
}
)");
  EXPECT_EQ(refusal(software_pipeline(p, "i")),
            "software_pipeline: block 'T' reads buffer 'D', which a later statement of loop 'i' writes");
}

TEST(SoftwarePipeline, RefusesToWriteParametersAndAccumulatorsAhead) {
  const Program p = parsed(R"(func f(A: f32[4], D: f32[4]) {
  alloc S: f32[]
  for i in 0..4 {
    block S {
      vi: reduce(4) = i
      init {
        S[] = 0f32
      }
      S[] = S[] + A[vi]
    }
    block D {
      vj: spatial(4) = i
      D[vj] = S[]
    }
  }
}
)");
  EXPECT_EQ(refusal(software_pipeline(p, "i")),
            "software_pipeline: block 'S' reduces into buffer 'S' over loop 'i', so that its iterations need one copy");
  const Program copy = parsed(R"(func f(A: f32[4], B: f32[4], D: f32[4]) {
  for j in 0..4 {
    block B {
      vk: spatial(4) = j
      B[vk] = A[vk]
    }
    block D {
      vl: spatial(4) = j
      D[vl] = B[vl]
    }
  }
}
)");
  EXPECT_EQ(refusal(software_pipeline(copy, "j")),
            "software_pipeline: buffer 'B' is a parameter, allowed are allocated buffers");
}

}  // namespace
}  // namespace hone::schedule
