#include "hone/runtime/kernels/tree.h"

#include <algorithm>
#include <set>

#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/scores.h"
#include "hone/runtime/kernels/tree_ensemble.h"

namespace hone::runtime {
namespace {

/// How the leaves that a row reaches become one score per target; the numbers are those of ONNX.
enum class Aggregate : std::uint8_t { Average, Sum, Least, Largest };

Result<Aggregate> aggregate_named(const std::string& name) {
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<Aggregate>(i);
  return error(ErrorCode::InvalidArgument, "aggregate_function is '{}', allowed are AVERAGE, SUM, MIN and MAX", name);
}

/// What the attributes of one operator say, ready to be used.
struct Forest {
  TreeEnsemble ensemble;
  std::int64_t targets = 1;
  Aggregate aggregate = Aggregate::Sum;
  PostTransform how = PostTransform::None;
  std::vector<double> base;
  // of classifiers
  ClassLabels labels;
  bool has_one_class_of_two = false;  ///< all weights belong to one of two classes
  bool is_positive = true;            ///< all weights are
};

/// The sums of one row; a target without any leaf has no score.
struct Sums {
  std::vector<double> scores;
  std::vector<bool> has_score;
};

/// The leaves of a row put together. Sums are rounded to T after each addition.
template <typename T>
void aggregate(const Forest& forest, std::span<const T> row, Sums& sums) {
  sums.scores.assign(static_cast<std::size_t>(forest.targets), 0);
  sums.has_score.assign(static_cast<std::size_t>(forest.targets), false);
  for (std::size_t tree = 0; tree < forest.ensemble.trees(); ++tree)
    for (const auto& [target, weight] : forest.ensemble.leaf(tree, row)) {
      const auto place = static_cast<std::size_t>(target);
      double& score = sums.scores[place];
      const bool is_first = !sums.has_score[place];
      sums.has_score[place] = true;
      if (forest.aggregate == Aggregate::Least)
        score = is_first ? weight : std::min(score, weight);
      else if (forest.aggregate == Aggregate::Largest)
        score = is_first ? weight : std::max(score, weight);
      else
        score = static_cast<double>(static_cast<T>(score + weight));
    }
  if (forest.aggregate == Aggregate::Average)
    for (double& score : sums.scores)
      score = static_cast<double>(static_cast<T>(score / static_cast<double>(forest.ensemble.trees())));
}

/// Calls `use(row number, sums)` for each row of the input, in the precision of the input: double, or float.
template <typename Use>
Result<void> for_each_row(const Forest& forest, const Tensor& input, Use&& use) {
  if (input.rank() != 1 && input.rank() != 2)
    return error(ErrorCode::InvalidArgument, "the input must be [features] or [rows, features], found {}",
                 describe(input.type(), input.shape()));
  const std::int64_t width = input.shape().back(), count = input.rank() == 1 ? 1 : input.extent(0);
  if (width < forest.ensemble.features())
    return error(ErrorCode::InvalidArgument, "the trees ask for feature {}, the input has {}",
                 forest.ensemble.features() - 1, width);
  Sums sums;
  const auto walk = [&]<typename T>(std::span<const T> numbers) {
    for (std::int64_t i = 0; i < count; ++i) {
      aggregate(forest, numbers.subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width)), sums);
      use(static_cast<std::size_t>(i), sums);
    }
  };
  if (input.type() == ElementType::F64) return walk(input.as<double>()), Result<void>();
  if (input.type() == ElementType::F32) return walk(input.as<float>()), Result<void>();
  HONE_TRY(const Rows rows, rows_of(input));
  walk(std::span<const float>(rows.numbers));
  return {};
}

std::int64_t row_count(const Tensor& input) { return input.rank() == 2 ? input.extent(0) : 1; }

/// Scores as they are written: the base values added, then transformed.
std::vector<float> target_scores(const Forest& forest, const Sums& sums) {
  std::vector<float> scores;
  for (std::size_t i = 0; i < sums.scores.size(); ++i)
    scores.push_back(static_cast<float>(sums.scores[i] + (forest.base.empty() ? 0 : forest.base[i])));
  transform(forest.how, scores);
  return scores;
}

Result<std::vector<double>> base_values(const Attributes& attributes) { return numbers_of(attributes, "base_values"); }

Result<Forest> regressor_of(const Attributes& attributes) {
  Forest forest;
  forest.targets = attributes.integer("n_targets", 1);
  if (forest.targets < 1 || forest.targets > (1 << 24))
    return error(ErrorCode::InvalidArgument, "n_targets is {}, allowed are 1 to {}", forest.targets, 1 << 24);
  HONE_TRY(forest.aggregate, aggregate_named(attributes.text("aggregate_function", "SUM")));
  HONE_TRY(forest.how, post_transform_named(attributes.text("post_transform", "NONE")));
  HONE_TRY(forest.base, base_values(attributes));
  if (forest.base.size() == 1) forest.base.resize(static_cast<std::size_t>(forest.targets), forest.base[0]);
  if (!forest.base.empty() && static_cast<std::int64_t>(forest.base.size()) != forest.targets)
    return error(ErrorCode::InvalidArgument, "{} base values for {} targets", forest.base.size(), forest.targets);
  HONE_TRY(forest.ensemble, TreeEnsemble::read_numbered(attributes, "target", forest.targets));
  return forest;
}

Result<Forest> classifier_of(const Attributes& attributes) {
  Forest forest;
  forest.labels = ClassLabels::read(attributes, "classlabels_int64s", "classlabels_strings");
  forest.targets = static_cast<std::int64_t>(forest.labels.size());
  if (forest.targets < 1) return error(ErrorCode::InvalidArgument, "no class labels");
  HONE_TRY(forest.how, post_transform_named(attributes.text("post_transform", "NONE")));
  HONE_TRY(forest.base, base_values(attributes));
  if (!forest.base.empty() && static_cast<std::int64_t>(forest.base.size()) != forest.targets &&
      !(forest.targets == 2 && forest.base.size() == 1))
    return error(ErrorCode::InvalidArgument, "{} base values for {} classes", forest.base.size(), forest.targets);
  HONE_TRY(forest.ensemble, TreeEnsemble::read_numbered(attributes, "class", forest.targets));
  std::set<std::int64_t> classes;
  for (const auto& [target, weight] : forest.ensemble.weights()) {
    classes.insert(target);
    if (weight < 0) forest.is_positive = false;
  }
  forest.has_one_class_of_two = forest.targets == 2 && classes.size() == 1;
  return forest;
}

Result<Forest> indexed_of(const Attributes& attributes) {
  Forest forest;
  const auto targets = attributes.integers("leaf_targetids");
  const std::int64_t last = targets.empty() ? 0 : *std::max_element(targets.begin(), targets.end());
  forest.targets = attributes.integer("n_targets", last + 1);
  if (forest.targets < 1 || forest.targets > (1 << 24))
    return error(ErrorCode::InvalidArgument, "n_targets is {}, allowed are 1 to {}", forest.targets, 1 << 24);
  const std::int64_t aggregate = attributes.integer("aggregate_function", 1);
  const std::int64_t how = attributes.integer("post_transform", 0);
  if (aggregate < 0 || aggregate > 3)
    return error(ErrorCode::InvalidArgument, "aggregate_function is {}, allowed are 0 to 3", aggregate);
  if (how < 0 || how > 4) return error(ErrorCode::InvalidArgument, "post_transform is {}, allowed are 0 to 4", how);
  forest.aggregate = static_cast<Aggregate>(aggregate);
  forest.how = static_cast<PostTransform>(how);
  HONE_TRY(forest.ensemble, TreeEnsemble::read_indexed(attributes, forest.targets));
  return forest;
}

/// Two classes. Trees that know only the first mean the second by it: its score decides, and makes that of the other.
std::pair<std::int64_t, std::vector<float>> judge_two(const Forest& forest, Sums sums) {
  for (std::size_t i = 0; i < forest.base.size(); ++i)
    if (forest.base.size() == 2 || sums.has_score[i]) sums.scores[i] += forest.base[i];
  const auto first = static_cast<float>(sums.scores[0]), second = static_cast<float>(sums.scores[1]);
  const bool is_single = forest.has_one_class_of_two && !sums.has_score[1] && forest.base.size() < 2;
  std::int64_t winner = second > first ? 1 : 0;
  if (forest.has_one_class_of_two && forest.base.size() < 2)
    winner = (is_single ? first : second) > (forest.is_positive ? 0.5F : 0.0F) ? 1 : 0;
  const SecondScore other = forest.is_positive ? SecondScore::Complement : SecondScore::Negative;
  if (is_single) return {winner, finished_scores(forest.how, {first}, other)};
  return {winner, finished_scores(forest.how, {first, second}, SecondScore::None)};
}

}  // namespace

Result<void> tree_ensemble(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const auto forest, call.attributes.prepared<Forest>([&] { return indexed_of(call.attributes); }));
  HONE_TRY(Tensor output, call.output(0, input.type(), {row_count(input), forest->targets}));
  return with_number_type(input.type(), [&](auto zero) {
    using T = decltype(zero);
    const auto target = output.as<T>();
    return for_each_row(*forest, input, [&](std::size_t row, const Sums& sums) {
      std::vector<float> transformed;
      if (forest->how != PostTransform::None) transformed = target_scores(*forest, sums);
      for (std::size_t i = 0; i < sums.scores.size(); ++i)
        target[row * sums.scores.size() + i] =
            static_cast<T>(transformed.empty() ? sums.scores[i] : static_cast<double>(transformed[i]));
    });
  });
}

Result<void> tree_ensemble_regressor(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const auto forest, call.attributes.prepared<Forest>([&] { return regressor_of(call.attributes); }));
  HONE_TRY(Tensor output, call.output(0, ElementType::F32, {row_count(input), forest->targets}));
  const auto target = output.as<float>();
  return for_each_row(*forest, input, [&](std::size_t row, const Sums& sums) {
    const std::vector<float> scores = target_scores(*forest, sums);
    std::copy(scores.begin(), scores.end(), target.begin() + static_cast<std::ptrdiff_t>(row * scores.size()));
  });
}

Result<void> tree_ensemble_classifier(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const auto forest, call.attributes.prepared<Forest>([&] { return classifier_of(call.attributes); }));
  std::vector<std::int64_t> classes;
  std::vector<std::vector<float>> all_scores;
  HONE_TRY(for_each_row(*forest, input, [&](std::size_t, const Sums& sums) {
    if (forest->targets == 2) {
      auto [winner, scores] = judge_two(*forest, sums);
      classes.push_back(winner);
      all_scores.push_back(std::move(scores));
      return;
    }
    std::vector<float> scores;
    for (std::size_t i = 0; i < sums.scores.size(); ++i)
      scores.push_back(static_cast<float>(sums.scores[i] + (forest->base.empty() ? 0 : forest->base[i])));
    classes.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
    transform(forest->how, scores);
    all_scores.push_back(std::move(scores));
  }));
  HONE_TRY(forest->labels.write(call, classes));
  return write_rows(call, 1, all_scores, all_scores.empty() ? forest->targets : std::ssize(all_scores[0]));
}

}  // namespace hone::runtime
