#include "hone/runtime/kernels/sequence.h"

#include "hone/graph/operators/families.h"

namespace hone::graph {
namespace {

Result<std::vector<OutputSpec>> infer_length(const Application&) {
  return std::vector<OutputSpec>{{ElementType::I64, {}}};
}

Result<std::vector<OutputSpec>> infer_has_element(const Application&) {
  return std::vector<OutputSpec>{{ElementType::Bool, {}}};
}

}  // namespace

std::span<const Operator> sequence_operators() {
  static const Operator entries[] = {
      {.name = "SequenceConstruct", .schema = "inputs...: T -> output_sequence", .host = runtime::sequence_construct},
      {.name = "SequenceEmpty", .schema = "-> output; dtype", .host = runtime::sequence_empty},
      {.name = "SequenceInsert",
       .schema = "input_sequence, tensor, position?: index -> output_sequence",
       .host = runtime::sequence_insert},
      {.name = "SequenceErase",
       .schema = "input_sequence, position?: index -> output_sequence",
       .host = runtime::sequence_erase},
      {.name = "SequenceAt", .schema = "input_sequence, position: index -> tensor", .host = runtime::sequence_at},
      {.name = "SequenceLength",
       .schema = "input_sequence -> length",
       .host = runtime::sequence_length,
       .infer = infer_length},
      {.name = "SplitToSequence",
       .schema = "input, split?: index -> output_sequence; axis, keepdims",
       .host = runtime::split_to_sequence},
      {.name = "ConcatFromSequence",
       .schema = "input_sequence -> concat_result; axis, new_axis",
       .host = runtime::concat_from_sequence},
      {.name = "SequenceMap",
       .schema = "input_sequence, additional_inputs... -> out_sequence...; body",
       .host = runtime::sequence_map},
      {.name = "Optional", .schema = "input? -> output; type", .host = runtime::optional},
      {.name = "OptionalHasElement",
       .schema = "input? -> output",
       .host = runtime::optional_has_element,
       .infer = infer_has_element},
      {.name = "OptionalGetElement", .schema = "input -> output", .host = runtime::optional_get_element},
  };
  return entries;
}

}  // namespace hone::graph
