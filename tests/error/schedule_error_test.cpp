/// What people read when a step or a trace cannot be.
#include <gtest/gtest.h>
#include <string>

#include "hone/ir/text.h"
#include "hone/schedule/trace.h"
#include "hone/support/rng.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {
namespace {

/// T = A · B over loops i, j, k; then R = max(T, 0) over loops y, x.
Program matmul_relu() {
  const tensor::Tensor a = tensor::placeholder("A", {6, 5}), b = tensor::placeholder("B", {5, 7});
  const tensor::Tensor t = tensor::compute("T", {{"i", 6}, {"j", 7}}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({{"k", 5}}, [&](const tensor::Indices& r) { return a(i[0], r[0]) * b(r[0], i[1]); });
  });
  const tensor::Tensor r = tensor::compute(
      "R", {{"y", 6}, {"x", 7}}, [&](const tensor::Indices& i) { return ir::max(t(i), ir::constant(ir::kF32, 0.0)); });
  return tensor::lower("matmul_relu", {a, b}, {r});
}

/// The message of a step that is refused, having checked that it changed nothing.
std::string refusal(const Step& step) {
  Schedule schedule(matmul_relu());
  const std::string before = ir::to_text(schedule.program());
  Rng rng(1);
  const Result<void> applied = schedule.apply(step, rng);
  EXPECT_EQ(applied.has_value() ? before : ir::to_text(schedule.program()), before);
  EXPECT_EQ(schedule.trace().size(), applied.has_value() ? 1u : 0u);
  return applied ? "none" : applied.error().message;
}

struct BadStep {
  Step step;
  std::string_view message;
};

TEST(ScheduleErrors, AStepOnSomethingMissingListsWhatThereIs) {
  const BadStep cases[] = {
      {Split{"z", {2, 3}}, "split: no loop 'z', the loops are i, j, k, y, x"},
      {Fuse{{"i", ""}}, "fuse: no loop '', the loops are i, j, k, y, x"},
      {Reorder{{"j", "missing"}}, "reorder: no loop 'missing', the loops are i, j, k, y, x"},
      {ComputeAt{"A", "i"}, "compute_at: no block 'A', the blocks are T, R"},
      {CacheRead{"T", "C", ir::Scope::Local}, "cache_read: no buffer 'C', the buffers are A, B, R, T"},
      {SetScope{"missing", ir::Scope::Local}, "set_scope: no buffer 'missing', the buffers are A, B, R, T"},
      {SampleTile{"t", "z", 2, 4, {}}, "sample_tile: no loop 'z', the loops are i, j, k, y, x"},
      {Split{"i", {Number::from("t", 0)}}, "split: no decision 't' was made before"},
      {ComputeAt{"T", "$place"}, "compute_at: no decision 'place' was made before"},
  };
  for (const BadStep& c : cases) EXPECT_EQ(refusal(c.step), c.message) << to_text(c.step);
}

TEST(ScheduleErrors, ANumberOutOfRangeIsNamedWithTheRange) {
  const BadStep cases[] = {
      {Split{"i", {-3, 2}}, "split: factor -3 of loop 'i' is outside 1..281474976710656"},
      {Split{"i", {2, 2}}, "split: factors of loop 'i' multiply to 4, at least its extent 6 is needed"},
      {Split{"i", {0, 0}}, "split: loop 'i' has more than one factor 0 (the rest)"},
      {Split{"i", {}}, "split: loop 'i' is given no factors"},
      {StorageAlign{"T", 2, 8, 0}, "storage_align: axis 2 of buffer 'T' is outside 0..1"},
      {StorageAlign{"T", 0, 0, 0}, "storage_align: factor 0 of buffer 'T' is outside 1..4096"},
      {Prefetch{"A", "k", -1}, "prefetch: distance -1 of buffer 'A' is outside 1..1048576"},
      {SampleTile{"t", "i", 0, 4, {}}, "sample_tile: parts 0 of loop 'i' is outside 1..16"},
      {SampleTile{"t", "i", 2, 4, {1, 6}}, "sample_tile: the innermost factor 6 of loop 'i' is outside 1..4"},
      {SampleChoice{"c", {4, 8}, {2}}, "sample_choice: decision 'c' must be one position in 0..1, found 2"},
      {SampleChoice{"c", {}, {}}, "sample_choice: 'c' has no options"},
  };
  for (const BadStep& c : cases) EXPECT_EQ(refusal(c.step), c.message) << to_text(c.step);
}

TEST(ScheduleErrors, AStepThatWouldChangeValuesSaysWhy) {
  const BadStep cases[] = {
      {Fuse{{"i", "k"}}, "fuse: loop 'k' is not directly inside loop 'i'"},
      {Fuse{{"j", "k"}}, "fuse: loops 'j' to 'k' are spatial and reduction loops of block 'T'"},
      {Reorder{{"i", "x"}}, "reorder: loops 'i' to 'x' are not one chain of directly nested loops"},
      {Reorder{{"i", "i"}}, "reorder: loop 'i' is given twice"},
      {Parallel{"k"}, "parallel: block 'T' reduces over loop 'k', allowed are loops of spatial variables"},
      {Vectorize{"k"}, "vectorize: block 'T' reduces over loop 'k', allowed are loops of spatial variables"},
      {Bind{"i", ir::ForKind::Parallel},
       "bind: 'parallel' is not a GPU index, allowed are block_x, block_y, block_z, thread_x, thread_y, thread_z, "
       "vthread"},
      {ComputeAt{"R", "i"}, "compute_at: buffer 'R' of block 'R' is an output of the function"},
      {ComputeAt{"T", "k"}, "compute_at: block 'T' is already below loop 'k'"},
      {ComputeInline{"T"}, "compute_inline: block 'T' is a reduction, allowed are elementwise blocks"},
      {Rfactor{"T", "i"}, "rfactor: loop 'i' is not a reduction loop of block 'T'"},
      {Rfactor{"T", "x"}, "rfactor: loop 'x' is not around block 'T'"},
      {DecomposeReduction{"R", "x"}, "decompose_reduction: block 'R' has no initialisation of a reduction"},
      {CacheRead{"R", "A", ir::Scope::Local}, "cache_read: block 'R' does not read buffer 'A'"},
      {SetScope{"A", ir::Scope::Local}, "set_scope: buffer 'A' is a parameter, allowed are allocated buffers"},
      {TransformLayout{"R", "(a, b) -> (b, a)"},
       "transform_layout: buffer 'R' is an output, allowed are inputs and allocated buffers"},
      {TransformLayout{"T", "(a, b) -> (a + b)"},
       "transform_layout: the index map of buffer 'T' may put two elements in one place"},
      {SoftwarePipeline{"i"}, "software_pipeline: the body of loop 'i' is one statement, allowed are two or more"},
      {Prefetch{"A", "x", 1}, "prefetch: the body of loop 'x' does not touch buffer 'A'"},
  };
  for (const BadStep& c : cases) EXPECT_EQ(refusal(c.step), c.message) << to_text(c.step);
}

TEST(ScheduleErrors, ALoopOfAnotherKindIsNamedWithItsKind) {
  Schedule schedule(matmul_relu());
  ASSERT_TRUE(schedule.apply(Vectorize{"j"}));
  const std::string before = ir::to_text(schedule.program());
  const BadStep cases[] = {
      {Parallel{"j"}, "parallel: loop 'j' is vectorized already, allowed are serial loops"},
      {Split{"j", {0, 2}}, "split: loop 'j' is vectorized, allowed are serial loops"},
      {Vectorize{"i"}, "vectorize: loop 'i' and loop 'j', which is vectorized already, are nested"},
  };
  for (const BadStep& c : cases) {
    const Result<void> applied = schedule.apply(c.step);
    ASSERT_FALSE(applied) << to_text(c.step);
    EXPECT_EQ(applied.error().message, c.message);
    EXPECT_EQ(applied.error().code, ErrorCode::IllegalStep);
    EXPECT_EQ(ir::to_text(schedule.program()), before);
  }
}

std::string parse_message(std::string_view json) {
  const Result<Trace> trace = parse_trace(json);
  if (trace) return "none";
  EXPECT_EQ(trace.error().code, ErrorCode::ParseError);
  return trace.error().message;
}

TEST(ScheduleErrors, ABadTraceNamesTheStepTheFieldAndWhatIsAllowed) {
  struct {
    std::string_view json, message;
  } const cases[] = {
      {"", "trace: not JSON: ''"},
      {"[{\"step\": ", "trace: not JSON: '[{\"step\": '"},
      {"{}", "trace: found object, allowed is a list of steps"},
      {"7", "trace: found number, allowed is a list of steps"},
      {"[[]]", "trace: step 0 is array, allowed is an object"},
      {"[{}]", "trace: step 0 has no field 'step' that names a primitive"},
      {R"([{"step": 5}])", "trace: step 0 has no field 'step' that names a primitive"},
      {R"([{"step": "unroll", "loop": "i"}, {"step": "split", "loop": "i"}])",
       "trace: step 1 'split' has no field 'factors'"},
      {R"([{"step": "unroll", "loop": 7}])", "trace: field 'loop' of step 0 'unroll' is 7, allowed is a string"},
      {R"([{"step": "unroll", "loop": "i", "by": 4}])",
       "trace: step 0 'unroll' has an unknown field 'by', allowed are step, loop"},
      {R"([{"step": "split", "loop": "i", "factors": 4}])",
       "trace: field 'factors' of step 0 'split' is 4, allowed is a list"},
      {R"([{"step": "split", "loop": "i", "factors": [1.5]}])",
       "trace: field 'factors' of step 0 'split' is [1.5], allowed is a list of which each is a whole number or "
       "\"$decision[element]\""},
      {R"([{"step": "split", "loop": "i", "factors": ["$t"]}])",
       "trace: field 'factors' of step 0 'split' is [\"$t\"], allowed is a list of which each is a whole number or "
       "\"$decision[element]\""},
      {R"([{"step": "set_scope", "buffer": "T", "scope": "attic"}])",
       "trace: field 'scope' of step 0 'set_scope' is \"attic\", allowed is \"global\", \"shared\", \"local\" or "
       "\"register\""},
      {R"([{"step": "bind", "loop": "i", "index": "warp"}])",
       "trace: field 'index' of step 0 'bind' is \"warp\", allowed is a GPU index such as \"block_x\", \"thread_y\" or "
       "\"vthread\""},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_message(c.json), c.message) << c.json;
  EXPECT_TRUE(parse_message(R"([{"step": "melt"}])").starts_with("trace: step 0 is 'melt', allowed are split, fuse, "));
}

TEST(ScheduleErrors, ATraceThatWasCutOrScrambledIsAnErrorOrATrace) {
  const Trace trace = {SampleTile{"t", "i", 2, 8, {3, 2}},
                       Split{"i", {Number::from("t", 0), Number::from("t", 1)}},
                       Reorder{{"i.1", "i.0"}},
                       CacheRead{"T", "A", ir::Scope::Local},
                       Bind{"j", ir::ForKind::ThreadX},
                       Annotate{"T", "key", "\"quoted\" \n"}};
  const std::string json = to_json(trace);
  const Program naive = matmul_relu();
  Rng rng(1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text = json;
    for (int change = 0; change < 3; ++change)
      rng.choose(text) = rng.chance(0.5) ? rng.choose(json) : static_cast<char>(rng.uniform(1, 255));
    if (rng.chance(0.3)) text.resize(static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(text.size()))));
    const Result<Trace> parsed = parse_trace(text);
    if (!parsed) {
      EXPECT_TRUE(parsed.error().message.starts_with("trace: ")) << parsed.error().message;
      continue;
    }
    const Result<Program> replayed = replay(naive, *parsed);
    EXPECT_TRUE(replayed || !replayed.error().message.empty());
  }
}

TEST(ScheduleErrors, ADecisionThatBreaksALaterStepLeavesTheScheduleAsItWas) {
  Schedule schedule(matmul_relu());
  ASSERT_TRUE(schedule.apply(SampleTile{"t", "i", 2, 8, {3, 2}}));
  ASSERT_TRUE(schedule.apply(Split{"i", {Number::from("t", 0), Number::from("t", 1)}}));
  ASSERT_TRUE(schedule.apply(SampleLocation{"where", "T", {1}}));
  const std::string before = ir::to_text(schedule.program());
  const Trace trace = schedule.trace();
  const auto message = [&](std::size_t position, const std::vector<std::int64_t>& decision) {
    const Result<void> decided = schedule.decide(position, decision);
    EXPECT_EQ(ir::to_text(schedule.program()), before);
    EXPECT_EQ(schedule.trace(), trace);
    return decided ? "none" : decided.error().message;
  };
  EXPECT_EQ(message(9, {1}), "decide: step 9 is outside 0..2");
  EXPECT_EQ(message(1, {1}), "decide: step 1 is 'split', allowed are sampling steps");
  EXPECT_EQ(message(0, {1, 2}), "sample_tile: factors of loop 'i' multiply to 2, at least 6 is needed");
  EXPECT_EQ(message(0, {6}), "sample_tile: the decision on loop 'i' has 1 factors, 2 are needed");
  EXPECT_EQ(message(2, {3}), "sample_location: decision 'where' must be one position in 0..2, found 3");
}

/// The message of a step on the program of this text.
std::string refusal_of(std::string_view text, const Step& step) {
  Schedule schedule(ir::parse_function(text).value());
  const Result<void> applied = schedule.apply(step);
  return applied ? "none" : applied.error().message;
}

TEST(ScheduleErrors, FunctionsOfAnotherFormAreNotScheduled) {
  EXPECT_EQ(refusal_of("func f(a: f32[4]) { for i in 0..4 { a[i] = 1f32 } }", Split{"i", {2, 2}}),
            "split: a Store stands outside of blocks, allowed are loops, sequences and prefetches");
  EXPECT_EQ(refusal_of("func f[n](a: f32[n]) { for i in 0..4 { block a { vi: spatial(4) = i  a[vi] = 1f32 } } }",
                       Parallel{"i"}),
            "parallel: the extent of buffer 'a' is not constant");
  EXPECT_EQ(
      refusal_of("func f(a: f32[281474976710657]) { for i in 0..4 { block a { vi: spatial(4) = i  a[vi] = 1f32 } } }",
                 Unroll{"i"}),
      "unroll: the extent 281474976710657 of buffer 'a' is outside 0..281474976710656");
}

TEST(ScheduleErrors, IterationsThatDependOnEachOtherStayInOrder) {
  const std::string_view scan = R"(func scan(a: f32[8, 8]) {
  for i in 0..7 {
    for j in 0..8 {
      block a {
        vi: spatial(7) = i
        vj: spatial(8) = j
        a[vi + 1, vj] = a[vi, 7 - vj]
      }
    }
  }
})";
  EXPECT_EQ(refusal_of(scan, Parallel{"i"}), "parallel: block 'a' reads other elements of buffer 'a' than it writes");
  EXPECT_EQ(refusal_of(scan, Reorder{{"j", "i"}}),
            "reorder: block 'a' reads other elements of buffer 'a' than it writes");
  const std::string_view overlap = R"(func overlap(a: f32[8]) {
  for i in 0..4 {
    block a {
      vi: spatial(4) = i
      for l in 0..3 {
        a[vi + l] = f32(vi)
      }
    }
  }
})";
  EXPECT_EQ(refusal_of(overlap, Parallel{"i"}),
            "parallel: iterations of loop 'i' may write the same elements of buffer 'a'");
}

TEST(ScheduleErrors, LanesHoldNeitherVectorsNorPrefetches) {
  EXPECT_EQ(refusal_of(R"(func f(a: f32[32]) {
  for i in 0..4 {
    block a {
      vi: spatial(4) = i
      a[ramp(vi * 8, 1, 8)] = broadcast(1f32, 8)
    }
  }
})",
                       Vectorize{"i"}),
            "vectorize: below loop 'i' stands a store of vectors, which cannot run in lanes");
  EXPECT_EQ(refusal_of(R"(func f(a: f32[32]) {
  for i in 0..4 {
    evaluate prefetch(a[i])
    block a {
      vi: spatial(4) = i
      a[vi] = 1f32
    }
  }
})",
                       Vectorize{"i"}),
            "vectorize: below loop 'i' stands a prefetch, which cannot run in lanes");
}

}  // namespace
}  // namespace hone::schedule
