#include "train_network.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>

#include "options.h"
#include "trainer_process.h"

#include "hone/cost/training_options.h"
#include "hone/network.h"
#include "hone/network_weights.h"

namespace hone::command {
namespace {

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

/// The files of weights of the members: of one alone it is that of the network.
std::vector<std::string> member_files(const TrainNetworkOptions& options, const std::string& weights) {
  if (options.members == 1) return {weights};
  std::vector<std::string> files;
  for (std::int64_t member = 0; member < options.members; ++member)
    files.push_back(fmt::format("{}.{}", weights, member));
  return files;
}

/// As the trainer calls it.
std::string state_file(const std::string& member) { return member + ".state"; }

/// An error if a file cannot be written, before hours are spent on what it is for.
Result<void> check_writable(const std::string& file) {
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(file, ignored);
  const bool can_write = static_cast<bool>(std::ofstream(file, std::ios::app));
  const char* reason = can_write ? "" : std::strerror(errno);
  if (can_write && !is_there) std::filesystem::remove(file, ignored);
  if (can_write) return {};
  return error(ErrorCode::InvalidArgument, "cannot write '{}': {}", file, reason);
}

/// An error if there is nothing to go on with; otherwise says what is given up if nothing is gone on with.
Result<void> check_states(const TrainNetworkOptions& options, const std::vector<std::string>& members) {
  std::vector<std::string> states, found;
  for (const std::string& member : members) states.push_back(state_file(member));
  std::copy_if(states.begin(), states.end(), std::back_inserter(found),
               [](const std::string& state) { return std::filesystem::exists(state); });
  if (options.resumes && found.empty())
    return error(ErrorCode::NotFound, "there is nothing to --resume: no training was interrupted that left {}",
                 fmt::join(states, " or "));
  if (!options.resumes && !found.empty())
    fmt::print("{} is of a training that was interrupted, which --resume would go on with: it begins anew\n", found[0]);
  std::fflush(stdout);
  return {};
}

/// Trains the members of a network, each from a seed of its own. All see the same labels.
Result<void> train_members(const TrainNetworkOptions& options, const std::string& trainer, const std::string& data_file,
                           const std::vector<std::string>& arguments, const std::vector<std::string>& members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::int64_t seed = options.seed + static_cast<std::int64_t>(i);
    std::vector<std::string> own = {
        data_file, members[i], "--seed", fmt::format("{}", seed), "--label-seed", fmt::format("{}", options.seed)};
    own.insert(own.end(), arguments.begin(), arguments.end());
    HONE_TRY(run_trainer(trainer, own));
  }
  return {};
}

/// Writes the weights that a network begins with if it goes on with another one, and says where new heads are from.
Result<void> write_first_weights(const std::string& from, cost::NetworkSpec spec, const std::string& file) {
  HONE_TRY(const auto before, read_network(from));
  const Result<cost::FirstWeights> first = cost::weights_to_begin_with(spec, before.first, before.second, unit_of);
  if (!first) return error(first.error().code, "--from '{}': {}", from, first.error().message);
  for (const auto& [target, other] : first->borrowed)
    fmt::print("the head for {} begins with that for {}\n", target, other);
  if (!first->left.empty()) fmt::print("heads that are left behind: {}\n", fmt::join(first->left, "; "));
  std::fflush(stdout);  // before what the trainer prints
  spec.notes = {{"from", from}};
  return cost::write_weights(file, spec, first->weights);
}

/// What the trainer is told besides its files and seeds.
std::vector<std::string> arguments_of(const TrainNetworkOptions& options, const cost::NetworkSpec& spec,
                                      const std::vector<cost::ComputeUnit>& units) {
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
  for (const std::string& target : spec.targets) add("--target", target);
  for (const cost::ComputeUnit& unit : units)
    add("--unit", fmt::format("{}x{}x{}x{}x{}", unit.threads, unit.registers, unit.lanes, unit.multiply_adds,
                              unit.l3_bytes_per_cycle));
  if (options.resumes) arguments.emplace_back("--resume");
  return arguments;
}

}  // namespace

std::string weights_file(const std::string& model) { return model + ".weights"; }

void add_train_options(CLI::App& parser, TrainNetworkOptions& options) {
  add_text(parser, "--network", options.network, "tlp|tlp-gpu|tlp2|tenset-mlp", "what to train (tlp2)");
  add_text(parser, "--body", options.body, "attention|lstm", "how rows see each other (attention)");
  add_text(parser, "--loss", options.loss, "rank|mse", "what is minimised (rank)");
  add_texts(parser, "--target", options.targets, "TARGET",
            "a target of the data set, or a part of its name, to train a head for or to score on (all)");
  add_text(parser, "--from", options.from, "FILE",
           "a network to begin with, as an ONNX model or as weights (random ones); heads of new targets begin with the "
           "nearest one's");
  add_number(parser, "--epochs", options.epochs, 1, cost::kMostEpochs, "how often all samples are seen at most (50)");
  add_number(parser, "--patience", options.patience, 1, cost::kMostEpochs, "epochs without a gain to end after (8)");
  add_number(parser, "--batch", options.batch, cost::kFewestInBatch, cost::kMostInBatch, "samples at a time (512)");
  add_number(parser, "--label-percent", options.label_percent, 1, 100, "labels of the first target to use (100)");
  add_number(parser, "--hold-back", options.held_back, 0, 90,
             "percent of the tasks to choose the epoch by; 0: train on all and take the last (10)");
  add_number(parser, "--members", options.members, 1, cost::kMostMembers,
             "networks to train, from this seed on, whose scores are averaged in one (1)");
  parser.add_flag("--resume", options.resumes, "go on with a training that was interrupted, with the same options");
}

Result<void> train_network(const TrainNetworkOptions& options, const std::string& data_file, const std::string& model) {
  HONE_TRY(const std::string trainer, find_trainer());
  HONE_TRY(const cost::Dataset data, cost::read_dataset(data_file));
  HONE_TRY(cost::NetworkSpec spec, cost::make_network_spec(options.network, options.body));
  HONE_TRY(const std::vector<std::size_t> targets, data.find_targets(options.targets));
  for (const std::size_t target : targets) spec.targets.push_back(data.targets[target]);
  HONE_TRY(const std::vector<cost::ComputeUnit> units, compute_units(data, cost::language_of(spec)));
  const std::string weights = weights_file(model);
  const std::vector<std::string> members = member_files(options, weights);
  for (const std::string& file : {model, weights, weights + ".scores"}) HONE_TRY(check_writable(file));
  for (const std::string& member : members) HONE_TRY(check_writable(member));
  HONE_TRY(check_states(options, members));
  if (!options.resumes) forget_states(options, model);  // also of members whose turn is later

  std::vector<std::string> arguments = arguments_of(options, spec, units);
  const std::string first = weights + ".from";
  if (!options.from.empty()) {
    HONE_TRY(write_first_weights(options.from, spec, first));
    arguments.insert(arguments.end(), {"--from", first});
  }
  const Result<void> trained = train_members(options, trainer, data_file, arguments, members);
  std::error_code ignored;
  std::filesystem::remove(first, ignored);
  HONE_TRY(trained);
  return members.size() == 1 ? Result<void>() : join_files(members, weights);
}

void forget_states(const TrainNetworkOptions& options, const std::string& model) {
  std::error_code ignored;
  for (const std::string& member : member_files(options, weights_file(model)))
    std::filesystem::remove(state_file(member), ignored);
}

}  // namespace hone::command
