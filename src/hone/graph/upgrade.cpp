#include "hone/graph/upgrade.h"

namespace hone::graph {

Result<Graph> upgrade(Graph graph) { return graph; }

}  // namespace hone::graph
