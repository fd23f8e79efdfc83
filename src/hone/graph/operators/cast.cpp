#include "hone/runtime/kernels/cast.h"

#include "hone/graph/operators/convert.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/pointwise.h"

namespace hone::graph {
namespace {

using ir::Expr;

Result<ElementType> target_of(const Application& op) {
  if (op.op() == "CastLike") return op.type(1);
  const std::int64_t to = op.integer("to", 0);
  if (to < 1 || to > static_cast<std::int64_t>(ElementType::F6E3M2))
    return op.fail("attribute 'to' is {}, allowed are the types 1 to {}", to,
                   static_cast<std::int64_t>(ElementType::F6E3M2));
  return static_cast<ElementType>(to);
}

std::vector<ElementType> target_types(const Application& op) {
  const auto target = target_of(op);
  return {target ? *target : ElementType::Undefined};
}

Result<bool> makes_strings(const Application& op) {
  HONE_TRY(const ElementType to, target_of(op));
  return to == ElementType::String;
}

Result<bool> makes_complex(const Application& op) {
  HONE_TRY(const ElementType to, target_of(op));
  return to == ElementType::C64 || to == ElementType::C128;
}

Result<ConvertOptions> convert_options(const Application& op) {
  ConvertOptions options;
  options.saturate = op.integer("saturate", 1) != 0;
  options.round_mode = op.text("round_mode", "up");
  // The specification leaves this open; ONNX's own implementation clamped before opset 24, and has wrapped since.
  options.clamps_integers = op.opset() < 24;
  if (options.round_mode != "up" && options.round_mode != "down" && options.round_mode != "nearest")
    return op.fail("attribute 'round_mode' is '{}', allowed are up, down and nearest", options.round_mode);
  return options;
}

Result<Tensors> define_cast(const Application& op) {
  HONE_TRY(const ElementType to, target_of(op));
  HONE_TRY(const ConvertOptions options, convert_options(op));
  if (!ir_type(to)) return op.unsupported("no conversion to {}", runtime::name_of(to));
  return map_first(op, [&](const Expr& x) { return convert(x, op.type(0), to, options); });
}

Result<std::vector<OutputSpec>> infer_cast(const Application& op) {
  HONE_TRY(const ElementType to, target_of(op));
  if (!op.has(0) || !ir_type(op.type(0))) return error(ErrorCode::NeedsValue, "{} depends on its input", op.op());
  return std::vector<OutputSpec>{{to, op.shape(0)}};
}

/// The bits of an element as an unsigned integer, of 8 bits at least.
Expr bits_of(const Expr& value, ElementType type) {
  const ir::DType held = value.type();
  if (held.is_bool()) return ir::cast(ir::kU8, value);
  const ir::DType bits = held.bits() == 8    ? ir::kU8
                         : held.bits() == 16 ? ir::kU16
                         : held.bits() == 32 ? ir::kU32
                                             : ir::kU64;
  const Expr same = held == bits ? value : ir::make(ir::Call{ir::Intrinsic::Bitcast, {value}}, bits);
  const int width = width_of(type);
  if (width >= 8) return same;
  return ir::call(ir::Intrinsic::BitAnd, {same, ir::constant(bits, (std::int64_t{1} << width) - 1)});
}

Result<Tensors> define_bit_cast(const Application& op) {
  HONE_TRY(const ElementType to, target_of(op));
  const auto bit_count = [](ElementType type) { return type == ElementType::Bool ? 8 : width_of(type); };
  const auto held = ir_type(to);
  if (!held || bit_count(to) != bit_count(op.type(0)))
    return op.fail("{} has {} bits, {} must have as many", runtime::name_of(op.type(0)), bit_count(op.type(0)),
                   runtime::name_of(to));
  return map_first(op, [&](const Expr& x) {
    const Expr bits = bits_of(x, op.type(0));
    if (held->is_bool() || width_of(to) < 8) return held->is_bool() ? ir::cast(*held, bits) : wrap_to(bits, to);
    return *held == bits.type() ? bits : ir::make(ir::Call{ir::Intrinsic::Bitcast, {bits}}, *held);
  });
}

}  // namespace

std::span<const Operator> cast_operators() {
  static const Operator operators[] = {
      {.name = "Cast",
       .schema = "input -> output; to, saturate, round_mode",
       .define = define_cast,
       .host = runtime::cast_kernel,
       .infer = infer_cast,
       .output_types = target_types,
       .wants_host = makes_strings},
      {.name = "CastLike",
       .schema = "input, target_type -> output; saturate, round_mode",
       .define = define_cast,
       .host = runtime::cast_kernel,
       .infer = infer_cast,
       .output_types = target_types,
       .wants_host = makes_strings},
      {.name = "BitCast",
       .schema = "input -> output; to",
       .define = define_bit_cast,
       .host = runtime::bit_cast_kernel,
       .output_types = target_types,
       .wants_host = makes_complex},
  };
  return operators;
}

}  // namespace hone::graph
