#include "hone/runtime/kernels/recurrent.h"

#include "hone/graph/operators/families.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {
namespace {

Attributes attribute(const std::string& name, Attribute value) {
  Attributes attributes;
  attributes.set(name, std::move(value));
  return attributes;
}

/// The sizes of a recurrent operator; inputs X, W, R.
struct Sizes {
  std::int64_t steps, batch, input, directions, hidden, gates;  ///< `gates`: numbers of all gates together
  bool is_batch_first;
};

Result<Sizes> sizes_of(const Application& op, std::int64_t gate_count) {
  if (op.rank(0) != 3 || op.rank(1) != 3 || op.rank(2) != 3)
    return op.fail("inputs of {}, {} and {} axes, allowed are 3, 3 and 3", op.rank(0), op.rank(1), op.rank(2));
  Sizes sizes{};
  sizes.is_batch_first = op.integer("layout", 0) != 0;
  sizes.steps = op.shape(0)[sizes.is_batch_first ? 1 : 0];
  sizes.batch = op.shape(0)[sizes.is_batch_first ? 0 : 1];
  sizes.input = op.shape(0)[2];
  sizes.directions = op.shape(1)[0];
  sizes.hidden = op.shape(2)[2];
  sizes.gates = gate_count * sizes.hidden;
  const auto expect = [&](std::size_t input, const tensor::Shape& shape) -> Result<void> {
    if (!op.has(input) || op.shape(input) == shape) return {};
    return op.fail("input {} has shape {}, allowed is {}", input, tensor::show_shape(op.shape(input)),
                   tensor::show_shape(shape));
  };
  HONE_TRY(expect(1, {sizes.directions, sizes.gates, sizes.input}));
  HONE_TRY(expect(2, {sizes.directions, sizes.gates, sizes.hidden}));
  HONE_TRY(expect(3, {sizes.directions, 2 * sizes.gates}));
  const std::int64_t stated = op.integer("hidden_size", sizes.hidden);
  if (stated != sizes.hidden) return op.fail("hidden_size {}, the weights have {}", stated, sizes.hidden);
  const bool is_both = op.text("direction", "forward") == "bidirectional";
  if (sizes.directions != (is_both ? 2 : 1))
    return op.fail("weights for {} directions with direction '{}'", sizes.directions, op.text("direction", "forward"));
  return sizes;
}

/// The nodes of one expansion: each input in the type to compute in, and what is built from them.
class Expansion {
 public:
  Expansion(const Application& op, Builder& builder, const Sizes& sizes)
      : op_(op), builder_(builder), sizes_(sizes), is_narrow_(runtime::bytes_of(op.type(0)) == 2) {}

  /// Input `i` as f32 or wider; absent stays absent.
  ValueId input(std::size_t i) {
    if (!op_.has(i)) return kAbsent;
    return is_narrow_ ? cast(op_.id(i), ElementType::F32) : op_.id(i);
  }
  ValueId output(ValueId id) { return is_narrow_ ? cast(id, op_.type(0)) : id; }

  /// An initial state as [direction, batch, hidden].
  ValueId state(std::size_t i) {
    const ValueId id = input(i);
    return id != kAbsent && sizes_.is_batch_first ? transpose(id, {1, 0, 2}) : id;
  }

  ValueId transpose(ValueId id, const std::vector<std::int64_t>& permutation) {
    return builder_.add("Transpose", {id}, attribute("perm", permutation));
  }
  ValueId reshape(ValueId id, const std::vector<std::int64_t>& shape) {
    return builder_.add("Reshape", {id, builder_.ints(shape)});
  }
  /// Columns [begin, end) of a matrix.
  ValueId columns(ValueId id, std::int64_t begin, std::int64_t end) {
    return builder_.add("Slice", {id, builder_.ints({begin}), builder_.ints({end}), builder_.ints({1})});
  }

  /// The biases that can be added to the projection, as a vector; `hidden_apart`: not the last gate's recurrent one.
  ValueId projected_bias(bool hidden_apart) {
    const ValueId both = input(3);
    if (both == kAbsent) return kAbsent;
    const std::int64_t all = sizes_.gates, kept = hidden_apart ? all - sizes_.hidden : all;
    ValueId recurrent = columns(both, all, all + kept);
    if (hidden_apart) recurrent = builder_.add("Pad", {recurrent, builder_.ints({0, 0, 0, all - kept})});
    return reshape(builder_.add("Add", {columns(both, 0, all), recurrent}), {sizes_.directions * all});
  }

  /// The inputs of all steps by the weights: one product.
  ValueId projection(ValueId bias) {
    ValueId x = input(0);
    if (sizes_.is_batch_first) x = transpose(x, {1, 0, 2});
    x = reshape(x, {sizes_.steps * sizes_.batch, sizes_.input});
    const ValueId weight = reshape(input(1), {sizes_.directions * sizes_.gates, sizes_.input});
    std::vector<ValueId> operands = {x, weight};
    if (bias != kAbsent) operands.push_back(bias);
    const ValueId product = builder_.add("Gemm", operands, attribute("transB", std::int64_t{1}));
    return reshape(product, {sizes_.steps, sizes_.batch, sizes_.directions * sizes_.gates});
  }

 private:
  ValueId cast(ValueId id, ElementType type) {
    return builder_.add("Cast", {id}, attribute("to", static_cast<std::int64_t>(type)));
  }

  const Application& op_;
  Builder& builder_;
  const Sizes& sizes_;
  bool is_narrow_;
};

Result<std::vector<ValueId>> expand_recurrent(const Application& op, Builder& builder, std::int64_t gate_count) {
  HONE_TRY(const Sizes sizes, sizes_of(op, gate_count));
  Expansion parts(op, builder, sizes);
  const bool is_linear = op.op() == "GRU" && op.integer("linear_before_reset", 0) != 0;
  const ValueId projected = parts.projection(parts.projected_bias(is_linear));
  const ValueId weights = parts.transpose(parts.input(2), {0, 2, 1});
  ValueId hidden_bias = kAbsent;
  if (is_linear && op.has(3))
    hidden_bias = parts.columns(parts.input(3), 2 * sizes.gates - sizes.hidden, 2 * sizes.gates);

  Attributes attributes = op.attributes();
  attributes.remove("layout");
  attributes.remove("hidden_size");
  attributes.set("cell", op.op());
  const bool is_lstm = op.op() == "LSTM";
  std::vector<ValueId> outputs =
      builder.add_node("hone", "Recurrence",
                       {projected, weights, hidden_bias, op.has(4) ? op.id(4) : kAbsent, parts.state(5),
                        is_lstm ? parts.state(6) : kAbsent, is_lstm ? parts.input(7) : kAbsent},
                       is_lstm ? 3 : 2, std::move(attributes));
  if (sizes.is_batch_first) {
    outputs[0] = parts.transpose(outputs[0], {2, 0, 1, 3});
    for (std::size_t i = 1; i < outputs.size(); ++i) outputs[i] = parts.transpose(outputs[i], {1, 0, 2});
  }
  for (ValueId& output : outputs) output = parts.output(output);
  outputs.resize(op.output_count(), kAbsent);
  return outputs;
}

template <std::int64_t gate_count>
Result<std::vector<ValueId>> expand_gates(const Application& op, Builder& builder) {
  return expand_recurrent(op, builder, gate_count);
}

Result<std::vector<OutputSpec>> infer_recurrence(const Application& op) {
  if (op.rank(0) != 3 || op.rank(1) != 3) return op.fail("inputs of {} and {} axes", op.rank(0), op.rank(1));
  const std::int64_t directions = op.shape(1)[0], hidden = op.shape(1)[1], batch = op.shape(0)[1];
  const ElementType type = op.type(0);
  return std::vector<OutputSpec>{{type, {op.shape(0)[0], directions, batch, hidden}},
                                 {type, {directions, batch, hidden}},
                                 {type, {directions, batch, hidden}}};
}

}  // namespace

std::span<const Operator> recurrent_operators() {
  static const Operator entries[] = {
      {.name = "RNN",
       .schema = "X: T, W: T, R: T, B?: T, sequence_lens?: int32, initial_h?: T -> Y?: T, Y_h?: T; activation_alpha, "
                 "activation_beta, activations, clip, direction, hidden_size, layout; T: float",
       .expand = expand_gates<1>},
      {.name = "LSTM",
       .schema =
           "X: T, W: T, R: T, B?: T, sequence_lens?: int32, initial_h?: T, initial_c?: T, P?: T -> Y?: T, Y_h?: T, "
           "Y_c?: T; activation_alpha, activation_beta, activations, clip, direction, hidden_size, input_forget, "
           "layout; T: float",
       .expand = expand_gates<4>},
      {.name = "GRU",
       .schema = "X: T, W: T, R: T, B?: T, sequence_lens?: int32, initial_h?: T -> Y?: T, Y_h?: T; activation_alpha, "
                 "activation_beta, activations, clip, direction, hidden_size, layout, linear_before_reset; T: float",
       .expand = expand_gates<3>},
      {.name = "Recurrence",
       .domain = "hone",
       .schema =
           "projected: T, weights: T, bias?: T, sequence_lens?: int32, initial_h?: T, initial_c?: T, P?: T -> Y: T, "
           "Y_h: T, Y_c?: T; activation_alpha, activation_beta, activations, cell, clip, direction, input_forget, "
           "linear_before_reset, quantize_hidden; T: float32|double",
       .host = runtime::run_recurrence,
       .infer = infer_recurrence},
  };
  return entries;
}

}  // namespace hone::graph
