#include "hone/graph/operators/families.h"

namespace hone::graph {

std::span<const Operator> compare_operators() { return {}; }

}  // namespace hone::graph
