#include "hone/runtime/kernels/control.h"

#include "hone/graph/operators/families.h"

namespace hone::graph {

std::span<const Operator> control_operators() {
  static const Operator entries[] = {
      {.name = "If", .schema = "cond: bool -> outputs...; else_branch, then_branch", .host = runtime::select_branch},
      {.name = "Loop",
       .schema = "M?: int64, cond?: bool, v_initial... -> v_final_and_scan_outputs...; body",
       .host = runtime::loop},
      // `directions`, and sequence_lens as the first input, are those of opset 8
      {.name = "Scan",
       .schema = "initial_state_and_scan_inputs... -> final_state_and_scan_outputs...; body, directions, "
                 "num_scan_inputs, scan_input_axes, scan_input_directions, scan_output_axes, scan_output_directions",
       .host = runtime::scan},
  };
  return entries;
}

}  // namespace hone::graph
