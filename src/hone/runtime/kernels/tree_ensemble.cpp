#include "hone/runtime/kernels/tree_ensemble.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>

namespace hone::runtime {
namespace {

std::optional<Branch> branch_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Branch>(found - std::begin(kNames));
}

Result<void> check_length(std::string_view name, std::size_t found, std::size_t wanted) {
  if (found == wanted) return {};
  return error(ErrorCode::InvalidArgument, "{} has {} entries, {} are needed", name, found, wanted);
}

Result<std::vector<double>> tensor_numbers(const Attributes& attributes, const std::string& name) {
  const Tensor* tensor = attributes.tensor(name);
  if (!tensor) return std::vector<double>();
  return tensor->to_doubles();
}

constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Result<std::vector<double>> numbers_of(const Attributes& attributes, const std::string& name) {
  if (attributes.has(name + "_as_tensor")) return tensor_numbers(attributes, name + "_as_tensor");
  const std::vector<float> floats = attributes.reals(name);
  return std::vector<double>(floats.begin(), floats.end());
}

bool TreeEnsemble::goes_to_yes(const Node& node, double feature) const {
  if (node.missing_is_true && std::isnan(feature)) return true;
  switch (node.branch) {
    case Branch::AtMost:
      return feature <= node.threshold;
    case Branch::Below:
      return feature < node.threshold;
    case Branch::AtLeast:
      return feature >= node.threshold;
    case Branch::Above:
      return feature > node.threshold;
    case Branch::Equal:
      return feature == node.threshold;
    case Branch::NotEqual:
      return feature != node.threshold;
    case Branch::Member:
      return !std::isnan(feature) &&
             std::binary_search(members_[node.members].begin(), members_[node.members].end(), feature);
    case Branch::Leaf:
      break;
  }
  return false;
}

/// Checks what walks rely on: weights have targets, and each branch leads, sooner or later, to a leaf.
Result<void> TreeEnsemble::check(std::int64_t targets) {
  for (const Weight& weight : weights_)
    if (weight.target < 0 || weight.target >= targets)
      return error(ErrorCode::InvalidArgument, "a leaf has target {}, allowed are 0 to {}", weight.target, targets - 1);
  std::vector<std::uint32_t> parents(nodes_.size(), 0), ready;
  for (const Node& node : nodes_)
    if (node.branch != Branch::Leaf) {
      ++parents[node.yes];
      ++parents[node.no];
      features_ = std::max(features_, std::int64_t{node.feature} + 1);
    }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (parents[i] == 0) ready.push_back(i);
  std::size_t visited = 0;
  for (; !ready.empty(); ++visited) {
    const Node& node = nodes_[ready.back()];
    ready.pop_back();
    if (node.branch == Branch::Leaf) continue;
    for (const std::uint32_t child : {node.yes, node.no})
      if (--parents[child] == 0) ready.push_back(child);
  }
  if (visited != nodes_.size()) return error(ErrorCode::InvalidArgument, "a path through a tree comes back to itself");
  return {};
}

Result<TreeEnsemble> TreeEnsemble::read_numbered(const Attributes& attributes, std::string_view prefix,
                                                 std::int64_t targets) {
  const auto tree_ids = attributes.integers("nodes_treeids"), node_ids = attributes.integers("nodes_nodeids");
  const auto features = attributes.integers("nodes_featureids"), yes = attributes.integers("nodes_truenodeids");
  const auto no = attributes.integers("nodes_falsenodeids");
  const auto missing = attributes.integers("nodes_missing_value_tracks_true");
  const auto modes = attributes.texts("nodes_modes");
  HONE_TRY(const std::vector<double> thresholds, numbers_of(attributes, "nodes_values"));
  const std::size_t count = tree_ids.size();
  HONE_TRY(check_length("nodes_nodeids", node_ids.size(), count));
  HONE_TRY(check_length("nodes_featureids", features.size(), count));
  HONE_TRY(check_length("nodes_truenodeids", yes.size(), count));
  HONE_TRY(check_length("nodes_falsenodeids", no.size(), count));
  HONE_TRY(check_length("nodes_modes", modes.size(), count));
  HONE_TRY(check_length("nodes_values", thresholds.size(), count));
  if (!missing.empty()) HONE_TRY(check_length("nodes_missing_value_tracks_true", missing.size(), count));

  TreeEnsemble ensemble;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> index;
  for (std::uint32_t i = 0; i < count; ++i)
    if (!index.emplace(std::pair(tree_ids[i], node_ids[i]), i).second)
      return error(ErrorCode::InvalidArgument, "node {} of tree {} stands twice", node_ids[i], tree_ids[i]);
  const auto find = [&](std::int64_t tree, std::int64_t node) -> Result<std::uint32_t> {
    const auto found = index.find({tree, node});
    if (found == index.end()) return error(ErrorCode::InvalidArgument, "tree {} has no node {}", tree, node);
    return found->second;
  };
  std::map<std::int64_t, bool> has_root;
  for (std::uint32_t i = 0; i < count; ++i) {
    Node node;
    const std::optional<Branch> branch = branch_named(modes[i]);
    if (!branch || *branch == Branch::Member)
      return error(ErrorCode::InvalidArgument, "nodes_modes holds '{}'", modes[i]);
    node.branch = *branch;
    node.missing_is_true = !missing.empty() && missing[i] != 0;
    node.threshold = thresholds[i];
    if (node.branch != Branch::Leaf) {
      if (features[i] < 0 || features[i] >= kNoNode)
        return error(ErrorCode::InvalidArgument, "nodes_featureids holds {}", features[i]);
      node.feature = static_cast<std::uint32_t>(features[i]);
      HONE_TRY(node.yes, find(tree_ids[i], yes[i]));
      HONE_TRY(node.no, find(tree_ids[i], no[i]));
    }
    if (!std::exchange(has_root[tree_ids[i]], true)) ensemble.roots_.push_back(i);
    ensemble.nodes_.push_back(node);
  }

  const std::string name(prefix);
  const auto leaf_trees = attributes.integers(name + "_treeids"), leaf_nodes = attributes.integers(name + "_nodeids");
  const auto leaf_targets = attributes.integers(name + "_ids");
  HONE_TRY(const std::vector<double> leaf_weights, numbers_of(attributes, name + "_weights"));
  HONE_TRY(check_length(name + "_nodeids", leaf_nodes.size(), leaf_trees.size()));
  HONE_TRY(check_length(name + "_ids", leaf_targets.size(), leaf_trees.size()));
  HONE_TRY(check_length(name + "_weights", leaf_weights.size(), leaf_trees.size()));
  std::vector<std::pair<std::uint32_t, std::size_t>> by_node;
  for (std::size_t i = 0; i < leaf_trees.size(); ++i) {
    HONE_TRY(const std::uint32_t node, find(leaf_trees[i], leaf_nodes[i]));
    by_node.emplace_back(node, i);
  }
  std::sort(by_node.begin(), by_node.end());
  for (const auto& [place, i] : by_node) {
    Node& node = ensemble.nodes_[place];
    if (node.branch != Branch::Leaf) continue;  // weights of inner nodes are never reached
    if (node.no++ == 0) node.yes = static_cast<std::uint32_t>(ensemble.weights_.size());
    ensemble.weights_.push_back({leaf_targets[i], leaf_weights[i]});
  }
  HONE_TRY(ensemble.check(targets));
  return ensemble;
}

Result<TreeEnsemble> TreeEnsemble::read_indexed(const Attributes& attributes, std::int64_t targets) {
  const auto features = attributes.integers("nodes_featureids"), roots = attributes.integers("tree_roots");
  const auto yes = attributes.integers("nodes_truenodeids"), no = attributes.integers("nodes_falsenodeids");
  const auto yes_leaf = attributes.integers("nodes_trueleafs"), no_leaf = attributes.integers("nodes_falseleafs");
  const auto missing = attributes.integers("nodes_missing_value_tracks_true");
  const auto leaf_targets = attributes.integers("leaf_targetids");
  HONE_TRY(const std::vector<double> modes, tensor_numbers(attributes, "nodes_modes"));
  HONE_TRY(const std::vector<double> splits, tensor_numbers(attributes, "nodes_splits"));
  HONE_TRY(const std::vector<double> leaf_weights, tensor_numbers(attributes, "leaf_weights"));
  HONE_TRY(const std::vector<double> members, tensor_numbers(attributes, "membership_values"));
  const std::size_t count = features.size();
  HONE_TRY(check_length("nodes_modes", modes.size(), count));
  HONE_TRY(check_length("nodes_splits", splits.size(), count));
  HONE_TRY(check_length("nodes_truenodeids", yes.size(), count));
  HONE_TRY(check_length("nodes_falsenodeids", no.size(), count));
  HONE_TRY(check_length("nodes_trueleafs", yes_leaf.size(), count));
  HONE_TRY(check_length("nodes_falseleafs", no_leaf.size(), count));
  HONE_TRY(check_length("leaf_weights", leaf_weights.size(), leaf_targets.size()));
  if (!missing.empty()) HONE_TRY(check_length("nodes_missing_value_tracks_true", missing.size(), count));

  TreeEnsemble ensemble;
  // inner nodes first, then the leaves
  const auto resolve = [&](std::int64_t id, bool is_leaf) -> Result<std::uint32_t> {
    const std::size_t limit = is_leaf ? leaf_targets.size() : count;
    if (id < 0 || id >= static_cast<std::int64_t>(limit))
      return error(ErrorCode::InvalidArgument, "{} {} is outside 0..{}", is_leaf ? "leaf" : "node", id,
                   static_cast<std::int64_t>(limit) - 1);
    return static_cast<std::uint32_t>(id + (is_leaf ? static_cast<std::int64_t>(count) : 0));
  };
  std::size_t next_member = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Node node;
    if (!(modes[i] >= 0 && modes[i] < static_cast<double>(Branch::Leaf)) || features[i] < 0 || features[i] >= kNoNode)
      return error(ErrorCode::InvalidArgument, "node {} has mode {} and feature {}", i, modes[i], features[i]);
    node.branch = static_cast<Branch>(modes[i]);
    node.feature = static_cast<std::uint32_t>(features[i]);
    node.missing_is_true = !missing.empty() && missing[i] != 0;
    node.threshold = splits[i];
    HONE_TRY(node.yes, resolve(yes[i], yes_leaf[i] != 0));
    HONE_TRY(node.no, resolve(no[i], no_leaf[i] != 0));
    if (node.branch == Branch::Member) {
      if (next_member >= members.size())
        return error(ErrorCode::InvalidArgument, "membership_values has no set for node {}", i);
      node.members = static_cast<std::uint32_t>(ensemble.members_.size());
      std::vector<double>& set = ensemble.members_.emplace_back();
      while (next_member < members.size() && !std::isnan(members[next_member])) set.push_back(members[next_member++]);
      ++next_member;  // the NaN that ends the set
      std::sort(set.begin(), set.end());
    }
    ensemble.nodes_.push_back(node);
  }
  for (std::size_t i = 0; i < leaf_targets.size(); ++i) {
    ensemble.nodes_.push_back({.branch = Branch::Leaf, .yes = static_cast<std::uint32_t>(i), .no = 1});
    ensemble.weights_.push_back({leaf_targets[i], leaf_weights[i]});
  }
  for (const std::int64_t root : roots) {
    HONE_TRY(const std::uint32_t place, resolve(root, false));
    ensemble.roots_.push_back(place);
  }
  HONE_TRY(ensemble.check(targets));
  return ensemble;
}

}  // namespace hone::runtime
