/// Ensembles of decision trees: their form, and the walk from the root of each tree to a leaf.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/runtime/attribute.h"

namespace hone::runtime {

/// How a node compares a feature with its threshold; the numbers are those of ONNX.
enum class Branch : std::uint8_t { AtMost, Below, AtLeast, Above, Equal, NotEqual, Member, Leaf };

/// Trees, read from attributes and checked: indices lie inside and no path is endless.
class TreeEnsemble {
 public:
  struct Weight {
    std::int64_t target;
    double weight;
  };

  /// Nodes named by the numbers of a tree and a node, weights listed under `prefix` ("class" or "target"): the form of
  /// TreeEnsembleClassifier and TreeEnsembleRegressor.
  static Result<TreeEnsemble> read_numbered(const Attributes& attributes, std::string_view prefix,
                                            std::int64_t targets);
  /// Nodes that name their branches by index, and leaves apart: the form of TreeEnsemble.
  static Result<TreeEnsemble> read_indexed(const Attributes& attributes, std::int64_t targets);

  std::size_t trees() const { return roots_.size(); }
  /// The number of features that rows must at least have.
  std::int64_t features() const { return features_; }
  /// All weights of all leaves.
  std::span<const Weight> weights() const { return weights_; }
  /// The weights of the leaf that a row reaches in a tree.
  template <typename T>
  std::span<const Weight> leaf(std::size_t tree, std::span<const T> row) const;

 private:
  struct Node {
    Branch branch = Branch::Leaf;
    bool missing_is_true = false;
    std::uint32_t feature = 0;
    std::uint32_t yes = 0, no = 0;  ///< nodes; of a leaf: its first weight and how many there are
    double threshold = 0;
    std::uint32_t members = 0;  ///< in members_
  };

  Result<void> check(std::int64_t targets);
  bool goes_to_yes(const Node& node, double feature) const;

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> roots_;
  std::vector<Weight> weights_;
  std::vector<std::vector<double>> members_;
  std::int64_t features_ = 0;
};

template <typename T>
std::span<const TreeEnsemble::Weight> TreeEnsemble::leaf(std::size_t tree, std::span<const T> row) const {
  const Node* node = &nodes_[roots_[tree]];
  while (node->branch != Branch::Leaf)
    node = &nodes_[goes_to_yes(*node, static_cast<double>(row[node->feature])) ? node->yes : node->no];
  return std::span(weights_).subspan(node->yes, node->no);
}

/// Numbers that an attribute holds as floats, or as a tensor under the same name with "_as_tensor".
Result<std::vector<double>> numbers_of(const Attributes& attributes, const std::string& name);

}  // namespace hone::runtime
