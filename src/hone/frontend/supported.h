/// Says at once everything in a model that is not supported.
#pragma once

#include "hone/graph/graph.h"

namespace hone::frontend {

/// Compares all nodes, those of subgraphs included, with the operator table. One error lists every unknown operator and
/// attribute with the nodes that have it.
Result<void> check_supported(const graph::Graph& graph);

}  // namespace hone::frontend
