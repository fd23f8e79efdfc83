#include "hone/graph/operators/families.h"

namespace hone::graph {

std::span<const Operator> microsoft_operators() { return {}; }

}  // namespace hone::graph
