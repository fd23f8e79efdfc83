/// Networks that read sentences: what they are made of, their weights, and the file in which training leaves them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hone/cost/sentence.h"

namespace hone::cost {

/// What a network is made of: each row of a sentence goes through layers (and gets a position), then rows see each
/// other in the body, two residual layers follow, and each head turns that into a score for its target. A head scores
/// rows one by one, to be added up, unless the network has a direct path: then it reads the mean of the rows, and
/// beside it what layers of their own make of the first row.
struct NetworkSpec {
  std::string name;                  ///< "tlp", "tlp-gpu", "tlp2", "tenset-mlp": what people call it
  std::string body = "attention";    ///< "attention", "lstm" (the last state counts) or "sum" (rows are added up)
  std::string schema;                ///< of the sentences that it reads
  SentenceShape shape;               ///< of the same
  std::vector<std::int64_t> layers;  ///< widths of the layers that each row goes through; the last is that of the body
  std::vector<std::int64_t> direct;  ///< widths of the layers from the first row straight to the heads; none: no path
  std::vector<std::int64_t> head;    ///< widths of the layers of a head before the score
  bool is_masked = false;            ///< whether rows that fill up sentences are left out; their first number is 0
  bool has_positions = false;        ///< whether rows are told apart by their place
  bool has_one_head = false;         ///< whether all targets share a head: the sentences say what they are for
  std::int64_t members = 1;          ///< such networks, trained from different seeds, whose scores are averaged
  std::vector<std::string> targets;  ///< each has a head, unless they share one
  std::map<std::string, std::string> notes = {};  ///< how it was trained, for people

  std::int64_t width() const { return layers.back(); }
  std::size_t heads() const { return has_one_head ? 1 : targets.size(); }
  /// Whether heads score rows one by one; otherwise they score what came of them all.
  bool scores_rows() const { return body == "attention" && direct.empty(); }
};

inline constexpr std::int64_t kAttentionHeads = 8;
inline constexpr std::int64_t kResidualLayers = 2;
inline constexpr std::int64_t kMostMembers = 16;

/// A spec by name, without targets: "tlp" as published (610,369 weights with one head), the same for GPUs, "tlp-gpu",
/// "tlp2", or "tenset-mlp". The language of its sentences is what make_training_set calls it. An error lists the names.
Result<NetworkSpec> make_network_spec(std::string_view name);
/// The same with another body, "attention" or "lstm", where that is a choice. An LSTM is not masked and has no
/// positions.
Result<NetworkSpec> make_network_spec(std::string_view name, const std::string& body);
/// The language of the sentences that a network of this name reads.
std::string language_of(const NetworkSpec& spec);

/// Row-major numbers.
struct Weight {
  std::vector<std::int64_t> shape;
  std::vector<float> numbers;
};
/// Weights by name. Matrices are [in, out]; those of an LSTM are as ONNX has them.
using Weights = std::map<std::string, Weight>;

/// What the names of the weights of a member begin with; nothing if there is only one.
std::string member_prefix(const NetworkSpec& spec, std::int64_t member);
/// The names and shapes of the weights that a network wants.
std::map<std::string, std::vector<std::int64_t>> weight_shapes(const NetworkSpec& spec);
/// An error names a weight that is missing, has another shape, or holds what is no number.
Result<void> check_weights(const NetworkSpec& spec, const Weights& weights);

/// One network whose scores are the means of those of several, which differ in nothing but their weights and notes.
/// A note that differs lists what each says.
Result<std::pair<NetworkSpec, Weights>> join_networks(const std::vector<std::pair<NetworkSpec, Weights>>& members);

std::string to_json(const NetworkSpec& spec);
Result<NetworkSpec> parse_network_spec(const std::string& json);

/// Writes a network, and reads it back. Errors name the file and what is wrong with it.
Result<void> write_weights(const std::filesystem::path& file, const NetworkSpec& spec, const Weights& weights);
Result<std::pair<NetworkSpec, Weights>> read_weights(const std::filesystem::path& file);

}  // namespace hone::cost
