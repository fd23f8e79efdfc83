#include "hone/space/mapping_space.h"

#include <gtest/gtest.h>
#include <set>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/space/candidate.h"
#include "hone/space/run_program_test.h"
#include "hone/tensor/catalogue.h"

namespace hone::space {
namespace {

Task task_of(const ir::Function& naive, std::vector<std::size_t> constants = {1}) {
  return {.algorithms = {{"direct", naive}}, .constants = std::move(constants)};
}

/// A convolution with a window of 3 by 3 positions, directly and by Winograd's algorithm.
Task winograd_task(std::int64_t in, std::int64_t out, std::int64_t size) {
  const tensor::Tensor x = tensor::placeholder("x", {1, in, size, size});
  const tensor::Tensor w = tensor::placeholder("w", {out, in, 3, 3});
  const tensor::ConvOptions options{.strides = {1, 1}, .padding_before = {1, 1}, .padding_after = {1, 1}};
  Task task = task_of(tensor::lower("conv", {x, w}, {*tensor::conv(x, w, options)}));
  for (const std::int64_t tile : {2, 4})
    task.algorithms.push_back({"winograd" + std::to_string(tile),
                               tensor::lower("conv", {x, w}, {*tensor::winograd_conv(x, w, options, tile)})});
  task.likely = 2;
  return task;
}

/// Compares candidates with the interpreter, and their traces with themselves.
void check(const Task& task, const codegen::Target& target, int candidates, Rng& rng, double tolerance = 1e-4) {
  const std::unique_ptr<Space> space = make_mapping_space(task, target);
  runtime::ThreadPool pool(2);
  std::vector<ir::Array> expected = ir::random_arguments(task.naive(), rng);
  const std::vector<ir::Array> arguments = expected;
  ASSERT_TRUE(ir::interpret(task.naive(), expected));
  for (int i = 0; i < candidates; ++i) {
    const Candidate candidate = i == 0 ? space->first() : random_candidate(*space, rng);
    const std::string name = to_json(*space, candidate);
    const Result<schedule::Schedule> built = space->build(candidate);
    ASSERT_TRUE(built) << name << ": " << built.error().message;
    ASSERT_TRUE(ir::verify(built->program())) << name;
    const Result<schedule::Program> again = schedule::replay(task.algorithms[candidate.sketch].naive, built->trace());
    ASSERT_TRUE(again) << name << ": " << again.error().message;
    EXPECT_EQ(ir::structural_hash(*again), ir::structural_hash(built->program())) << name;
    const schedule::KernelProgram kernel = schedule::split_packing(built->program());
    const Result<std::vector<ir::Array>> found = run(kernel, arguments, target, pool);
    ASSERT_TRUE(found) << name << ": " << found.error().message;
    EXPECT_LE(ir::max_difference(found->back(), expected.back()), tolerance) << name << ir::to_text(kernel.main);
  }
}

TEST(MappingSpace, EveryCandidateComputesTheSame) {
  Rng rng(/*seed=*/1);
  for (const char* text : {"cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    for (const auto& [m, n, k] : {std::array{37, 113, 29}, std::array{1, 70, 64}, std::array{64, 1, 5}})
      check(task_of(product(m, n, k)), target, 8, rng);
    check(task_of(blocked_layer({64, 48, 5, 15, 3, 1, 1, 16, 16}), {1, 2}), target, 8, rng);
    check(task_of(blocked_layer({128, 32, 4, 7, 1, 1, 1, 16, 16}), {1, 2}), target, 8, rng);
    check(task_of(blocked_layer({32, 32, 7, 16, 3, 1, 32, 16, 16}), {1, 2}), target, 4, rng);
    check(winograd_task(20, 36, 13), target, 6, rng, 2e-3);
  }
}

TEST(MappingSpace, OfAnyProgramHasAFirstCandidate) {
  Rng rng(/*seed=*/2);
  const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  for (const tensor::NamedProgram& entry : tensor::catalogue(rng)) check(task_of(entry.function, {}), target, 2, rng);
}

TEST(MappingSpace, IsSmallAndStartsWithTheLikelyAlgorithm) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  const std::unique_ptr<Space> space = make_mapping_space(winograd_task(64, 64, 56), target);
  ASSERT_EQ(space->sketches().size(), 3);
  EXPECT_EQ(space->sketches()[space->first().sketch].name, "winograd4");
  for (const Sketch& sketch : space->sketches()) {
    EXPECT_LT(size_of(sketch), 200) << sketch.name;
    EXPECT_GT(size_of(sketch), 50) << sketch.name;
  }
}

TEST(MappingSpace, DecisionsChangePrograms) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  const std::unique_ptr<Space> space =
      make_mapping_space(task_of(blocked_layer({256, 64, 28, 28, 1, 1, 1, 16, 16}), {1, 2}), target);
  std::set<ir::Hash128> programs;
  for (std::uint64_t i = 0; i < size_of(*space); ++i) {
    programs.insert(ir::structural_hash(space->build(candidate_at(*space, i))->program()));
  }
  EXPECT_GT(programs.size(), size_of(*space) / 2);
}

}  // namespace
}  // namespace hone::space
