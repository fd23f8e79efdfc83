#include "hone/runtime/kernels/linear.h"

#include <algorithm>

#include "hone/runtime/kernels/scores.h"

namespace hone::runtime {
namespace {

/// Rows of coefficients, each with an intercept.
struct LinearModel {
  std::vector<float> coefficients, intercepts;

  std::vector<float> scores(std::span<const float> row) const {
    std::vector<float> result = intercepts;
    for (std::size_t i = 0; i < result.size(); ++i)
      for (std::size_t k = 0; k < row.size(); ++k) result[i] += coefficients[i * row.size() + k] * row[k];
    return result;
  }
};

/// The model for rows of `width`, checked; `count` is how many scores it gives, 0 if its own numbers decide that.
/// Coefficients that are left over do no harm: there are models in use that have them.
Result<LinearModel> model_of(const Attributes& attributes, std::int64_t width, std::size_t count) {
  LinearModel model{attributes.reals("coefficients"), attributes.reals("intercepts")};
  const auto features = static_cast<std::size_t>(width);
  if (count == 0) count = model.intercepts.size();
  if (count == 0 && features != 0) count = model.coefficients.size() / features;
  if (count == 0 || model.coefficients.size() < count * features)
    return error(ErrorCode::InvalidArgument, "{} coefficients for {} scores of {} features", model.coefficients.size(),
                 count, features);
  if (model.intercepts.empty()) model.intercepts.assign(count, 0);
  if (model.intercepts.size() != count)
    return error(ErrorCode::InvalidArgument, "{} intercepts for {} scores", model.intercepts.size(), count);
  return model;
}

}  // namespace

Result<void> linear_classifier(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const Rows rows, rows_of(input));
  HONE_TRY(const LinearModel model, model_of(call.attributes, rows.width, 0));
  HONE_TRY(const PostTransform how, post_transform_named(call.attributes.text("post_transform", "NONE")));
  const ClassLabels labels = ClassLabels::read(call.attributes, "classlabels_ints", "classlabels_strings");
  const std::size_t count = model.intercepts.size();
  const bool is_binary = count == 1 && labels.size() == 2;
  if (labels.size() != 0 && labels.size() != count && !is_binary)
    return error(ErrorCode::InvalidArgument, "{} labels for {} scores", labels.size(), count);

  std::vector<std::int64_t> classes;
  std::vector<std::vector<float>> all_scores;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::vector<float> scores = model.scores(rows.row(i));
    if (count > 1)
      classes.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
    else
      classes.push_back(scores[0] > 0 && labels.size() != 1 ? 1 : 0);
    all_scores.push_back(
        finished_scores(how, std::move(scores), is_binary ? SecondScore::Complement : SecondScore::None));
  }
  HONE_TRY(labels.write(call, classes));
  const bool has_second = is_binary && how != PostTransform::Probit;
  return write_rows(call, 1, all_scores, static_cast<std::int64_t>(count) + (has_second ? 1 : 0));
}

Result<void> linear_regressor(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const Rows rows, rows_of(input));
  const std::int64_t targets = call.attributes.integer("targets", 1);
  if (targets < 1) return error(ErrorCode::InvalidArgument, "targets is {}, at least 1 is allowed", targets);
  HONE_TRY(const LinearModel model, model_of(call.attributes, rows.width, static_cast<std::size_t>(targets)));
  HONE_TRY(const PostTransform how, post_transform_named(call.attributes.text("post_transform", "NONE")));
  std::vector<std::vector<float>> all_scores;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    all_scores.push_back(model.scores(rows.row(i)));
    transform(how, all_scores.back());
  }
  return write_rows(call, 0, all_scores, targets);
}

}  // namespace hone::runtime
