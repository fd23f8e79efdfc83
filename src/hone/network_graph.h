/// The graphs of networks that read sentences.
#pragma once

#include "hone/cost/network_spec.h"
#include "hone/graph/graph.h"

namespace hone {

/// The graph of a network: rows → layers → body → heads → sum over the rows. Errors name weights that are missing or
/// have another shape.
Result<graph::Graph> network_graph(const cost::NetworkSpec& spec, const cost::Weights& weights);

}  // namespace hone
