/// What tests of spaces for GPUs share: programs, and the comparison of candidates with the naive program.
#pragma once

#include <gtest/gtest.h>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/space/candidate.h"
#include "hone/space/gpu_limits.h"
#include "hone/space/run_program_test.h"

namespace hone::space {

inline codegen::Target gpu(std::string_view options = "") {
  return codegen::parse_target("gpu " + std::string(options)).value();
}

/// A convolution with bias and relu, or without a kernel's sum over channels if it is depthwise.
inline ir::Function gpu_layer(std::int64_t in, std::int64_t out, std::int64_t height, std::int64_t width,
                              std::int64_t kernel, std::int64_t stride, std::int64_t groups = 1) {
  return blocked_layer({in, out, height, width, kernel, stride, groups, 0, 0});
}

inline ir::Function gpu_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("a", {m, k}), b = tensor::placeholder("b", {k, n});
  return tensor::lower("product", {a, b}, {*tensor::matmul(a, b)});
}

inline ir::Function gpu_batch_matmul(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("a", {batch, m, k}), b = tensor::placeholder("b", {batch, n, k});
  return tensor::lower("product", {a, b}, {*tensor::matmul(a, b, {.transpose_b = true})});
}

/// max(a · b, 0).
inline ir::Function gpu_matmul_relu(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("a", {m, k}), b = tensor::placeholder("b", {k, n});
  const tensor::Tensor c = *tensor::matmul(a, b);
  const tensor::Tensor d = tensor::compute("relu", tensor::axes_of(c.shape()), [&](const tensor::Indices& i) {
    return ir::max(c(i), ir::constant(ir::kF32, 0.0));
  });
  return tensor::lower("layer", {a, b}, {d});
}

/// Compares candidates of one algorithm of a task with its naive program.
class GpuComparison {
 public:
  GpuComparison(const ir::Function& naive, const Space& space, const codegen::Target& target, Rng& rng,
                double tolerance = 1e-4)
      : naive_(naive), space_(space), target_(target), tolerance_(tolerance) {
    arguments_ = expected_ = ir::random_arguments(naive, rng);
    EXPECT_TRUE(ir::interpret(naive, expected_));
  }

  /// Whether there is such a candidate; then it is within the limits, replays from its trace, and computes the same in
  /// the interpreter and, if asked for, as code for this machine, which runs bound loops one after the other.
  bool check(const Candidate& candidate, bool compiles = false) {
    const Result<schedule::Schedule> made = space_.build(candidate);
    if (!made) return false;
    const std::string what = naive_.name + " " + to_json(space_, candidate) + "\n" + ir::to_text(made->program());
    EXPECT_TRUE(ir::verify(made->program())) << what;
    EXPECT_TRUE(check_gpu_limits(made->program(), target_)) << what;
    const Result<schedule::Program> again = schedule::replay(made->naive(), made->trace());
    EXPECT_TRUE(again && ir::equal(*again, made->program())) << what;
    std::vector<ir::Array> found = arguments_;
    const Result<void> done = ir::interpret(made->program(), found);
    EXPECT_TRUE(done) << done.error().message << "\n" << what;
    if (done) compare(found, what);
    if (!compiles) return true;
    const codegen::Target cpu = codegen::parse_target("cpu -threads=1").value();
    runtime::ThreadPool pool(1);
    const auto ran = run(schedule::split_packing(made->program()), arguments_, cpu, pool);
    EXPECT_TRUE(ran) << ran.error().message << "\n" << what;
    if (ran) compare(*ran, what);
    return true;
  }

 private:
  void compare(const std::vector<ir::Array>& found, const std::string& what) const {
    for (std::size_t i = 0; i < expected_.size(); ++i)
      EXPECT_LE(ir::max_difference(found[i], expected_[i]), tolerance_) << what;
  }

  const ir::Function& naive_;
  const Space& space_;
  const codegen::Target& target_;
  double tolerance_;
  std::vector<ir::Array> arguments_, expected_;
};

}  // namespace hone::space
