#include "hone/space/template/templates.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/space/candidate.h"
#include "hone/space/run_program_test.h"

namespace hone::space {
namespace {

using tensor::placeholder;

/// A task, and the template that must fit it.
struct Fits {
  std::string name;
  Task task;
  double tolerance = 1e-5;
};

Fits fits(std::string name, const ir::Function& naive, std::vector<std::size_t> constants) {
  return {std::move(name), {.algorithms = {{"direct", naive}}, .constants = std::move(constants)}};
}

Fits dense(std::int64_t m, std::int64_t n, std::int64_t k, bool has_weights) {
  return fits("dense", product(m, n, k), has_weights ? std::vector<std::size_t>{1} : std::vector<std::size_t>{});
}

/// relu(x · wᵀ + bias), as fully connected layers have it.
Fits layer(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor x = placeholder("x", {m, k}), w = placeholder("w", {n, k}), b = placeholder("b", {n});
  const tensor::Tensor y = *tensor::matmul(x, w, {.transpose_b = true});
  const tensor::Tensor out = tensor::compute("out", tensor::axes_of(y.shape()), [&](const tensor::Indices& i) {
    return ir::max(y(i) + b(i[1]), ir::constant(ir::kF32, 0.0));
  });
  return fits("dense", tensor::lower("layer", {x, w, b}, {out}), {1, 2});
}

Fits batch_matmul(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, bool transposes) {
  const tensor::Tensor a = placeholder("a", {batch, m, k});
  const tensor::Tensor b = transposes ? placeholder("b", {batch, n, k}) : placeholder("b", {batch, k, n});
  return fits("batch_matmul", tensor::lower("product", {a, b}, {*tensor::matmul(a, b, {.transpose_b = transposes})}),
              {});
}

Fits conv(std::int64_t in, std::int64_t out, std::int64_t height, std::int64_t width, std::int64_t kernel,
          std::int64_t stride) {
  return fits("conv2d", blocked_layer({in, out, height, width, kernel, stride, 1, 0, 0}), {1, 2});
}

Fits blocked(std::string name, const Layer& layer) { return fits(std::move(name), blocked_layer(layer), {1, 2}); }

Fits winograd(std::int64_t in, std::int64_t out, std::int64_t height, std::int64_t width, std::int64_t tile) {
  const tensor::Tensor x = placeholder("x", {1, in, height, width}), w = placeholder("w", {out, in, 3, 3});
  const tensor::ConvOptions options{.padding_before = {1, 1}, .padding_after = {1, 1}};
  Fits made = fits("winograd", tensor::lower("conv", {x, w}, {*tensor::conv(x, w, options)}), {1});
  made.task.algorithms.push_back(
      {"winograd", tensor::lower("conv", {x, w}, {*tensor::winograd_conv(x, w, options, tile)})});
  made.task.likely = 1;
  made.tolerance = 2e-3;
  return made;
}

/// Extents of one, primes and tails among them.
std::vector<Fits> tasks() {
  return {
      dense(37, 113, 29, true),
      dense(1, 61, 64, true),
      dense(64, 2, 47, false),
      dense(13, 48, 1, true),
      dense(96, 80, 96, false),
      layer(7, 67, 48),
      layer(1, 19, 5),
      batch_matmul(3, 13, 17, 19, false),
      batch_matmul(2, 1, 33, 32, true),
      batch_matmul(5, 31, 7, 16, true),
      conv(3, 7, 11, 13, 3, 1),
      conv(5, 8, 9, 4, 3, 2),
      conv(4, 6, 5, 7, 1, 2),
      blocked("conv2d_nchwc", {64, 48, 5, 13, 3, 1, 1, 16, 16}),
      blocked("conv2d_nchwc", {3, 16, 9, 8, 3, 2, 1, 0, 16}),
      blocked("conv2d_nchwc", {16, 24, 1, 7, 3, 1, 1, 16, 8}),
      blocked("conv2d_nchwc", {32, 32, 7, 1, 5, 1, 1, 16, 16}),
      blocked("conv2d_1x1", {128, 64, 4, 7, 1, 1, 1, 16, 16}),
      blocked("conv2d_1x1", {8, 64, 3, 13, 1, 2, 1, 8, 16}),
      blocked("conv2d_1x1", {32, 16, 1, 1, 1, 1, 1, 16, 16}),
      blocked("depthwise", {32, 32, 7, 13, 3, 1, 32, 16, 16}),
      blocked("depthwise", {16, 16, 9, 9, 5, 2, 16, 16, 16}),
      blocked("depthwise", {16, 16, 9, 9, 7, 1, 16, 16, 16}),
      blocked("depthwise", {16, 16, 1, 3, 3, 1, 16, 16, 8}),
      winograd(20, 36, 13, 11, 4),
      winograd(17, 5, 7, 7, 2),
  };
}

/// The sketch of the template that must fit; the number of sketches if none is there.
std::size_t sketch_of(const Space& space, const std::string& name) {
  const std::vector<Sketch>& sketches = space.sketches();
  return static_cast<std::size_t>(
      std::find_if(sketches.begin(), sketches.end(), [&](const Sketch& s) { return s.name.ends_with(" " + name); }) -
      sketches.begin());
}

Candidate random_of(const Space& space, std::size_t sketch, Rng& rng) {
  Candidate candidate{sketch, {}};
  for (const Knob& knob : space.sketches()[sketch].knobs)
    candidate.choices.push_back(
        static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(knob.options.size()) - 1)));
  return candidate;
}

class TemplatesOn : public ::testing::TestWithParam<const char*> {
 protected:
  const codegen::Target target_ = codegen::parse_target(GetParam()).value();
};

TEST_P(TemplatesOn, EveryCandidateComputesTheSame) {
  Rng rng(/*seed=*/1);
  runtime::ThreadPool pool(2);
  constexpr int kInterpreted = 6, kCompiled = 3;
  for (const Fits& fit : tasks()) {
    const auto space = make_template_space(fit.task, target_, cpu_templates());
    ASSERT_TRUE(space) << space.error().message;
    const std::size_t sketch = sketch_of(**space, fit.name);
    ASSERT_LT(sketch, (*space)->sketches().size()) << fit.name << " does not fit " << ir::to_text(fit.task.naive());
    const std::vector<ir::Array> arguments = ir::random_arguments(fit.task.naive(), rng);
    std::vector<ir::Array> expected = arguments;
    ASSERT_TRUE(ir::interpret(fit.task.naive(), expected));
    int built = 0;
    for (int draw = 0; draw < 200 && built < kInterpreted; ++draw) {
      const Candidate candidate = draw == 0 ? (*space)->starts()[0] : random_of(**space, sketch, rng);
      const std::string name = to_json(**space, candidate);
      const Result<schedule::Schedule> made = (*space)->build(candidate);
      if (!made && made.error().message.find("leaves this candidate out") != std::string::npos) continue;
      ASSERT_TRUE(made) << name << ": " << made.error().message;
      ++built;
      ASSERT_TRUE(ir::verify(made->program())) << name;
      std::vector<ir::Array> found = arguments;
      const Result<void> interpreted = ir::interpret(made->program(), found);
      ASSERT_TRUE(interpreted) << name << ": " << interpreted.error().message << ir::to_text(made->program());
      EXPECT_LE(ir::max_difference(found.back(), expected.back()), fit.tolerance)
          << name << ir::to_text(made->program());
      if (built > kCompiled) continue;
      const auto compiled = run(schedule::split_packing(made->program()), arguments, target_, pool);
      ASSERT_TRUE(compiled) << name << ": " << compiled.error().message;
      EXPECT_LE(ir::max_difference(compiled->back(), expected.back()), fit.tolerance)
          << name << ir::to_text(made->program());
    }
    EXPECT_EQ(built, kInterpreted) << fit.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, TemplatesOn, ::testing::Values("cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1"),
                         [](const auto& on) { return on.index == 0 ? "Host" : "Avx2"; });

TEST(Templates, ReplayFromTheirTraces) {
  const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  for (const Fits& fit : tasks()) {
    const auto space = make_template_space(fit.task, target, cpu_templates()).value();
    for (const Candidate& start : space->starts()) {
      const std::string& name = space->sketches()[start.sketch].name;
      const std::size_t algorithm = name.starts_with("winograd") ? 1 : 0;
      const Result<schedule::Schedule> made = space->build(start);
      ASSERT_TRUE(made) << name << ": " << made.error().message;
      const Result<schedule::Program> again = schedule::replay(fit.task.algorithms[algorithm].naive, made->trace());
      ASSERT_TRUE(again) << name << ": " << again.error().message;
      EXPECT_TRUE(ir::equal(*again, made->program())) << name;
    }
  }
}

TEST(Templates, HaveManyPrograms) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  const std::map<std::string, Fits> large = {
      {"dense", dense(512, 512, 512, true)},
      {"conv2d_nchwc", blocked("conv2d_nchwc", {128, 128, 28, 28, 3, 1, 1, 16, 16})},
      {"conv2d_1x1", blocked("conv2d_1x1", {256, 64, 56, 56, 1, 1, 1, 16, 16})},
      {"depthwise", blocked("depthwise", {144, 144, 56, 56, 3, 1, 144, 16, 16})}};
  Rng rng(/*seed=*/3);
  for (const auto& [name, fit] : large) {
    const auto space = make_template_space(fit.task, target, cpu_templates()).value();
    const std::size_t sketch = sketch_of(*space, name);
    std::set<ir::Hash128> programs;
    std::size_t built = 0;
    for (int i = 0; i < 200; ++i)
      if (const auto made = space->build(random_of(*space, sketch, rng))) {
        ++built;
        programs.insert(ir::structural_hash(made->program()));
      }
    EXPECT_GE(built, 40) << name;
    EXPECT_GE(programs.size(), built / 2) << name;
  }
}

}  // namespace
}  // namespace hone::space
