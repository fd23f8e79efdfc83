/// Rewrites operators of older versions into the newest form, the one that definitions are written for.
#pragma once

#include "hone/graph/graph.h"

namespace hone::graph {

/// The graph with every node in its newest form, subgraphs included; the values that nodes read and write stay.
Result<Graph> upgrade(Graph graph);

}  // namespace hone::graph
