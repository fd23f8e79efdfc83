#include "hone/runtime/kernels/sort.h"

#include "hone/graph/operators/families.h"
#include "hone/runtime/kernels/boxes.h"

namespace hone::graph {
namespace {

Result<std::vector<OutputSpec>> infer_top_k(const Application& op) {
  std::int64_t k = op.integer("k", -1);
  if (op.id(1) != kAbsent) {
    HONE_TRY(const std::vector<std::int64_t> numbers, op.ints(1));
    if (numbers.size() != 1) return op.fail("k must be one number, found {}", numbers.size());
    k = numbers[0];
  }
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", -1), op.rank(0)));
  Shape shape = op.shape(0);
  std::int64_t& extent = shape[static_cast<std::size_t>(axis)];
  if (k < 0 || k > extent) return op.fail("k is {}, allowed are 0 to {}", k, extent);
  extent = k;
  return std::vector<OutputSpec>{{op.type(0), shape}, {ElementType::I64, shape}};
}

}  // namespace

std::span<const Operator> sort_operators() {
  static const Operator entries[] = {
      {.name = "NonZero", .schema = "X: T -> Y", .host = runtime::non_zero},
      {.name = "Unique",
       .schema = "X: T -> Y: T, indices?, inverse_indices?, counts?; axis, sorted",
       .host = runtime::unique},
      // the attribute k is that of opset 9 and before
      {.name = "TopK",
       .schema = "X: T, K?: int64 -> values: T, indices?; axis, k, largest, sorted; T: number",
       .host = runtime::top_k,
       .infer = infer_top_k},
      {.name = "NonMaxSuppression",
       .schema = "boxes: float32, scores: float32, max_output_boxes_per_class?: int64, iou_threshold?: float32, "
                 "score_threshold?: float32 -> selected_indices; center_point_box",
       .host = runtime::non_max_suppression},
  };
  return entries;
}

}  // namespace hone::graph
