#include "hone/runtime/kernels/tree.h"

#include <algorithm>

#include "hone/graph/operators/families.h"

namespace hone::graph {
namespace {

constexpr std::int64_t kMaxTargets = 1 << 24;

/// Rows of targets: [rows, count].
Result<std::vector<OutputSpec>> rows_of(const Application& op, ElementType type, std::int64_t count) {
  if (count < 1 || count > kMaxTargets) return op.fail("n_targets is {}, allowed are 1 to {}", count, kMaxTargets);
  return std::vector<OutputSpec>{{type, {op.rank(0) == 2 ? op.shape(0)[0] : 1, count}}};
}

Result<std::vector<OutputSpec>> infer_regressor(const Application& op) {
  return rows_of(op, ElementType::F32, op.integer("n_targets", 1));
}

Result<std::vector<OutputSpec>> infer_ensemble(const Application& op) {
  const auto targets = op.integers("leaf_targetids");
  const std::int64_t last = targets.empty() ? 0 : *std::max_element(targets.begin(), targets.end());
  return rows_of(op, op.type(0), op.integer("n_targets", std::min(last, kMaxTargets) + 1));
}

}  // namespace

std::span<const Operator> tree_operators() {
  static const Operator entries[] = {
      {.name = "TreeEnsemble",
       .domain = "ai.onnx.ml",
       .schema = "X: T -> Y: T; aggregate_function, leaf_targetids, leaf_weights, membership_values, n_targets, "
                 "nodes_falseleafs, nodes_falsenodeids, nodes_featureids, nodes_hitrates, "
                 "nodes_missing_value_tracks_true, nodes_modes, nodes_splits, nodes_trueleafs, nodes_truenodeids, "
                 "post_transform, tree_roots; T: float",
       .host = runtime::tree_ensemble,
       .infer = infer_ensemble},
      {.name = "TreeEnsembleRegressor",
       .domain = "ai.onnx.ml",
       .schema = "X: float32|double|index -> Y; aggregate_function, base_values, base_values_as_tensor, n_targets, "
                 "nodes_falsenodeids, nodes_featureids, nodes_hitrates, nodes_hitrates_as_tensor, "
                 "nodes_missing_value_tracks_true, nodes_modes, nodes_nodeids, nodes_treeids, nodes_truenodeids, "
                 "nodes_values, nodes_values_as_tensor, post_transform, target_ids, target_nodeids, target_treeids, "
                 "target_weights, target_weights_as_tensor",
       .host = runtime::tree_ensemble_regressor,
       .infer = infer_regressor},
      {.name = "TreeEnsembleClassifier",
       .domain = "ai.onnx.ml",
       .schema = "X: float32|double|index -> Y, Z?; base_values, base_values_as_tensor, class_ids, class_nodeids, "
                 "class_treeids, class_weights, class_weights_as_tensor, classlabels_int64s, classlabels_strings, "
                 "nodes_falsenodeids, nodes_featureids, nodes_hitrates, nodes_hitrates_as_tensor, "
                 "nodes_missing_value_tracks_true, nodes_modes, nodes_nodeids, nodes_treeids, nodes_truenodeids, "
                 "nodes_values, nodes_values_as_tensor, post_transform",
       .host = runtime::tree_ensemble_classifier},
  };
  return entries;
}

}  // namespace hone::graph
