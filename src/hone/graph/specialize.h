/// Specialization: a graph for inputs of known types and shapes, as far as the shapes inside it follow from them.
///
/// Shapes follow from definitions at concrete shapes, so nothing symbolic is ever computed: Shape → Gather → Concat →
/// Reshape chains become constants. Where a shape depends on content that only a run can tell (NonZero, Loop, a Reshape
/// to a shape that was fed), the graph is cut: a stage holds all that is known, and the rest is specialized when the
/// stage has run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hone/graph/apply.h"
#include "hone/graph/graph.h"

namespace hone::graph {

/// What is known of one input of a graph (its inputs, then its captured values).
struct Given {
  std::optional<OutputSpec> spec;         ///< none: not a tensor
  std::optional<runtime::Value> content;  ///< if it may be built into the result
};

/// Computes a node whose inputs are all known, for folding.
using Evaluate = std::function<Result<std::vector<runtime::Value>>(const Graph& graph, const Node& node,
                                                                   std::span<const runtime::Value> inputs)>;

/// Whether results may be kept as constants: folding must not make a model much bigger, so larger ones may be at most
/// twice their inputs.
inline bool is_small_enough_to_fold(std::size_t output_bytes, std::size_t input_bytes) {
  return output_bytes <= (std::size_t{1} << 16) || output_bytes <= 2 * input_bytes;
}

/// The part of a graph whose shapes are known.
struct Stage {
  /// Nodes that are expressions or host kernels: composites expanded, constants folded, branches that are known taken.
  /// Its inputs are those of the graph, captured ones last; its outputs are the inputs of `rest`, or the graph's.
  Graph graph;
  std::vector<Meaning> meanings;                 ///< one per node
  std::vector<std::optional<OutputSpec>> specs;  ///< one per value; none: not a tensor, or known when it has run
  std::map<ValueId, runtime::Value> known;       ///< inputs whose content is built into the result
  /// What is left to do, if anything. Its inputs are the outputs of `graph`.
  std::shared_ptr<const Graph> rest;
  std::vector<bool> wants_content;  ///< for each input of `rest`: whether its content must be given to go on
};

/// Specializes `graph`; `given` has one entry per input and captured value.
Result<Stage> specialize(const Graph& graph, std::span<const Given> given, const Evaluate& evaluate);

}  // namespace hone::graph
