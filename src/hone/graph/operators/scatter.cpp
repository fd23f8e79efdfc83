#include "hone/runtime/kernels/scatter.h"

#include "hone/graph/operators/families.h"

namespace hone::graph {
namespace {

/// The result has the type and shape of the first input.
Result<std::vector<OutputSpec>> infer_like_first(const Application& op) {
  if (!ir_type(op.type(0))) return error(ErrorCode::NeedsValue, "{} of strings is known when it has run", op.op());
  return std::vector{OutputSpec{op.type(0), op.shape(0)}};
}

}  // namespace

std::span<const Operator> scatter_operators() {
  static const Operator operators[] = {
      {.name = "ScatterElements",
       .schema = "data: T, indices: index, updates: T -> output: T; axis, reduction",
       .host = runtime::scatter_elements_kernel,
       .infer = infer_like_first},
      {.name = "Scatter",
       .schema = "data: T, indices: index, updates: T -> output: T; axis",
       .host = runtime::scatter_elements_kernel,
       .infer = infer_like_first},
      {.name = "ScatterND",
       .schema = "data: T, indices: int64, updates: T -> output: T; reduction",
       .host = runtime::scatter_nd_kernel,
       .infer = infer_like_first},
      {.name = "CumSum",
       .schema = "x: T, axis: index -> y: T; exclusive, reverse; T: number",
       .host = runtime::cumulative_sum_kernel,
       .infer = infer_like_first},
      {.name = "CumProd",
       .schema = "x: T, axis: index -> y: T; exclusive, reverse; T: number",
       .host = runtime::cumulative_product_kernel,
       .infer = infer_like_first},
  };
  return operators;
}

}  // namespace hone::graph
