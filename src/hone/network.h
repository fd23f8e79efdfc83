/// Trained networks as ONNX models: written with what describes them, read back, and run by hone itself.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/cost/dataset.h"
#include "hone/cost/network_spec.h"
#include "hone/cost/training_set.h"
#include "hone/session.h"

namespace hone {

/// The network as an ONNX model: the input "sentences" is [batch, rows, columns], each head an output [batch].
Result<std::string> write_network(const cost::NetworkSpec& spec, const cost::Weights& weights);

/// A network in a file.
class Network {
 public:
  /// Reads a file. The error says what is wrong with it: no network of hone's, another version, cut off, not what its
  /// description says, or a weight that is no number.
  static Result<Network> load(const std::filesystem::path& file);
  /// The same from memory; `name` is for messages.
  static Result<Network> parse(std::string_view bytes, const std::string& name);

  const cost::NetworkSpec& spec() const { return spec_; }
  const std::string& name() const { return name_; }
  /// An error that names both unless it reads sentences of this schema.
  Result<void> check_schema(std::string_view schema) const;

  /// Scores sentences, as many numbers each as the spec says, by the head of a target of the spec (its place there);
  /// the higher the faster. The first call compiles. An error if a score is no number.
  Result<std::vector<double>> predict(std::span<const float> sentences, std::size_t head, int threads = 0);
  /// Scores all samples of a set, whose schema must be the network's, as they are for a target of the set.
  Result<std::vector<double>> predict(const cost::TrainingSet& samples, std::size_t target, std::size_t head,
                                      int threads = 0);

 private:
  Result<const Session*> session(std::size_t head, int threads);

  cost::NetworkSpec spec_;
  std::string bytes_, name_;
  std::map<std::size_t, Session> sessions_;  ///< by head
};

/// What a target computes with.
cost::ComputeUnit compute_unit(const codegen::Target& target);
/// Those of all targets of a data set, for make_training_set in a language; none if its sentences do not speak of
/// targets, which are hone's own otherwise.
Result<std::vector<cost::ComputeUnit>> compute_units(const cost::Dataset& data, std::string_view language = "tlp2");

/// The head of a network that is for a target: the one that was trained for it, or else for a target with as wide
/// vectors, or as many threads as this one has.
std::size_t head_for(const cost::NetworkSpec& spec, const codegen::Target& target);

/// What a head makes of all samples of a set.
struct HeadScores {
  std::size_t target = 0;  ///< by place in the data set
  std::size_t head = 0;    ///< by the place of its target in the spec
  std::vector<double> scores;
  double per_second = 0;  ///< samples that were scored
};

/// Scores a set for these targets of its data set: by the head if there is only one, or else by that of the very
/// target, or else by the one of head_for. Targets that are none of hone's have none of the latter and are left out; an
/// error if all of them are.
Result<std::vector<HeadScores>> score_targets(Network& network, const cost::Dataset& data,
                                              const cost::TrainingSet& samples, std::span<const std::size_t> targets);

}  // namespace hone
