#include "hone/runtime/kernels/scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hone/runtime/kernels/elements.h"

namespace hone::runtime {
namespace {

/// The inverse of erf by Winitzki's approximation, as runtimes of this operator set have it.
float inverse_erf(float x) {
  constexpr float kA = 0.147F;
  const float logarithm = std::log((1 - x) * (1 + x));
  const float half = 2 / (std::numbers::pi_v<float> * kA) + 0.5F * logarithm;
  return std::copysign(std::sqrt(std::sqrt(half * half - logarithm / kA) - half), x);
}

/// A softmax; with `keeps_zeros`, scores of 0 are not lifted by the exponential.
void softmax(std::span<float> scores, bool keeps_zeros) {
  if (scores.empty()) return;
  const float largest = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (float& score : scores) {
    score = keeps_zeros && std::fabs(score) <= 1e-7F ? score * std::exp(-largest) : std::exp(score - largest);
    sum += score;
  }
  for (float& score : scores) score = sum == 0 ? 0.5F : score / sum;
}

}  // namespace

Result<PostTransform> post_transform_named(const std::string& name) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<PostTransform>(i);
  return error(ErrorCode::InvalidArgument,
               "post_transform is '{}', allowed are NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO and PROBIT", name);
}

float logistic(float score) {
  const float positive = 1 / (1 + std::exp(-std::fabs(score)));
  return score < 0 ? 1 - positive : positive;
}

void transform(PostTransform how, std::span<float> scores) {
  switch (how) {
    case PostTransform::None:
      return;
    case PostTransform::Softmax:
      return softmax(scores, /*keeps_zeros=*/false);
    case PostTransform::SoftmaxZero:
      return softmax(scores, /*keeps_zeros=*/true);
    case PostTransform::Logistic:
      for (float& score : scores) score = logistic(score);
      return;
    case PostTransform::Probit:
      for (float& score : scores) score = std::numbers::sqrt2_v<float> * inverse_erf(2 * score - 1);
      return;
  }
}

std::vector<float> finished_scores(PostTransform how, std::vector<float> scores, SecondScore second) {
  if (scores.size() != 1 || how == PostTransform::Probit || second == SecondScore::None) {
    transform(how, scores);
    return scores;
  }
  if (how == PostTransform::Logistic) return {logistic(-scores[0]), logistic(scores[0])};
  return {second == SecondScore::Complement ? 1 - scores[0] : -scores[0], scores[0]};
}

ClassLabels ClassLabels::read(const Attributes& attributes, std::string_view ints, std::string_view strings) {
  if (std::vector<std::string> texts = attributes.texts(strings); !texts.empty()) return {std::move(texts)};
  return {attributes.integers(ints)};
}

std::size_t ClassLabels::size() const {
  return std::visit([](const auto& labels) { return labels.size(); }, names);
}

Result<void> ClassLabels::write(HostCall& call, std::span<const std::int64_t> classes) const {
  const auto* texts = std::get_if<std::vector<std::string>>(&names);
  const ElementType type = texts ? ElementType::String : ElementType::I64;
  HONE_TRY(Tensor output, call.output(0, type, {static_cast<std::int64_t>(classes.size())}));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto place = static_cast<std::size_t>(classes[i]);
    HONE_CHECK(size() == 0 || place < size(), "class {} of {}", classes[i], size());
    if (texts)
      output.strings()[i] = (*texts)[place];
    else
      output.as<std::int64_t>()[i] = size() == 0 ? classes[i] : std::get<0>(names)[place];
  }
  return {};
}

Result<Rows> rows_of(const Tensor& tensor) {
  if (tensor.rank() != 1 && tensor.rank() != 2)
    return error(ErrorCode::InvalidArgument, "the input must be [features] or [rows, features], found {}",
                 describe(tensor.type(), tensor.shape()));
  Rows rows;
  rows.width = tensor.shape().back();
  rows.count = tensor.rank() == 1 ? 1 : tensor.extent(0);
  HONE_TRY(with_number_type(tensor.type(), [&](auto zero) -> Result<void> {
    const auto elements = tensor.as<decltype(zero)>();
    rows.numbers.assign(elements.begin(), elements.end());
    return {};
  }));
  return rows;
}

Result<void> write_rows(HostCall& call, std::size_t output, std::span<const std::vector<float>> rows,
                        std::int64_t width) {
  if (!call.wants(output)) return {};
  HONE_TRY(Tensor tensor, call.output(output, ElementType::F32, {static_cast<std::int64_t>(rows.size()), width}));
  auto target = tensor.as<float>().begin();
  for (const std::vector<float>& row : rows) {
    HONE_CHECK(static_cast<std::int64_t>(row.size()) == width, "a row of {} for {}", row.size(), width);
    target = std::copy(row.begin(), row.end(), target);
  }
  return {};
}

}  // namespace hone::runtime
