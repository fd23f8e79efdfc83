#include "hone/space/gpu_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/space/gpu_space_test.h"
#include "hone/space/gpu_steps.h"
#include "hone/tensor/catalogue.h"

namespace hone::space {
namespace {

using ::testing::HasSubstr;

/// A product of 24 by 20 by 12 elements in blocks of 8 by 4 threads with tiles of 3 by 1, two of them virtual.
Schedule tiled_for_gpu() {
  Schedule draft(gpu_product(24, 20, 12));
  const auto apply = [&](const schedule::Step& step) {
    const Result<void> done = draft.apply(step);
    EXPECT_TRUE(done) << done.error().message;
  };
  apply(schedule::CacheWrite{"matmul", ir::Scope::Local});
  apply(schedule::CacheRead{"matmul", "a", ir::Scope::Shared});
  apply(schedule::Split{"i", {0, 8, 3}});
  apply(schedule::Split{"j", {0, 2, 4}});
  apply(schedule::Split{"k", {0, 6}});
  apply(schedule::Reorder{{"i.0", "j.0", "j.1", "i.1", "j.2", "k.0", "k.1", "i.2"}});
  apply(schedule::ReverseComputeAt{"matmul.write", "j.2"});
  apply(schedule::Bind{"j.0", ir::ForKind::BlockX});
  apply(schedule::Bind{"j.1", ir::ForKind::VThread});
  apply(schedule::Bind{"i.1", ir::ForKind::ThreadY});
  apply(schedule::Bind{"j.2", ir::ForKind::ThreadX});
  EXPECT_TRUE(fill_together(draft, "a.shared", "k.0", 1));
  return draft;
}

TEST(GpuLimits, CountWhatABlockOfThreadsUses) {
  const Schedule draft = tiled_for_gpu();
  const GpuUse use = gpu_use(draft.program());
  EXPECT_EQ(use.threads, 8 * 4) << "loops that fill shared memory have the same threads";
  EXPECT_EQ(use.vthreads, 2);
  EXPECT_EQ(use.registers, 3 * 2) << "virtual threads have registers of their own";
  EXPECT_EQ(use.shared_bytes, 24 * 6 * 4) << "rows of all threads, and one step of the reduction";
}

TEST(GpuLimits, AnErrorNamesTheLimit) {
  const Schedule draft = tiled_for_gpu();
  const auto message = [&](std::string_view options) {
    const Result<void> checked = check_gpu_limits(draft.program(), gpu(options));
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(message(""), "");
  EXPECT_EQ(message("-max-threads=16 -warp=8"), "gpu: 'product' has 32 threads in a block, allowed are 16");
  EXPECT_EQ(message("-warp=4"), "gpu: 'product' has 2 virtual threads, allowed are 1");
  EXPECT_EQ(message("-shared-bytes=512"), "gpu: 'product' has 576 bytes of shared memory, allowed are 512");
  EXPECT_EQ(message("-registers=5"), "gpu: 'product' has 6 registers in a thread, allowed are 5");
}

TEST(GpuDefault, IsWithinAnyLimitsForEveryDefinition) {
  Rng rng(/*seed=*/1);
  const codegen::Target target = gpu("-max-threads=4 -warp=4 -shared-bytes=1 -registers=1");
  for (const tensor::NamedProgram& entry : tensor::catalogue(rng)) {
    const Schedule draft = gpu_default_schedule(entry.function, target);
    EXPECT_TRUE(check_gpu_limits(draft.program(), target)) << entry.name;
    std::vector<ir::Array> expected = ir::random_arguments(entry.function, rng), found = expected;
    ASSERT_TRUE(ir::interpret(entry.function, expected)) << entry.name;
    const Result<void> done = ir::interpret(draft.program(), found);
    ASSERT_TRUE(done) << entry.name << ": " << done.error().message;
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(ir::max_difference(found[i], expected[i]), 1e-4) << entry.name;
  }
}

}  // namespace
}  // namespace hone::space
