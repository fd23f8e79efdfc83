#include "hone/runtime/kernels/sequence.h"

#include <algorithm>

#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/move.h"

namespace hone::runtime {
namespace {

Result<const Sequence*> sequence_input(const HostCall& call, std::size_t i) {
  const Sequence* sequence = i < call.inputs.size() ? call.inputs[i].sequence() : nullptr;
  if (!sequence)
    return error(ErrorCode::InvalidArgument, "input {} must be a sequence, found {}", i,
                 i < call.inputs.size() ? call.inputs[i].describe() : "nothing");
  return sequence;
}

/// Input `i` as a place in [0, limit], counted from `length` if it is negative.
Result<std::size_t> position_input(const HostCall& call, std::size_t i, std::size_t length, std::int64_t limit) {
  HONE_TRY(const Tensor tensor, call.tensor(i));
  HONE_TRY(const std::int64_t position, single_integer(tensor, "position"));
  const auto count = static_cast<std::int64_t>(length);
  if (position < -count || position > limit)
    return error(ErrorCode::InvalidArgument, "position {} is outside [{}, {}] of a sequence of {}", position, -count,
                 limit, length);
  return static_cast<std::size_t>(position < 0 ? position + count : position);
}

/// The extents of the pieces that a tensor is cut into.
Result<std::vector<std::int64_t>> piece_extents(const HostCall& call, std::int64_t extent) {
  if (!call.has(1)) return std::vector<std::int64_t>(static_cast<std::size_t>(extent), 1);
  HONE_TRY(const Tensor split, call.tensor(1));
  HONE_TRY(std::vector<std::int64_t> extents, split.to_ints());
  if (split.rank() == 0) {
    const std::int64_t piece = extents[0];
    if (piece < 1) return error(ErrorCode::InvalidArgument, "split is {}, at least 1 is allowed", piece);
    extents.assign(static_cast<std::size_t>(extent / piece), piece);
    if (extent % piece != 0) extents.push_back(extent % piece);
    return extents;
  }
  std::int64_t sum = 0;
  for (const std::int64_t piece : extents) {
    if (piece < 0 || piece > extent - sum)
      return error(ErrorCode::InvalidArgument, "a piece of {} at {} does not fit into an axis of {}", piece, sum,
                   extent);
    sum += piece;
  }
  if (sum != extent)
    return error(ErrorCode::InvalidArgument, "the pieces of split sum up to {}, the axis has {}", sum, extent);
  return extents;
}

}  // namespace

Result<void> sequence_construct(HostCall& call) {
  call.outputs[0] = Value(Sequence(call.inputs.begin(), call.inputs.end()));
  return {};
}

Result<void> sequence_empty(HostCall& call) {
  call.outputs[0] = Value(Sequence());
  return {};
}

Result<void> sequence_insert(HostCall& call) {
  HONE_TRY(const Sequence* const sequence, sequence_input(call, 0));
  if (!call.has(1)) return error(ErrorCode::InvalidArgument, "input 1 is missing");
  std::size_t position = sequence->size();
  if (call.has(2)) {
    HONE_TRY(position, position_input(call, 2, sequence->size(), static_cast<std::int64_t>(sequence->size())));
  }
  Sequence longer = *sequence;
  longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(position), call.inputs[1]);
  call.outputs[0] = Value(std::move(longer));
  return {};
}

Result<void> sequence_erase(HostCall& call) {
  HONE_TRY(const Sequence* const sequence, sequence_input(call, 0));
  if (sequence->empty()) return error(ErrorCode::InvalidArgument, "nothing to erase in an empty sequence");
  std::size_t position = sequence->size() - 1;
  if (call.has(1)) {
    HONE_TRY(position, position_input(call, 1, sequence->size(), static_cast<std::int64_t>(sequence->size()) - 1));
  }
  Sequence shorter = *sequence;
  shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(position));
  call.outputs[0] = Value(std::move(shorter));
  return {};
}

Result<void> sequence_at(HostCall& call) {
  HONE_TRY(const Sequence* const sequence, sequence_input(call, 0));
  HONE_TRY(const std::size_t position,
           position_input(call, 1, sequence->size(), static_cast<std::int64_t>(sequence->size()) - 1));
  call.outputs[0] = (*sequence)[position];
  return {};
}

Result<void> sequence_length(HostCall& call) {
  HONE_TRY(const Sequence* const sequence, sequence_input(call, 0));
  HONE_TRY(Tensor length, call.output(0, ElementType::I64, {}));
  length.as<std::int64_t>()[0] = static_cast<std::int64_t>(sequence->size());
  return {};
}

Result<void> split_to_sequence(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const std::size_t axis, checked_axis(call.attributes.integer("axis", 0), input.rank()));
  HONE_TRY(const std::vector<std::int64_t> extents, piece_extents(call, input.extent(axis)));
  const bool drops_axis = !call.has(1) && call.attributes.integer("keepdims", 1) == 0;
  Sequence pieces;
  std::int64_t begin = 0;
  for (const std::int64_t extent : extents) {
    HONE_TRY(Tensor piece, slice_axis(input, axis, begin, extent));
    begin += extent;
    if (drops_axis) {
      Shape shape = piece.shape();
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
      piece = piece.reshaped(std::move(shape));
    }
    pieces.emplace_back(std::move(piece));
  }
  call.outputs[0] = Value(std::move(pieces));
  return {};
}

Result<void> concat_from_sequence(HostCall& call) {
  HONE_TRY(const Sequence* const sequence, sequence_input(call, 0));
  std::vector<Tensor> tensors;
  for (const Value& value : *sequence) {
    if (!value.tensor())
      return error(ErrorCode::InvalidArgument, "the elements must be tensors, found {}", value.describe());
    tensors.push_back(*value.tensor());
  }
  const std::int64_t axis = call.attributes.integer("axis", 0);
  HONE_TRY(call.outputs[0],
           call.attributes.integer("new_axis", 0) != 0 ? stack(tensors, axis) : concat_axis(tensors, axis));
  return {};
}

Result<void> sequence_map(HostCall& call) {
  HONE_TRY(const Sequence* const first, sequence_input(call, 0));
  HONE_TRY(const Body* const body, call.body(0));
  std::vector<Sequence> results(call.outputs.size());
  std::vector<Value> arguments(call.inputs.size());
  for (std::size_t i = 0; i < first->size(); ++i) {
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const Sequence* sequence = call.inputs[k].sequence();
      if (sequence && sequence->size() != first->size())
        return error(ErrorCode::InvalidArgument, "input {} is a sequence of {}, input 0 of {}", k, sequence->size(),
                     first->size());
      arguments[k] = sequence ? (*sequence)[i] : call.inputs[k];
    }
    HONE_TRY(std::vector<Value> values, body->run(arguments));
    if (values.size() < results.size())
      return error(ErrorCode::InvalidArgument, "the body gives {} values for {} outputs", values.size(),
                   results.size());
    for (std::size_t k = 0; k < results.size(); ++k) results[k].push_back(std::move(values[k]));
  }
  for (std::size_t k = 0; k < results.size(); ++k) call.outputs[k] = Value(std::move(results[k]));
  return {};
}

Result<void> optional(HostCall& call) {
  call.outputs[0] = call.has(0) ? call.inputs[0] : Value();
  return {};
}

Result<void> optional_has_element(HostCall& call) {
  HONE_TRY(Tensor output, call.output(0, ElementType::Bool, {}));
  output.as<std::uint8_t>()[0] = call.has(0) ? 1 : 0;
  return {};
}

Result<void> optional_get_element(HostCall& call) {
  if (!call.has(0)) return error(ErrorCode::InvalidArgument, "the optional has no element");
  call.outputs[0] = call.inputs[0];
  return {};
}

}  // namespace hone::runtime
