#include "hone/codegen/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/codegen/llvm/subtarget.h"

namespace hone::codegen {
namespace {

using testing::HasSubstr;

Target target(std::string_view text) { return parse_target(text).value(); }

TEST(Target, TextRoundTrips) {
  for (const char* text : {"cpu", "cpu -mcpu=znver4 -threads=2", "x86-64 -mattr=+avx2", "x86-64 -mattr=+sse4.2",
                           "x86-64 -mattr=+avx512 -threads=1", "aarch64", "aarch64 -mattr=+neon,+dotprod", "gpu",
                           "gpu -warp=64 -shared-bytes=65536", "gpu -max-threads=256 -registers=128"}) {
    const Result<Target> parsed = parse_target(text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    const Result<Target> again = parse_target(to_string(*parsed));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*parsed, *again) << to_string(*parsed);
    EXPECT_EQ(to_string(*parsed), to_string(*again));
  }
}

TEST(Target, VectorFactsFollowFromTheFeatures) {
  EXPECT_EQ(target("x86-64 -mattr=+sse4.2").vector_bits, 128);
  EXPECT_EQ(target("x86-64 -mattr=+sse4.2").vector_registers, 16);
  EXPECT_FALSE(target("x86-64 -mattr=+sse4.2").has_fma);
  EXPECT_EQ(target("x86-64 -mattr=+avx2").vector_bits, 256);
  EXPECT_EQ(target("x86-64 -mattr=+avx2").vector_registers, 16);
  EXPECT_TRUE(target("x86-64 -mattr=+avx2").has_fma);
  EXPECT_EQ(target("x86-64 -mcpu=znver4").vector_bits, 512);
  EXPECT_EQ(target("x86-64 -mcpu=znver4").vector_registers, 32);
  EXPECT_EQ(target("x86-64 -mcpu=znver4").lanes(32), 16);
  EXPECT_EQ(target("x86-64 -mcpu=znver4").multiply_adds, 1);
  EXPECT_EQ(target("x86-64 -mcpu=znver4 -mattr=-avx512f").multiply_adds, 2);
  EXPECT_EQ(target("x86-64 -mcpu=sapphirerapids").multiply_adds, 2);
  EXPECT_GT(target("x86-64 -mcpu=znver4").l3_bytes_per_cycle, target("x86-64 -mcpu=sapphirerapids").l3_bytes_per_cycle);
  EXPECT_EQ(target("aarch64").vector_bits, 128);
  EXPECT_EQ(target("aarch64").vector_registers, 32);
}

TEST(Target, Avx2MeansBaselinePlusAvx2AndFmaExactly) {
  const Target avx2 = target("x86-64 -mattr=+avx2");
  EXPECT_EQ(avx2.mcpu, "x86-64");
  EXPECT_EQ(avx2.mattr, (std::vector<std::string>{"+avx2", "+fma"}));
  EXPECT_FALSE(has_feature(avx2, "avx512f"));
  EXPECT_FALSE(has_feature(avx2, "bmi2"));
}

TEST(Target, TheLastSignOfAFeatureWins) {
  EXPECT_EQ(target("x86-64 -mattr=+avx2,-fma").mattr, (std::vector<std::string>{"+avx2", "-fma"}));
}

TEST(Target, GpusHaveLimitsAndCpusHaveNone) {
  EXPECT_EQ(to_string(target("gpu")), "gpu -max-threads=1024 -shared-bytes=49152 -warp=32 -registers=255");
  EXPECT_TRUE(target("gpu").is_gpu());
  EXPECT_EQ(target("gpu").gpu.max_vthreads(), 8);
  EXPECT_EQ(target("gpu -warp=64").gpu, (GpuLimits{1024, 49152, 64, 255}));
  EXPECT_FALSE(target("cpu").is_gpu());
  EXPECT_EQ(target("cpu").gpu, GpuLimits());
}

TEST(Target, HostHasWhatTheHostHas) {
  const Target& host = host_target();
  EXPECT_EQ(feature_missing_on_host(host), "");
  EXPECT_GE(host.threads, 1);
  EXPECT_GE(host.cores, 1);
  EXPECT_GT(host.l1_bytes, 0);
  EXPECT_GE(host.l2_bytes, host.l1_bytes);
  EXPECT_EQ(target("cpu"), host);
}

TEST(Target, ErrorsNameTheOptionTheValueAndTheAllowed) {
  const auto message = [](std::string_view text) { return parse_target(text).error().message; };
  EXPECT_THAT(message("tpu"), HasSubstr("unknown kind 'tpu', allowed are cpu, x86-64, aarch64 and gpu"));
  EXPECT_THAT(message(""), HasSubstr("unknown kind ''"));
  EXPECT_THAT(message("cpu -mcpu=pentagon"), HasSubstr("unknown CPU 'pentagon' in -mcpu"));
  EXPECT_THAT(message("cpu -mattr=avx2"), HasSubstr("feature 'avx2' in -mattr, allowed are names with + or -"));
  EXPECT_THAT(message("x86-64 -mattr=+avx3"), HasSubstr("unknown feature 'avx3' in -mattr"));
  EXPECT_THAT(message("cpu -threads=0"), HasSubstr("-threads is '0', allowed are 1..1024"));
  EXPECT_THAT(message("cpu -threads=two"), HasSubstr("-threads is 'two'"));
  EXPECT_THAT(message("gpu -threads=2"),
              HasSubstr("unknown option '-threads', allowed are -max-threads, -shared-bytes, -warp and -registers"));
  EXPECT_THAT(message("gpu -warp=0"), HasSubstr("-warp is '0', allowed are 1..1024"));
  EXPECT_THAT(message("gpu -shared-bytes=48k"), HasSubstr("-shared-bytes is '48k', allowed are 1..1073741824"));
  EXPECT_THAT(message("gpu -max-threads=16"), HasSubstr("-warp is 32, allowed are 1..16, the threads of a block"));
  EXPECT_THAT(message("cpu -warp=32"), HasSubstr("unknown option '-warp', allowed are -mcpu, -mattr and -threads"));
  EXPECT_THAT(message("cpu -speed=9"), HasSubstr("unknown option '-speed', allowed are -mcpu, -mattr and -threads"));
}

}  // namespace
}  // namespace hone::codegen
