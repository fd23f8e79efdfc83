#include "hone/runtime/kernels/support_vectors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/runtime/kernels/scores.h"

namespace hone::runtime {
namespace {

/// How alike two vectors are.
struct Similarity {
  enum class Kind : std::uint8_t { Linear, Poly, Rbf, Sigmoid };

  Kind kind = Kind::Linear;
  float gamma = 0, offset = 0, degree = 0;

  static Result<Similarity> read(const Attributes& attributes) {
    Similarity similarity;
    const std::string name = attributes.text("kernel_type", "LINEAR");
    if (name == "POLY")
      similarity.kind = Kind::Poly;
    else if (name == "RBF")
      similarity.kind = Kind::Rbf;
    else if (name == "SIGMOID")
      similarity.kind = Kind::Sigmoid;
    else if (name != "LINEAR")
      return error(ErrorCode::InvalidArgument, "kernel_type is '{}', allowed are LINEAR, POLY, RBF and SIGMOID", name);
    const std::vector<float> parameters = attributes.reals("kernel_params");
    if (!parameters.empty() && parameters.size() != 3)
      return error(ErrorCode::InvalidArgument, "{} kernel_params, allowed are 3", parameters.size());
    if (!parameters.empty()) {
      similarity.gamma = parameters[0];
      similarity.offset = parameters[1];
      similarity.degree = parameters[2];
    }
    return similarity;
  }

  float operator()(std::span<const float> a, std::span<const float> b) const {
    float sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += kind == Kind::Rbf ? (a[i] - b[i]) * (a[i] - b[i]) : a[i] * b[i];
    switch (kind) {
      case Kind::Linear:
        return sum;
      case Kind::Poly:
        return std::pow(gamma * sum + offset, degree);
      case Kind::Rbf:
        return std::exp(-gamma * sum);
      case Kind::Sigmoid:
        return std::tanh(gamma * sum + offset);
    }
    return sum;
  }
};

/// What both operators have: vectors with their coefficients, or coefficients of the features alone.
struct Machine {
  Similarity similarity;
  std::vector<float> coefficients, rho, vectors;
  std::size_t features = 0, vector_count = 0;

  std::span<const float> vector(std::size_t i) const { return std::span(vectors).subspan(i * features, features); }
  float coefficient(std::size_t row, std::size_t i) const { return coefficients[row * vector_count + i]; }
};

Result<Machine> machine_of(const Attributes& attributes, std::int64_t width, std::size_t vector_count,
                           std::size_t coefficient_rows, std::size_t rho_count) {
  Machine machine;
  machine.features = static_cast<std::size_t>(width);
  machine.vector_count = vector_count;
  machine.coefficients = attributes.reals("coefficients");
  machine.rho = attributes.reals("rho");
  if (vector_count > 0) {
    HONE_TRY(machine.similarity, Similarity::read(attributes));
    machine.vectors = attributes.reals("support_vectors");
    if (machine.vectors.size() != vector_count * machine.features)
      return error(ErrorCode::InvalidArgument, "{} numbers in support_vectors for {} vectors of {} features",
                   machine.vectors.size(), vector_count, machine.features);
  }
  const std::size_t needed = coefficient_rows * (vector_count > 0 ? vector_count : machine.features);
  if (machine.coefficients.size() != needed)
    return error(ErrorCode::InvalidArgument, "{} coefficients, {} needed", machine.coefficients.size(), needed);
  if (machine.rho.size() < rho_count)
    return error(ErrorCode::InvalidArgument, "{} numbers in rho, {} needed", machine.rho.size(), rho_count);
  return machine;
}

/// The machine of a classifier, with the classes of its vectors.
struct Classifier {
  Machine machine;
  ClassLabels labels;
  std::vector<std::size_t> counts, begins;  ///< vectors of each class
  std::vector<float> prob_a, prob_b;
  PostTransform how = PostTransform::None;

  std::size_t classes() const { return counts.size(); }

  /// The scores of all pairs of classes, and how many pairs each class wins.
  std::vector<float> pair_scores(std::span<const float> row, std::vector<float>& votes) const {
    std::vector<float> similarities;
    for (std::size_t i = 0; i < machine.vector_count; ++i)
      similarities.push_back(machine.similarity(row, machine.vector(i)));
    const auto sum = [&](std::size_t of, std::size_t coefficient_row) {
      float total = 0;
      for (std::size_t i = begins[of]; i < begins[of] + counts[of]; ++i)
        total += machine.coefficient(coefficient_row, i) * similarities[i];
      return total;
    };
    votes.assign(classes(), 0);
    std::vector<float> scores;
    for (std::size_t i = 0; i < classes(); ++i)
      for (std::size_t j = i + 1; j < classes(); ++j) {
        scores.push_back(sum(i, j - 1) + sum(j, i) + machine.rho[scores.size()]);
        ++votes[scores.back() > 0 ? i : j];
      }
    return scores;
  }

  /// One probability per class from the scores of the pairs.
  std::vector<float> probabilities(std::span<const float> pair_scores) const;
};

/// The method of Wu, Lin and Weng (2004), as libsvm has it: probabilities of classes from those of pairs, in which
/// `pairs[i][j]` is the probability of i against j.
std::vector<float> couple(const std::vector<std::vector<float>>& pairs) {
  const std::size_t count = pairs.size();
  std::vector<std::vector<double>> q(count, std::vector<double>(count, 0));
  for (std::size_t t = 0; t < count; ++t)
    for (std::size_t j = 0; j < count; ++j) {
      if (j == t) continue;
      q[t][t] += static_cast<double>(pairs[j][t]) * pairs[j][t];
      q[t][j] = -static_cast<double>(pairs[j][t]) * pairs[t][j];
    }
  std::vector<double> p(count, 1.0 / static_cast<double>(count)), product(count);
  const std::size_t rounds = std::max<std::size_t>(100, count);
  for (std::size_t round = 0; round < rounds; ++round) {
    double whole = 0, largest_error = 0;
    for (std::size_t t = 0; t < count; ++t) {
      product[t] = std::inner_product(p.begin(), p.end(), q[t].begin(), 0.0);
      whole += p[t] * product[t];
    }
    for (std::size_t t = 0; t < count; ++t) largest_error = std::max(largest_error, std::fabs(product[t] - whole));
    if (largest_error < 0.005 / static_cast<double>(count)) break;
    for (std::size_t t = 0; t < count; ++t) {
      const double step = (whole - product[t]) / q[t][t];
      p[t] += step;
      whole = (whole + step * (step * q[t][t] + 2 * product[t])) / (1 + step) / (1 + step);
      for (std::size_t j = 0; j < count; ++j) {
        product[j] = (product[j] + step * q[t][j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return {p.begin(), p.end()};
}

std::vector<float> Classifier::probabilities(std::span<const float> pair_scores) const {
  constexpr float kLeast = 1e-7F;
  std::vector<std::vector<float>> pairs(classes(), std::vector<float>(classes(), 0));
  std::size_t pair = 0;
  for (std::size_t i = 0; i < classes(); ++i)
    for (std::size_t j = i + 1; j < classes(); ++j, ++pair) {
      const float wins = 1 - logistic(pair_scores[pair] * prob_a[pair] + prob_b[pair]);
      pairs[i][j] = std::clamp(wins, kLeast, 1 - kLeast);
      pairs[j][i] = 1 - pairs[i][j];
    }
  return couple(pairs);
}

Result<Classifier> classifier_of(const Attributes& attributes, std::int64_t width) {
  Classifier made;
  made.labels = ClassLabels::read(attributes, "classlabels_ints", "classlabels_strings");
  HONE_TRY(made.how, post_transform_named(attributes.text("post_transform", "NONE")));
  made.prob_a = attributes.reals("prob_a");
  made.prob_b = attributes.reals("prob_b");
  std::size_t vectors = 0;
  for (const std::int64_t count : attributes.integers("vectors_per_class")) {
    if (count < 0) return error(ErrorCode::InvalidArgument, "vectors_per_class holds {}", count);
    made.counts.push_back(static_cast<std::size_t>(count));
    made.begins.push_back(vectors);
    vectors += made.counts.back();
  }
  const bool has_vectors = vectors > 0;
  const std::size_t classes = has_vectors ? made.counts.size() : std::max<std::size_t>(made.labels.size(), 1);
  if (!has_vectors) made.counts.assign(classes, 0);
  const std::size_t pairs = classes * (classes - 1) / 2;
  if (made.labels.size() != 0 && made.labels.size() != classes)
    return error(ErrorCode::InvalidArgument, "{} labels for {} classes", made.labels.size(), classes);
  if (made.prob_a.size() != made.prob_b.size() || (!made.prob_a.empty() && made.prob_a.size() < pairs))
    return error(ErrorCode::InvalidArgument, "{} numbers in prob_a and {} in prob_b for {} pairs of classes",
                 made.prob_a.size(), made.prob_b.size(), pairs);
  HONE_TRY(made.machine,
           machine_of(attributes, width, vectors, has_vectors ? classes - 1 : classes, has_vectors ? pairs : 1));
  return made;
}

}  // namespace

Result<void> svm_classifier(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const Rows rows, rows_of(input));
  HONE_TRY(const Classifier classifier, classifier_of(call.attributes, rows.width));
  const Machine& machine = classifier.machine;
  const bool has_probabilities = machine.vector_count > 0 && !classifier.prob_a.empty();
  SecondScore second = SecondScore::None;
  if (machine.rho.size() == 1 && classifier.classes() == 2)
    second = classifier.how == PostTransform::None ? SecondScore::Negative : SecondScore::Complement;

  std::vector<std::int64_t> classes;
  std::vector<std::vector<float>> all_scores;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::vector<float> votes, scores;
    if (machine.vector_count > 0) {
      scores = classifier.pair_scores(rows.row(i), votes);
      if (has_probabilities) scores = classifier.probabilities(scores);
    } else {
      for (std::size_t c = 0; c < classifier.classes(); ++c)
        scores.push_back(
            machine.rho[0] +
            std::inner_product(rows.row(i).begin(), rows.row(i).end(),
                               machine.coefficients.begin() + static_cast<std::ptrdiff_t>(c * machine.features), 0.0F));
    }
    const std::vector<float>& judged = votes.empty() ? scores : votes;
    classes.push_back(std::max_element(judged.begin(), judged.end()) - judged.begin());
    all_scores.push_back(finished_scores(classifier.how, std::move(scores), second));
  }
  HONE_TRY(classifier.labels.write(call, classes));
  const std::size_t pairs = classifier.classes() * (classifier.classes() - 1) / 2;
  std::size_t width = machine.vector_count == 0 || has_probabilities ? classifier.classes() : pairs;
  if (!all_scores.empty()) width = all_scores[0].size();
  return write_rows(call, 1, all_scores, static_cast<std::int64_t>(width));
}

Result<void> svm_regressor(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const Rows rows, rows_of(input));
  const std::int64_t vectors = call.attributes.integer("n_supports", 0);
  if (vectors < 0) return error(ErrorCode::InvalidArgument, "n_supports is {}", vectors);
  HONE_TRY(const Machine machine, machine_of(call.attributes, rows.width, static_cast<std::size_t>(vectors), 1, 1));
  HONE_TRY(const PostTransform how, post_transform_named(call.attributes.text("post_transform", "NONE")));
  const bool is_one_class = call.attributes.integer("one_class", 0) != 0;
  std::vector<std::vector<float>> all_scores;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    float score = machine.rho[0];
    for (std::size_t k = 0; k < machine.vector_count; ++k)
      score += machine.coefficients[k] * machine.similarity(rows.row(i), machine.vector(k));
    if (machine.vector_count == 0)
      score = std::inner_product(rows.row(i).begin(), rows.row(i).end(), machine.coefficients.begin(), score);
    if (is_one_class) score = score > 0 ? 1.0F : -1.0F;
    all_scores.push_back({score});
    transform(how, all_scores.back());
  }
  return write_rows(call, 0, all_scores, 1);
}

}  // namespace hone::runtime
