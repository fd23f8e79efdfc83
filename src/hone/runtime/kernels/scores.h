/// Scores of classes and targets: what linear models, support vectors and trees do with them at the end.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// What becomes of the scores of one row.
enum class PostTransform : std::uint8_t { None, Softmax, Logistic, SoftmaxZero, Probit };

Result<PostTransform> post_transform_named(const std::string& name);
void transform(PostTransform how, std::span<float> scores);
float logistic(float score);

/// How a second score is made of the only one of two classes: not at all, as what is missing to 1, or as its negative.
enum class SecondScore : std::uint8_t { None, Complement, Negative };

/// The scores of a row after the transform, the second one included.
std::vector<float> finished_scores(PostTransform how, std::vector<float> scores, SecondScore second);

/// The labels of classes: numbers or strings. Where none are given a class is its own number.
struct ClassLabels {
  std::variant<std::vector<std::int64_t>, std::vector<std::string>> names;

  static ClassLabels read(const Attributes& attributes, std::string_view ints, std::string_view strings);
  std::size_t size() const;
  /// Writes output 0: the label of each of the classes, which are below size() unless there are no labels.
  Result<void> write(HostCall& call, std::span<const std::int64_t> classes) const;
};

/// The input as rows of floats: a vector is one row. Of other number types each is converted.
struct Rows {
  std::vector<float> numbers;
  std::int64_t count = 0, width = 0;

  std::span<const float> row(std::int64_t i) const {
    return std::span(numbers).subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
  }
};
Result<Rows> rows_of(const Tensor& tensor);

/// Writes rows of one width as a float tensor [rows, width].
Result<void> write_rows(HostCall& call, std::size_t output, std::span<const std::vector<float>> rows,
                        std::int64_t width);

}  // namespace hone::runtime
