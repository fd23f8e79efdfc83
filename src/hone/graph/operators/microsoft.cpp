#include "hone/graph/operators/microsoft.h"

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/product.h"
#include "hone/graph/operators/quantized.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using ir::Intrinsic;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// A scale or bias that is one number or one per column.
Result<void> expect_per_column(const Application& op, std::size_t input, std::int64_t columns) {
  if (!op.has(input) || is_single(op, input) || op.shape(input) == tensor::Shape{columns}) return {};
  return op.fail("input {} has shape {}, allowed is one number, or one for each of {} columns", input,
                 tensor::show_shape(op.shape(input)), columns);
}

/// A, B, a_scale, b_scale, a_zero_point?, b_zero_point?, bias?
Result<std::vector<Tensor>> define_integer_to_float(const Application& op) {
  HONE_TRY(const Tensor a, centered_operand(op, 0, 4, Side::Left));
  HONE_TRY(const Tensor b, centered_operand(op, 1, 5, Side::Right));
  HONE_TRY(const Tensor product, product_of(op, a, b));
  if (product.rank() < 1) return op.fail("a product without columns");
  for (const std::size_t input : {3, 6}) HONE_TRY(expect_per_column(op, input, product.shape().back()));
  HONE_TRY(expect_single(op, 2));
  const ir::DType type = op.tensor(2).type();
  return std::vector<Tensor>{tensor::compute("scaled", tensor::axes_of(product.shape()), [&](const Indices& i) {
    const Expr scale =
        ir::cast(ir::kF32, scalar_or_entry(op, 2, ir::imm(0))) * ir::cast(ir::kF32, scalar_or_entry(op, 3, i.back()));
    Expr value = ir::cast(ir::kF32, product(i)) * scale;
    if (op.has(6)) value = value + ir::cast(ir::kF32, scalar_or_entry(op, 6, i.back()));
    return ir::cast(type, value);
  })};
}

/// A, B, b_scale, b_zero_point?, bias?: A is quantised as it comes.
Result<std::vector<ValueId>> expand_dynamic_quantize_matmul(const Application& op, Builder& builder) {
  const std::vector<ValueId> a = builder.add_node("", "DynamicQuantizeLinear", {op.id(0)}, 3);
  const auto optional = [&](std::size_t i) { return op.has(i) ? op.id(i) : kAbsent; };
  return builder.add_node(std::string(kMicrosoft), "MatMulIntegerToFloat",
                          {a[0], op.id(1), a[1], op.id(2), a[2], optional(3), optional(4)}, 1);
}

/// A, a_scale, a_zero_point, B, b_scale, b_zero_point, C?, y_scale?, y_zero_point?
Result<std::vector<Tensor>> define_quantized_gemm(const Application& op) {
  if (op.rank(0) != 2 || op.rank(3) != 2)
    return op.fail("operands of {} and {} axes, allowed are 2", op.rank(0), op.rank(3));
  const bool is_b_turned = op.integer("transB", 0) != 0;
  HONE_TRY(const Tensor a, without_zero_point(op, 0, 2, 2));
  HONE_TRY(const Tensor b, without_zero_point(op, 3, 5, is_b_turned ? 0 : 1));
  HONE_TRY(const Tensor product,
           product_of(op, a, b, {.transpose_a = op.integer("transA", 0) != 0, .transpose_b = is_b_turned}));
  for (const std::size_t input : {1, 7, 8}) HONE_TRY(expect_single(op, input));
  HONE_TRY(expect_per_column(op, 4, product.extent(1)));
  if (op.has(6)) {
    const auto shape = tensor::broadcast(op.op(), product.shape(), op.shape(6));
    if (!shape || *shape != product.shape()) return op.fail("C of shape {}", tensor::show_shape(op.shape(6)));
  }
  const double alpha = op.real("alpha", 1);
  return std::vector<Tensor>{tensor::compute("gemm", tensor::axes_of(product.shape()), [&](const Indices& i) {
    const Expr sum = op.has(6) ? product(i) + tensor::broadcast_at(op.tensor(6), i) : product(i);
    Expr scale = scalar_or_entry(op, 1, ir::imm(0)) * scalar_or_entry(op, 4, i[1]) * real_constant(ir::kF32, alpha);
    if (!op.has(7)) return ir::cast(ir::kF32, sum) * scale;
    scale = scale / scalar_or_entry(op, 7, ir::imm(0));
    const Expr zero =
        op.has(8) ? ir::cast(ir::kI32, scalar_or_entry(op, 8, ir::imm(0))) : ir::constant(ir::kI32, std::int64_t{0});
    return quantized(ir::cast(ir::kF32, sum) * scale, zero, op.tensor(op.has(8) ? 8 : 0).type());
  })};
}

// Weights of a few bits.

/// The number of `bits` bits at a place of a packed row of bytes, lowest bits first.
Expr unpacked(const Expr& byte, const Expr& place, std::int64_t bits) {
  if (bits == 8) return ir::cast(ir::kI32, byte);
  const std::int64_t each = 8 / bits;
  const Expr shift = ir::cast(ir::kI32, ir::floor_mod(place, each) * bits);
  return ir::call(Intrinsic::BitAnd, {ir::call(Intrinsic::ShiftRight, {ir::cast(ir::kI32, byte), shift}),
                                      ir::constant(ir::kI32, (std::int64_t{1} << bits) - 1)});
}

/// The sizes that MatMulNBits states.
struct BlockSizes {
  std::int64_t depth, columns, bits, block, blocks, zero_row;  ///< `zero_row`: bytes of one column's zero points
};

Result<BlockSizes> block_sizes(const Application& op) {
  BlockSizes sizes{};
  sizes.depth = op.integer("K", 0);
  sizes.columns = op.integer("N", 0);
  sizes.bits = op.integer("bits", 4);
  sizes.block = op.integer("block_size", 0);
  if (sizes.bits != 2 && sizes.bits != 4 && sizes.bits != 8)
    return op.unsupported("bits {}, allowed are 2, 4 and 8", sizes.bits);
  if (sizes.block < 8 || sizes.depth < 1 || sizes.columns < 1)
    return op.fail("K {}, N {} and block_size {}", sizes.depth, sizes.columns, sizes.block);
  sizes.blocks = (sizes.depth + sizes.block - 1) / sizes.block;
  sizes.zero_row = (sizes.blocks * sizes.bits + 7) / 8;
  const auto expect = [&](std::size_t input, std::int64_t count) -> Result<void> {
    if (!op.has(input)) return {};
    HONE_TRY(const std::int64_t found, runtime::element_count(op.shape(input)));
    if (found == count) return {};
    return op.fail("input {} has shape {}, allowed are {} elements", input, tensor::show_shape(op.shape(input)), count);
  };
  HONE_TRY(expect(1, sizes.columns * sizes.blocks * (sizes.block * sizes.bits / 8)));
  HONE_TRY(expect(2, sizes.columns * sizes.blocks));
  HONE_TRY(expect(3, sizes.columns * (op.has(3) && op.tensor(3).type().is_float() ? sizes.blocks : sizes.zero_row)));
  HONE_TRY(expect(4, sizes.depth));
  HONE_TRY(expect(5, sizes.columns));
  if (op.rank(0) < 1 || op.shape(0).back() != sizes.depth)
    return op.fail("an input of shape {}, allowed is {} in the last axis", tensor::show_shape(op.shape(0)),
                   sizes.depth);
  return sizes;
}

/// The element at a row-major place.
Expr at_place(const Tensor& x, Expr place) {
  Indices at(x.rank());
  for (std::size_t axis = x.rank(); axis-- > 0;) {
    at[axis] = axis == 0 ? place : ir::floor_mod(place, x.extent(axis));
    place = ir::floor_div(place, x.extent(axis));
  }
  return x(at);
}

/// A, B, scales, zero_points?, g_idx?, bias?: A by weights that are unpacked as a stage of their own.
Result<std::vector<Tensor>> define_matmul_bits(const Application& op) {
  HONE_TRY(const BlockSizes sizes, block_sizes(op));
  const Tensor& a = op.tensor(0);
  const ir::DType type = accumulator_type(a.type());
  const std::int64_t each = 8 / sizes.bits, block_bytes = sizes.block / each;
  const Tensor weight = tensor::compute("weight", {sizes.columns, sizes.depth}, [&](const Indices& i) {
    const Expr own = ir::floor_div(i[1], sizes.block), within = ir::floor_mod(i[1], sizes.block);
    const Expr byte = at_place(op.tensor(1), (i[0] * sizes.blocks + own) * block_bytes + ir::floor_div(within, each));
    Expr block = own;
    if (op.has(4))
      block = ir::min(ir::max(ir::cast(ir::kI64, op.tensor(4)(i[1])), ir::imm(0)), ir::imm(sizes.blocks - 1));
    Expr zero = ir::constant(type, static_cast<double>(std::int64_t{1} << (sizes.bits - 1)));
    if (op.has(3) && op.tensor(3).type().is_float())
      zero = ir::cast(type, at_place(op.tensor(3), i[0] * sizes.blocks + block));
    else if (op.has(3))
      zero = ir::cast(type, unpacked(at_place(op.tensor(3), i[0] * sizes.zero_row + ir::floor_div(block, each)), block,
                                     sizes.bits));
    const Expr scale = ir::cast(type, at_place(op.tensor(2), i[0] * sizes.blocks + block));
    return (ir::cast(type, unpacked(byte, within, sizes.bits)) - zero) * scale;
  });
  HONE_TRY(const Tensor product, product_of(op, converted(a, type), weight, {.transpose_b = true}));
  return std::vector<Tensor>{tensor::compute("product", tensor::axes_of(product.shape()), [&](const Indices& i) {
    return ir::cast(a.type(), op.has(5) ? product(i) + ir::cast(type, op.tensor(5)(i.back())) : product(i));
  })};
}

/// data, indices, scales, zero_points?: rows of a quantised table as floats.
Result<std::vector<Tensor>> define_gather_blocks(const Application& op) {
  const Tensor &data = op.tensor(0), &indices = op.tensor(1), &scales = op.tensor(2);
  const std::int64_t rank = op.rank(0), bits = op.integer("bits", 4), block = op.integer("block_size", 128);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("gather_axis", 0), rank));
  HONE_TRY(const std::int64_t blocked, op.axis(op.integer("quantize_axis", 1), rank));
  const bool is_packed = op.type(0) == ElementType::U8 && bits < 8;
  const std::int64_t each = is_packed ? 8 / bits : 1;
  if ((bits != 4 && bits != 8) || block < 1) return op.fail("bits {} and block_size {}", bits, block);
  tensor::Shape whole = data.shape();
  whole.back() *= each;
  tensor::Shape wanted = whole, shape(whole.begin(), whole.begin() + axis);
  wanted[static_cast<std::size_t>(blocked)] = (wanted[static_cast<std::size_t>(blocked)] + block - 1) / block;
  if (scales.shape() != wanted)
    return op.fail("scales of shape {}, allowed is {}", tensor::show_shape(scales.shape()), tensor::show_shape(wanted));
  if (op.has(3)) {
    wanted.back() = (wanted.back() + each - 1) / each;
    if (op.shape(3) != wanted)
      return op.fail("zero_points of shape {}, allowed is {}", tensor::show_shape(op.shape(3)),
                     tensor::show_shape(wanted));
  }
  const auto rows = static_cast<std::ptrdiff_t>(indices.rank());
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), whole.begin() + axis + 1, whole.end());
  const std::int64_t middle = op.type(0) == ElementType::U8 ? std::int64_t{1} << (bits - 1) : 0;
  return std::vector<Tensor>{tensor::compute("gathered", tensor::axes_of(shape), [&](const Indices& i) {
    Indices at(i.begin(), i.begin() + axis);
    const Expr row = ir::cast(ir::kI64, indices(Indices(i.begin() + axis, i.begin() + axis + rows)));
    const std::int64_t count = data.extent(static_cast<std::size_t>(axis));
    at.push_back(ir::min(ir::max(ir::select(row < 0, row + count, row), ir::imm(0)), ir::imm(count - 1)));
    at.insert(at.end(), i.begin() + axis + rows, i.end());
    const auto number = [&](const Tensor& x, Indices place) {
      const Expr last = place.back();
      if (is_packed) place.back() = ir::floor_div(last, each);
      return is_packed ? unpacked(x(place), last, bits) : ir::cast(ir::kI32, x(place));
    };
    Indices at_scale = at;
    at_scale[static_cast<std::size_t>(blocked)] = ir::floor_div(at_scale[static_cast<std::size_t>(blocked)], block);
    const Expr zero = op.has(3) ? number(op.tensor(3), at_scale) : ir::constant(ir::kI32, middle);
    const ir::DType type = accumulator_type(scales.type());
    return ir::cast(scales.type(), ir::cast(type, number(data, at) - zero) * ir::cast(type, scales(at_scale)));
  })};
}

// Recurrent layers with quantised weights.

/// X, W, R, B?, sequence_lens?, initial_h?, initial_c?, P?, W_scale, W_zero_point, R_scale, R_zero_point: inputs are
/// quantised as they come, and so is the hidden state before each step.
Result<std::vector<ValueId>> expand_dynamic_quantize_lstm(const Application& op, Builder& builder) {
  if (op.rank(0) != 3 || op.rank(1) != 3 || op.rank(2) != 3 || op.shape(1)[1] != op.shape(0)[2] ||
      op.shape(2)[2] != op.shape(1)[2] || op.shape(2)[2] != 4 * op.shape(2)[1])
    return op.fail("X {}, W {} and R {} do not fit", tensor::show_shape(op.shape(0)), tensor::show_shape(op.shape(1)),
                   tensor::show_shape(op.shape(2)));
  const tensor::Shape each = {op.shape(1)[0]}, per_column = {op.shape(1)[0], op.shape(1)[2]};
  for (std::size_t input = 8; input < 12; ++input)
    if (op.shape(input) != each && op.shape(input) != per_column)
      return op.fail("input {} has shape {}, allowed are {} and {}", input, tensor::show_shape(op.shape(input)),
                     tensor::show_shape(each), tensor::show_shape(per_column));
  if (op.has(3) && op.shape(3) != tensor::Shape{op.shape(1)[0], 2 * op.shape(1)[2]})
    return op.fail("a bias of shape {}", tensor::show_shape(op.shape(3)));
  Parts parts(op, builder);
  const std::int64_t steps = op.shape(0)[0], batch = op.shape(0)[1], width = op.shape(0)[2];
  const std::int64_t directions = op.shape(1)[0], gates = op.shape(1)[2];
  const std::vector<ValueId> x = builder.add_node("", "DynamicQuantizeLinear", {op.id(0)}, 3);
  const Shaped rows = parts.reshape({x[0], op.shape(0)}, {steps * batch, width});
  const auto of_direction = [&](std::size_t input, std::int64_t n, Shape shape) {
    return parts.reshape(parts.slice(parts.input(input), 0, n, n + 1), std::move(shape)).id;
  };
  Shaped projected;
  for (std::int64_t n = 0; n < directions; ++n) {
    const auto vector = [&](std::size_t input) {
      return of_direction(input, n, op.rank(input) == 1 ? Shape{1} : Shape{gates});
    };
    const ValueId product =
        builder.add_node(std::string(kMicrosoft), "MatMulIntegerToFloat",
                         {rows.id, of_direction(1, n, {width, gates}), x[1], vector(8), x[2], vector(9)}, 1)[0];
    const Shaped one{product, {steps * batch, gates}};
    projected = projected.is_absent() ? one : parts.concat(projected, one, 1);
  }
  if (op.has(3)) {
    const Shaped bias = parts.input(3);
    const Shaped sum = parts.map("Add", parts.slice(bias, 1, 0, gates), {parts.slice(bias, 1, gates, 2 * gates).id});
    projected = parts.map("Add", projected, {parts.reshape(sum, {directions * gates}).id});
  }
  projected = parts.reshape(projected, {steps, batch, directions * gates});
  const auto spread = [&](std::size_t input) {  // per direction or per column of one
    return parts.reshape(parts.input(input), {directions, 1, op.rank(input) == 1 ? 1 : gates});
  };
  const Shaped centered =
      parts.map("Sub", parts.cast(parts.input(2), ElementType::F32), {parts.cast(spread(11), ElementType::F32).id});
  const Shaped weights = parts.map("Mul", centered, {spread(10).id});
  Attributes attributes = op.attributes();
  attributes.remove("hidden_size");
  attributes.remove("layout");
  attributes.set("cell", std::string("LSTM"));
  attributes.set("quantize_hidden", std::int64_t{1});
  const auto optional = [&](std::size_t i) { return op.has(i) ? op.id(i) : kAbsent; };
  std::vector<ValueId> outputs = builder.add_node(
      "hone", "Recurrence", {projected.id, weights.id, kAbsent, optional(4), optional(5), optional(6), optional(7)}, 3,
      std::move(attributes));
  outputs.resize(op.output_count());
  return outputs;
}

}  // namespace

std::span<const Operator> microsoft_operators() {
  static const Operator entries[] = {
      microsoft("MatMulIntegerToFloat",
                "A: uint8|int8, B: uint8|int8, a_scale: T, b_scale: T, a_zero_point?: uint8|int8, b_zero_point?: "
                "uint8|int8, bias?: T -> Y: T; ; T: float",
                define_integer_to_float),
      microsoft("DynamicQuantizeMatMul",
                "A: float32, B: uint8|int8, b_scale: float32, b_zero_point?: uint8|int8, bias?: float32 -> Y: float32",
                expand_dynamic_quantize_matmul),
      microsoft(
          "QGemm",
          "A: uint8|int8, a_scale: float32, a_zero_point: uint8|int8, B: uint8|int8, b_scale: float32, "
          "b_zero_point: uint8|int8, C?: int32, y_scale?: float32, y_zero_point?: uint8|int8 -> Y; alpha, transA, "
          "transB",
          define_quantized_gemm),
      microsoft("MatMulNBits",
                "A: T, B: uint8, scales: float, zero_points?: any, g_idx?: int32, bias?: T -> Y: T; K, N, "
                "accuracy_level, bits, block_size, weight_prepacked; T: float",
                define_matmul_bits),
      microsoft("GatherBlockQuantized",
                "data: uint8|uint4|int4, indices: index, scales: T, zero_points?: uint8|uint4|int4 -> output: T; bits, "
                "block_size, gather_axis, quantize_axis; T: float",
                define_gather_blocks),
      microsoft("DynamicQuantizeLSTM",
                "X: float32, W: uint8|int8, R: uint8|int8, B?: float32, sequence_lens?: int32, initial_h?: float32, "
                "initial_c?: float32, P?: float32, W_scale: float32, W_zero_point: uint8|int8, R_scale: float32, "
                "R_zero_point: uint8|int8 -> Y?: float32, Y_h?: float32, Y_c?: float32; activation_alpha, "
                "activation_beta, activations, clip, direction, hidden_size, input_forget, layout",
                expand_dynamic_quantize_lstm),
  };
  return entries;
}

}  // namespace hone::graph
