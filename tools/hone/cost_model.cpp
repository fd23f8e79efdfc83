// hone cost-model: trains, examines and writes the networks that predict which candidates are fast.
#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>

#include "command.h"
#include "describe.h"
#include "options.h"
#include "train_network.h"

#include "hone/cost/baseline_trees.h"
#include "hone/cost/evaluate.h"
#include "hone/network.h"

namespace hone::command {
namespace {

struct CostModelOptions {
  std::string action, file, other;
  TrainNetworkOptions training;
};

/// Writes the network of a file of weights as an ONNX model.
Result<void> export_weights(const std::string& weights, const std::string& onnx) {
  HONE_TRY(const auto network, cost::read_weights(weights));
  HONE_TRY(const std::string bytes, write_network(network.first, network.second));
  std::ofstream out(onnx, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}'", onnx);
  fmt::print("{}: {}\n", onnx, bytes_text(static_cast<double>(bytes.size())));
  return {};
}

/// The samples of a part for a network, as they are for each target of the data set.
Result<cost::TrainingSet> samples_for(const cost::NetworkSpec& spec, const cost::Dataset& data, cost::Part part) {
  const std::string language = cost::language_of(spec);
  HONE_TRY(const std::vector<cost::ComputeUnit> units, compute_units(data, language));
  return cost::make_training_set(data, language, part, units);
}

/// Holds the scores that hone computes with a network against those that the trainer left beside its weights.
Result<void> check_scores(const std::string& onnx, const std::string& scores_file, const std::string& data_file) {
  constexpr double kLargest = 1e-4;
  HONE_TRY(Network network, Network::load(onnx));
  HONE_TRY(const cost::Dataset data, cost::read_dataset(data_file));
  HONE_TRY(const cost::TrainingSet samples, samples_for(network.spec(), data, cost::Part::Training));
  const std::size_t heads = network.spec().targets.size();
  std::ifstream in(scores_file);
  const std::vector<double> known{std::istream_iterator<double>(in), {}};
  const std::size_t count = known.size() / heads, size = samples.shape.size();
  if (count == 0 || known.size() % heads != 0 || count > samples.size())
    return error(ErrorCode::ParseError, "'{}' has {} scores, which are not {} for each of {} samples at most",
                 scores_file, known.size(), heads, samples.size());
  std::vector<float> sentences(count * size);
  double largest = 0;
  for (std::size_t h = 0; h < heads; ++h) {
    const std::optional<std::size_t> target = data.find_target(network.spec().targets[h]);
    if (!target) return error(ErrorCode::NotFound, "the data set has no target '{}'", network.spec().targets[h]);
    for (std::size_t i = 0; i < count; ++i)
      samples.copy_sentence(i, *target, std::span(sentences).subspan(i * size, size));
    HONE_TRY(const std::vector<double> found, network.predict(sentences, h));
    for (std::size_t i = 0; i < count; ++i) {
      const double torch = known[i * heads + h];
      largest = std::max(largest, std::abs(found[i] - torch) / std::max(1.0, std::abs(torch)));
    }
  }
  if (!(largest <= kLargest))
    return error(ErrorCode::VerifyError, "hone's scores of {} samples differ from libtorch's by {:.2g}, more than {:g}",
                 count, largest, kLargest);
  fmt::print("hone's scores of {} samples are libtorch's within {:.1g}\n", count, largest);
  return {};
}

Result<void> train(const CostModelOptions& options) {
  HONE_TRY(train_network(options.training, options.file, options.other));
  const std::string weights = weights_file(options.other);
  HONE_TRY(export_weights(weights, options.other));
  HONE_TRY(check_scores(options.other, weights + ".scores", options.file));
  forget_states(options.training, options.other);
  return {};
}

Result<void> show_info(const CostModelOptions& options) {
  HONE_TRY(const Network network, Network::load(options.file));
  const cost::NetworkSpec& spec = network.spec();
  double weights = 0;
  for (const auto& [name, shape] : cost::weight_shapes(spec)) {
    double size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<double>(extent);
    weights += size;
  }
  fmt::print("{} ({}) of {} weights{}{}{}\nsentences: {}\n", spec.name, spec.body, count_text(weights),
             spec.is_masked ? ", masked" : "", spec.has_positions ? ", with positions" : "",
             spec.direct.empty() ? "" : ", with a direct path", spec.schema);
  if (spec.members > 1) fmt::print("members: {}\n", spec.members);
  for (const std::string& target : spec.targets) fmt::print("{}: {}\n", spec.has_one_head ? "target" : "head", target);
  for (const auto& [name, text] : spec.notes) fmt::print("{}: {}\n", name, text);
  return {};
}

void show_scores(const std::string& model, const std::string& target, const std::vector<cost::TopScores>& scores) {
  if (scores.back().tasks == 0) {
    fmt::print("{} on {}: no tasks of networks for testing were measured there\n", model, target);
    return;
  }
  fmt::print("{} on {}\n", model, target);
  Table table({"top-1", "top-5", "tasks", "network"});
  for (const cost::TopScores& one : scores)
    table.add({fmt::format("{:.4f}", one.top_1), fmt::format("{:.4f}", one.top_5), fmt::format("{}", one.tasks),
               one.network.empty() ? "all" : one.network});
  fmt::print("{}", table.text());
}

void tell_left_out(const cost::TrainingSet& samples, const char* part) {
  if (const std::string text = samples.left_out_text(); !text.empty())
    fmt::print(stderr, "hone: for {}: {}\n", part, text);
}

/// Trees have no file: they are fitted here, to the same data.
Result<void> evaluate_trees(const cost::Dataset& data, std::span<const std::size_t> targets, std::uint64_t seed) {
  HONE_TRY(const cost::TrainingSet training, cost::make_training_set(data, "stores", cost::Part::Training));
  tell_left_out(training, "training");
  HONE_TRY(const cost::TrainingSet test, cost::make_training_set(data, "stores", cost::Part::Test));
  tell_left_out(test, "testing");
  for (const std::size_t t : targets) {
    if (training.count_labels(t) == 0) {
      fmt::print("ansor on {}: no tasks for training were measured there\n", data.targets[t]);
      continue;
    }
    HONE_TRY(const std::vector<double> scores, cost::baseline_tree_scores(training, test, t, seed));
    show_scores("ansor", data.targets[t], cost::evaluate_networks(data, test, t, scores, cost::is_test_network));
  }
  return {};
}

Result<void> evaluate(const CostModelOptions& options) {
  HONE_TRY(const cost::Dataset data, cost::read_dataset(options.other));
  HONE_TRY(const std::vector<std::size_t> targets, data.find_targets(options.training.targets));
  if (options.file == "ansor") return evaluate_trees(data, targets, static_cast<std::uint64_t>(options.training.seed));
  HONE_TRY(Network network, Network::load(options.file));
  HONE_TRY(const cost::TrainingSet test, samples_for(network.spec(), data, cost::Part::Test));
  HONE_TRY(const std::vector<HeadScores> scored, score_targets(network, data, test, targets));
  tell_left_out(test, "testing");
  const cost::NetworkSpec& spec = network.spec();
  for (const std::size_t target : targets) {
    const auto found =
        std::find_if(scored.begin(), scored.end(), [&](const auto& one) { return one.target == target; });
    if (found == scored.end()) {
      fmt::print("{} on {}: none of its heads is for such a target\n", spec.name, data.targets[target]);
      continue;
    }
    const std::string& trained_for = spec.targets[found->head];
    const bool is_exact = trained_for == data.targets[target];
    const std::string by = is_exact            ? ""
                           : spec.has_one_head ? ", which it was not trained for"
                                               : ", by the head for " + trained_for;
    show_scores(spec.name, data.targets[target] + by,
                cost::evaluate_networks(data, test, target, found->scores, cost::is_test_network));
    fmt::print("{:.0f} candidates a second\n", found->per_second);
  }
  return {};
}

Result<void> run_cost_model(const CostModelOptions& options) {
  if (!options.training.targets.empty() && options.action != "train" && options.action != "eval")
    return error(ErrorCode::InvalidArgument, "--target is for train and eval, hone cost-model {} does not take it",
                 options.action);
  if (options.action == "info") return show_info(options);
  if (options.other.empty())
    return error(ErrorCode::InvalidArgument, "hone cost-model {} needs two files: {}", options.action,
                 options.action == "train"  ? "DATA MODEL"
                 : options.action == "eval" ? "MODEL DATA"
                                            : "WEIGHTS MODEL");
  if (options.action == "train") return train(options);
  if (options.action == "eval") return evaluate(options);
  return export_weights(options.file, options.other);
}

}  // namespace

Action add_cost_model(CLI::App& parser) {
  const auto options = std::make_shared<CostModelOptions>();
  add_text(
      parser, "action", options->action, "train|eval|export|info",
      "train a network on a data set, score it on the networks for testing, write its weights as an ONNX model, or "
      "show what it is")
      ->required();
  add_text(parser, "file", options->file, "FILE",
           "the data set to train on, the model ('ansor': boosted trees), or the weights")
      ->required();
  add_text(parser, "other", options->other, "FILE", "the model to write, or the data set to score it on");
  add_train_options(parser, options->training);
  constexpr std::int64_t kMost = 1'000'000;
  add_number(parser, "--seed", options->training.seed, 0, kMost, "of everything that is drawn (1)");
  return [options] { return run_cost_model(*options); };
}

}  // namespace hone::command
