// Blocks whose loops mappings prescribe, as machine code.
#include <algorithm>
#include <array>

#include "hone/codegen/kernel_test.h"
#include "hone/ir/text.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/mapping/map_block.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::codegen {
namespace {

using ir::ForKind;
using schedule::Index;
using schedule::Level;
using schedule::repeat;
using schedule::spatial;

ir::Function matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("A", {m, k}), b = tensor::placeholder("B", {k, n});
  const tensor::Tensor c = tensor::compute("C", {{"i", m}, {"j", n}}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({{"k", k}}, [&](const tensor::Indices& r) { return a(i[0], r[0]) * b(r[0], i[1]); });
  });
  return tensor::lower("matmul", {a, b}, {c});
}

ir::Function square(std::int64_t m, std::int64_t n) {
  const tensor::Tensor a = tensor::placeholder("A", {m, n});
  const tensor::Tensor c = tensor::compute("C", {{"i", m}, {"j", n}},
                                           [&](const tensor::Indices& i) { return a(i[0], i[1]) * a(i[0], i[1]); });
  return tensor::lower("square", {a}, {c});
}

std::int64_t rounds(std::int64_t extent, std::int64_t size) {
  return std::max<std::int64_t>(1, (extent + size - 1) / size);
}

/// Compiles the mapped program for each target and compares it with the naive one, on whole numbers, bit for bit.
void expect_same(const ir::Function& naive, const Result<ir::Function>& mapped) {
  ASSERT_TRUE(mapped) << mapped.error().message;
  Rng rng(/*seed=*/1);
  const std::vector<ir::Array> inputs = ir::random_arguments(naive, rng);
  std::vector<ir::Array> expected = inputs;
  ASSERT_TRUE(ir::interpret(naive, expected));
  runtime::ThreadPool pool(2);
  for (const Target& target : runnable_targets()) {
    const Result<CompiledModule> compiled = compile(ir::Module{{*mapped}}, target, test_options());
    ASSERT_TRUE(compiled) << compiled.error().message << "\n" << ir::to_text(*mapped);
    std::vector<ir::Array> actual = inputs;
    const Result<void> ran = run(*compiled, mapped->name, actual, &pool);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ir::max_difference(actual.back(), expected.back()), 0) << to_string(target) << "\n"
                                                                     << ir::to_text(*mapped);
  }
}

TEST(MappedBlocks, MatmulsOfAnyShapeRunAsMachineCode) {
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
           {48, 64, 16}, {1, 1, 1}, {13, 17, 7}, {1, 61, 3}, {61, 1, 2}, {24, 8, 0}, {37, 103, 5}, {2039, 3, 2}}) {
    const ir::Function naive = matmul(m, n, k);
    expect_same(naive, schedule::map_block(naive, "C",
                                           std::vector<Level>{{"core", spatial({2, 1}), ForKind::Parallel},
                                                              {"tile", repeat({rounds(m, 12), rounds(n, 32)})}},
                                           std::vector<Level>{{"row", repeat({6, 2}), ForKind::Unrolled},
                                                              {"lane", spatial({1, 16}), ForKind::Vectorized}}));
  }
}

TEST(MappedBlocks, ElementwiseBlocksOfAnyShapeRunAsMachineCode) {
  for (const auto& [m, n] :
       std::vector<std::array<std::int64_t, 2>>{{16, 32}, {1, 1}, {13, 17}, {1, 2039}, {2039, 1}, {0, 3}, {31, 37}}) {
    const ir::Function naive = square(m, n);
    expect_same(naive, schedule::map_block(naive, "C",
                                           std::vector<Level>{{"core", spatial({2, 2}), ForKind::Parallel},
                                                              {"tile", repeat({rounds(m, 6), rounds(n, 16)}, {1, 0})},
                                                              {"row", repeat({3, 1})},
                                                              {"lane", spatial({1, 8}), ForKind::Vectorized}}));
  }
}

TEST(MappedBlocks, WorkersThatTakeTurnsRunAsMachineCode) {
  for (const Index& shape : std::vector<Index>{{8, 96}, {1, 1}, {29, 53}, {7, 5}}) {
    const ir::Function naive = square(shape[0], shape[1]);
    for (const std::int64_t workers : {1, 4, 7, 64})
      expect_same(naive, schedule::map_block(naive, "C",
                                             std::vector<Level>{{"worker", *schedule::auto_map_within(shape, workers),
                                                                 ForKind::Parallel}}));
  }
}

}  // namespace
}  // namespace hone::codegen
