#include "hone/cost/store_features.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "hone/cost/testing_test.h"
#include "hone/ir/random_program.h"
#include "hone/schedule/primitives.h"

namespace hone::cost {
namespace {

using ::testing::HasSubstr;
using namespace schedule;

/// The features of each store by name.
using Row = std::map<std::string, float>;
std::vector<Row> rows_of(const ir::Function& program) {
  StoreFeatures features;
  std::vector<float> values;
  const std::size_t count = features.extract(program, values).value();
  EXPECT_EQ(values.size(), count * kStoreFeatures);
  const std::vector<std::string> names = store_feature_names();
  std::vector<Row> rows(count);
  for (std::size_t i = 0; i < values.size(); ++i) rows[i / names.size()][names[i % names.size()]] = values[i];
  return rows;
}

Program scheduled(const Program& naive, const Trace& trace) {
  const Result<Program> program = replay(naive, trace);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  return program.value();
}

/// Sizes are compared as sizes, kinds as they are.
void expect_sizes(const Row& row, const Row& expected) {
  for (const auto& [name, size] : expected) EXPECT_NEAR(row.at(name), slog(size), 1e-5) << name << " is not " << size;
}
void expect_kinds(const Row& row, std::initializer_list<const char*> chosen) {
  for (const char* name : chosen) EXPECT_EQ(row.at(name), 1) << name;
}

TEST(StoreFeatures, ThereAre164OfDistinctNames) {
  const std::vector<std::string> names = store_feature_names();
  EXPECT_EQ(names.size(), kStoreFeatures);
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), kStoreFeatures);
}

TEST(StoreFeatures, SlogKeepsSignAndZero) {
  EXPECT_EQ(slog(0), 0);
  EXPECT_EQ(slog(7), 3);
  EXPECT_EQ(slog(-7), -3);
}

TEST(StoreFeatures, AMatmulHasTheNumbersCountedByHand) {
  const std::vector<Row> rows = rows_of(matmul(4, 8, 16));
  ASSERT_EQ(rows.size(), 2u);
  const Row& init = rows[0];
  expect_sizes(init, {{"iterations", 32}, {"loops", 2}, {"float.multiply_add", 0}, {"intensity9", 0}});
  expect_kinds(init, {"buffer0.writes", "buffer0.serial_reuse", "vectorized.nowhere"});
  expect_sizes(init, {{"buffer0.bytes", 128}, {"buffer0.lines", 2}, {"buffer0.stride", 1}, {"buffer1.bytes", 0}});

  const Row& update = rows[1];
  expect_sizes(update, {{"iterations", 512}, {"loops", 3}, {"unroll", 0}});
  expect_sizes(update, {{"float.multiply_add", 512}, {"float.add_sub", 0}, {"float.multiply", 0}, {"int.add_sub", 0}});
  expect_kinds(update, {"vectorized.nowhere", "unrolled.nowhere", "parallel.nowhere"});
  // B has the most lines, then A, then C
  expect_kinds(update, {"buffer0.reads", "buffer0.loop_reuse", "buffer1.reads", "buffer1.loop_reuse",
                        "buffer2.reads_writes", "buffer2.loop_reuse"});
  expect_sizes(update, {{"buffer0.bytes", 2048},
                        {"buffer0.unique_bytes", 512},
                        {"buffer0.lines", 256},  // 512 · 32 / 64
                        {"buffer0.unique_lines", 8},
                        {"buffer0.stride", 8},
                        {"buffer0.reuse_count", 4},  // over i
                        {"buffer0.distance_iterations", 128},
                        {"buffer0.distance_bytes", 640},  // below j: C 8 twice (init too), A 16, B 128 elements
                        {"buffer0.bytes_per_reuse", 512},
                        {"buffer0.unique_bytes_per_reuse", 128},
                        {"buffer0.lines_per_reuse", 64},
                        {"buffer0.unique_lines_per_reuse", 2}});
  expect_sizes(update, {{"buffer1.unique_bytes", 256},
                        {"buffer1.lines", 32},
                        {"buffer1.unique_lines", 4},
                        {"buffer1.stride", 1},
                        {"buffer1.reuse_count", 8},  // over j
                        {"buffer1.distance_iterations", 16},
                        {"buffer1.distance_bytes", 132}});  // below k: C 1, A 16, B 16 elements
  expect_sizes(update, {{"buffer2.unique_bytes", 128},
                        {"buffer2.lines", 2},   // k does not move it: 512 / 16 · 4 / 64
                        {"buffer2.stride", 0},  // the innermost loop does not move it
                        {"buffer2.reuse_count", 16},
                        {"buffer2.distance_iterations", 1},
                        {"buffer2.distance_bytes", 12},
                        {"buffer3.bytes", 0}});
  expect_sizes(update, {{"intensity0", 2.0 / 12}, {"intensity9", 1024.0 / 896}});
  expect_sizes(update, {{"alloc.bytes", 128}, {"alloc.traffic", 32}, {"alloc.outer", 1}, {"alloc.inner", 512}});
}

TEST(StoreFeatures, TheIntensityCurveIsInterpolatedBetweenLoops) {
  // ops 2, 32, 256, 1024 and bytes 12, 132, 608, 896 at the levels; the samples are at tenths of log2(1025)
  const Row update = rows_of(matmul(4, 8, 16))[1];
  const double wanted = std::log2(1025.0) * 0.7, lower = std::log2(33.0), upper = std::log2(257.0);
  const double share = (wanted - lower) / (upper - lower);
  expect_sizes(update, {{"intensity6", static_cast<float>(32.0 / 132 + (256.0 / 608 - 32.0 / 132) * share)}});
}

TEST(StoreFeatures, LoopsSayHowTheyRunAndWhere) {
  const Program program =
      scheduled(matmul(32, 64, 16),
                {Split{"i", {kRest, 4}}, Split{"j", {kRest, 2, 8}}, Reorder{{"i.0", "j.0", "k", "j.1", "i.1", "j.2"}},
                 Parallel{"i.0"}, Vectorize{"j.2"}, Unroll{"i.1"}, Unroll{"j.1"}, Annotate{"k", "unroll", "64"}});
  const Row update = rows_of(program)[1];
  expect_kinds(update, {"vectorized.inner_spatial", "unrolled.middle_spatial", "parallel.outer_spatial"});
  expect_sizes(update, {{"vectorized.count", 1}, {"vectorized.product", 8}, {"vectorized.innermost", 8}});
  expect_sizes(update, {{"unrolled.count", 2}, {"unrolled.product", 8}, {"unrolled.innermost", 4}});
  expect_sizes(update, {{"parallel.count", 1}, {"parallel.product", 8}, {"unroll", 64}, {"gpu", 0}, {"block_x", 0}});
}

TEST(StoreFeatures, AnUnrolledReductionBesideAnUnrolledRowIsMixed) {
  const Program program = scheduled(matmul(4, 8, 4), {Reorder{{"j", "i", "k"}}, Unroll{"i"}, Unroll{"k"}});
  expect_kinds(rows_of(program)[1], {"unrolled.mixed"});
  expect_kinds(rows_of(scheduled(matmul(4, 8, 4), {Unroll{"k"}}))[1], {"unrolled.inner_reduce"});
}

TEST(StoreFeatures, GpuIndicesHaveTheirLengths) {
  const Program program =
      scheduled(matmul(32, 64, 16), {Bind{"i", ir::ForKind::BlockX}, Bind{"j", ir::ForKind::ThreadX}});
  expect_sizes(rows_of(program)[1], {{"gpu", 1}, {"block_x", 32}, {"thread_x", 64}, {"block_y", 1}, {"vthread", 1}});
}

TEST(StoreFeatures, LoopsThatRunOnceChangeNothing) {
  const Program naive = matmul(4, 8, 16);
  const Program split = scheduled(naive, {Split{"i", {1, 4, 1}}, Split{"k", {16, 1}}, Split{"j", {8, 1}}});
  EXPECT_EQ(rows_of(naive), rows_of(split));
}

TEST(StoreFeatures, AProducerInsideALoopIsNearItsConsumer) {
  const Row apart = rows_of(chain(16, 32))[1];
  // D reads T far from where it was made; nothing else touches D's own loops
  expect_kinds(apart, {"buffer0.no_reuse", "buffer1.no_reuse"});
  expect_sizes(apart, {{"alloc.bytes", 2048}, {"alloc.outer", 1}});

  const std::vector<Row> near = rows_of(scheduled(chain(16, 32), {ComputeAt{"T", "p"}}));
  ASSERT_EQ(near.size(), 2u);
  expect_sizes(near[0], {{"alloc.bytes", 128}, {"alloc.traffic", 512}, {"alloc.outer", 16}, {"alloc.inner", 32}});
  expect_sizes(near[0], {{"float.add_sub", 512}, {"float.compare", 512}});
  // each of the two statements below p touches one row of T; p's rows of A, T and of T, D are 4 · 512 elements
  const Row& consumer = near[1];
  expect_kinds(consumer, {"buffer0.writes", "buffer1.reads", "buffer0.no_reuse", "buffer1.serial_reuse"});
  expect_sizes(consumer, {{"buffer1.reuse_count", 1}, {"buffer1.distance_iterations", 32}});
  expect_sizes(consumer, {{"buffer1.distance_bytes", 4 * 512 * 4 / 16}, {"float.multiply", 512}});
}

TEST(StoreFeatures, AFusedLoopMovesWhatItsPartsMove) {
  const Row apart = rows_of(chain(16, 32))[0];
  const Row fused = rows_of(scheduled(chain(16, 32), {Fuse{{"i", "j"}}}))[0];
  for (const char* name : {"buffer0.unique_bytes", "buffer0.unique_lines", "buffer0.lines", "buffer0.stride",
                           "buffer0.bytes", "iterations", "float.add_sub", "alloc.bytes"})
    EXPECT_EQ(fused.at(name), apart.at(name)) << name;
  expect_sizes(fused, {{"loops", 1}, {"buffer0.stride", 1}, {"buffer0.unique_bytes", 2048}});
}

TEST(StoreFeatures, PaddingAndIntegersAreCountedBySort) {
  const ir::Function program = ir::parse_function(R"(
func padded(A: i32[8], B: i32[10]) {
  for i in 0..10 {
    block B {
      vi: spatial(10) = i
      B[vi] = select(1 <= vi and vi < 9, A[vi - 1] * 3i32 + 1i32, 0i32)
    }
  }
})")
                                   .value();
  const Row row = rows_of(program)[0];
  expect_sizes(row, {{"int.compare", 20}, {"bool", 10}, {"select", 10}, {"int.multiply_add", 10}, {"int.multiply", 0}});
  expect_sizes(row, {{"buffer0.unique_bytes", 40}, {"buffer1.unique_bytes", 32}, {"intensity9", 20.0 / 72}});
}

TEST(StoreFeatures, LanesCountAsAVectorisedLoop) {
  const ir::Function program = ir::parse_function(R"(
func copy(A: f32[64], B: f32[64]) {
  for i in 0..4 {
    block B {
      vi: spatial(4) = i
      B[ramp(vi * 16, 1, 16)] = A[ramp(vi * 16, 1, 16)]
    }
  }
})")
                                   .value();
  const Row row = rows_of(program)[0];
  expect_sizes(row,
               {{"iterations", 64}, {"vectorized.product", 16}, {"buffer0.unique_bytes", 256}, {"buffer0.stride", 1}});
}

TEST(StoreFeatures, OddSizesGiveFiniteNumbers) {
  for (const std::int64_t m : {0, 1, 7})
    for (const std::int64_t k : {0, 1, 13})
      for (const Row& row : rows_of(matmul(m, 5, k)))
        for (const auto& [name, value] : row) EXPECT_TRUE(std::isfinite(value)) << name << ' ' << m << ' ' << k;
}

TEST(StoreFeatures, RandomProgramsGiveFiniteNumbersOrAnError) {
  Rng rng(/*seed=*/5);
  StoreFeatures features;
  int judged = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<float> values;
    const Result<std::size_t> count = features.extract(ir::random_function(rng), values);
    judged += count.has_value();
    for (const float value : values) ASSERT_TRUE(std::isfinite(value)) << i;
  }
  EXPECT_GT(judged, 20);
}

TEST(StoreFeatures, SymbolicSizesAreErrorsThatNameTheThing) {
  StoreFeatures features;
  std::vector<float> values;
  const auto message = [&](const char* text) {
    return features.extract(ir::parse_function(text).value(), values).error().message;
  };
  EXPECT_THAT(message("func f[n](A: f32[n]) { A[0] = 0f32 }"), HasSubstr("the shape of buffer 'A' is not constant"));
  EXPECT_THAT(message("func f(A: f32[4]) { for i in 0..4 { for j in 0..i { A[j] = 0f32 } } }"),
              HasSubstr("the extent of loop 'j' is not constant"));
}

}  // namespace
}  // namespace hone::cost
