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
#include "trainer_process.h"

#include "hone/cost/baseline_trees.h"
#include "hone/cost/evaluate.h"
#include "hone/network.h"

namespace hone::command {
namespace {

struct CostModelOptions {
  std::string action, file, other;
  std::string network = "tlp2", body = "attention", loss = "rank", from;
  std::vector<std::string> targets;
  std::int64_t epochs = 50, patience = 8, batch = 512, seed = 1, label_percent = 100, held_back = 10, members = 1;
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

/// Makes one network of those in files of weights, and the means of the scores that the trainer left beside them.
Result<void> join_files(const std::vector<std::string>& files, const std::string& joined) {
  std::vector<std::pair<cost::NetworkSpec, cost::Weights>> members;
  std::vector<double> means;
  for (const std::string& file : files) {
    HONE_TRY(members.emplace_back(), cost::read_weights(file));
    std::ifstream in(file + ".scores");
    const std::vector<double> scores{std::istream_iterator<double>(in), {}};
    means.resize(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) means[i] += scores[i] / static_cast<double>(files.size());
  }
  HONE_TRY(const auto network, cost::join_networks(members));
  HONE_TRY(cost::write_weights(joined, network.first, network.second));
  std::ofstream out(joined + ".scores");
  for (const double mean : means) out << fmt::format("{}\n", mean);
  out.flush();
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}.scores'", joined);
  return {};
}

/// Trains the members of a network, each from a seed of its own. All see the same labels.
Result<void> train_members(const CostModelOptions& options, const std::string& trainer,
                           const std::vector<std::string>& arguments, const std::string& weights) {
  const auto train_one = [&](const std::string& file, std::int64_t seed) {
    std::vector<std::string> own = {
        options.file, file, "--seed", fmt::format("{}", seed), "--label-seed", fmt::format("{}", options.seed)};
    own.insert(own.end(), arguments.begin(), arguments.end());
    return run_trainer(trainer, own);
  };
  if (options.members == 1) return train_one(weights, options.seed);
  std::vector<std::string> files;
  for (std::int64_t member = 0; member < options.members; ++member) {
    files.push_back(fmt::format("{}.{}", weights, member));
    HONE_TRY(train_one(files.back(), options.seed + member));
  }
  return join_files(files, weights);
}

Result<void> train(const CostModelOptions& options) {
  HONE_TRY(const std::string trainer, find_trainer());
  const std::string weights = options.other + ".weights";
  std::vector<std::string> arguments = {"--network", options.network, "--body", options.body, "--loss", options.loss};
  const auto add = [&](const char* name, const std::string& text) {
    arguments.emplace_back(name);
    arguments.push_back(text);
  };
  add("--epochs", fmt::format("{}", options.epochs));
  add("--patience", fmt::format("{}", options.patience));
  add("--batch", fmt::format("{}", options.batch));
  add("--label-share", fmt::format("{:g}", static_cast<double>(options.label_percent) / 100));
  add("--hold-back", fmt::format("{:g}", static_cast<double>(options.held_back) / 100));
  for (const std::string& target : options.targets) add("--target", target);
  HONE_TRY(const cost::Dataset data, cost::read_dataset(options.file));
  HONE_TRY(const cost::NetworkSpec spec, cost::make_network_spec(options.network));
  HONE_TRY(const std::vector<cost::ComputeUnit> units, compute_units(data, cost::language_of(spec)));
  for (const cost::ComputeUnit& unit : units)
    add("--unit", fmt::format("{}x{}x{}x{}x{}", unit.threads, unit.registers, unit.lanes, unit.multiply_adds,
                              unit.l3_bytes_per_cycle));
  if (!options.from.empty()) add("--from", options.from);
  HONE_TRY(train_members(options, trainer, arguments, weights));
  HONE_TRY(export_weights(weights, options.other));
  return check_scores(options.other, weights + ".scores", options.file);
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
  HONE_TRY(const std::vector<std::size_t> targets, data.find_targets(options.targets));
  if (options.file == "ansor") return evaluate_trees(data, targets, static_cast<std::uint64_t>(options.seed));
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
  if (!options.targets.empty() && options.action != "train" && options.action != "eval")
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
  add_text(parser, "--network", options->network, "tlp|tlp-gpu|tlp2|tenset-mlp", "what to train (tlp2)");
  add_text(parser, "--body", options->body, "attention|lstm", "how rows see each other (attention)");
  add_text(parser, "--loss", options->loss, "rank|mse", "what is minimised (rank)");
  add_texts(parser, "--target", options->targets, "TARGET",
            "a target of the data set, or a part of its name, to train a head for or to score on (all)");
  add_text(parser, "--from", options->from, "FILE", "weights to begin with (random ones)");
  constexpr std::int64_t kMost = 1'000'000;
  add_number(parser, "--epochs", options->epochs, 1, kMost, "how often all samples are seen at most (50)");
  add_number(parser, "--patience", options->patience, 1, kMost, "epochs without a gain to end after (8)");
  add_number(parser, "--batch", options->batch, 2, kMost, "samples at a time (512)");
  add_number(parser, "--label-percent", options->label_percent, 1, 100, "labels of the first target to use (100)");
  add_number(parser, "--hold-back", options->held_back, 0, 90,
             "percent of the tasks to choose the epoch by; 0: train on all and take the last (10)");
  add_number(parser, "--seed", options->seed, 0, kMost, "of everything that is drawn (1)");
  add_number(parser, "--members", options->members, 1, cost::kMostMembers,
             "networks to train, from this seed on, whose scores are averaged in one (1)");
  return [options] { return run_cost_model(*options); };
}

}  // namespace hone::command
