/// The tasks that searches are compared on.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/space/space.h"

namespace hone::bench {

struct NamedTask {
  std::string name;
  std::shared_ptr<const space::Task> task;
};

/// Whether the second operand of a product never changes, so that it is packed ahead of time.
enum class Weights { Constant, Variable };

/// [m, k] by [k, n].
Result<NamedTask> product_task(std::int64_t m, std::int64_t n, std::int64_t k, Weights weights);
/// The same + bias, then the tanh form of gelu.
Result<NamedTask> dense_gelu_task(std::int64_t m, std::int64_t n, std::int64_t k);
/// [batch, m, k] by [batch, k, n].
Result<NamedTask> batched_task(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k);
/// A softmax over the rows of a matrix, or a layer norm.
Result<NamedTask> softmax_task(std::int64_t rows, std::int64_t columns);
Result<NamedTask> layer_norm_task(std::int64_t rows, std::int64_t columns);

/// A convolution of an image of `size` by `size` with bias and relu, in and out in blocks of channels as in models.
/// As many groups as channels: depthwise.
struct Convolution {
  std::int64_t in, out, size, kernel, stride = 1, groups = 1;
  bool has_residual = false;  ///< adds an image before the relu
};
Result<NamedTask> conv_task(const Convolution& conv, const codegen::Target& target);

/// The tasks of a model at the shapes that its file has, 1 where it leaves one open; those of operators whose name has
/// `part` in it.
Result<std::vector<NamedTask>> model_tasks(const std::filesystem::path& file, const codegen::Target& target,
                                           const std::string& part = "");

}  // namespace hone::bench
