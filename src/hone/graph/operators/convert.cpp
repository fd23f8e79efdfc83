#include "hone/graph/operators/convert.h"

#include <cmath>
#include <limits>

#include "hone/runtime/small_float.h"

namespace hone::graph {

using ir::DType;
using ir::Expr;
using ir::Intrinsic;

namespace {

/// How f32 and f64 are laid out.
struct FloatLayout {
  DType floats, bits;
  int mantissa_bits, bias;
};

FloatLayout layout_of(DType type) {
  return type == ir::kF64 ? FloatLayout{ir::kF64, ir::kI64, 52, 1023} : FloatLayout{ir::kF32, ir::kI32, 23, 127};
}

Expr bit_and(const Expr& a, std::int64_t mask) {
  return ir::call(Intrinsic::BitAnd, {a, ir::constant(a.type(), mask)});
}

Expr bit_or(const Expr& a, const Expr& b) { return ir::call(Intrinsic::BitOr, {a, b}); }

Expr shift_left(const Expr& a, int by) {
  return ir::call(Intrinsic::ShiftLeft, {a, ir::constant(a.type(), std::int64_t{by})});
}

Expr shift_right(const Expr& a, int by) {
  return ir::call(Intrinsic::ShiftRight, {a, ir::constant(a.type(), std::int64_t{by})});
}

Expr bitcast(DType type, const Expr& a) { return ir::make(ir::Call{Intrinsic::Bitcast, {a}}, type); }

Expr f32(double value) { return ir::constant(ir::kF32, value); }

Expr integer(const Expr& like, std::int64_t value) { return ir::constant(like.type(), value); }

/// The number that the bits (u8) of a narrow float stand for. Above the zeros and the first exponent, whose numbers are
/// multiples of the smallest one, the bits are those of an f32 with another bias.
Expr decode(const Expr& bits, const runtime::SmallFloatFormat& format) {
  const Expr code = ir::cast(ir::kI32, bits);
  const Expr size = bit_and(code, (std::int64_t{1} << (format.width() - 1)) - 1);
  const int shift = 23 - format.mantissa_bits;
  const Expr normal = bitcast(ir::kF32, shift_left(size, shift) + (std::int64_t{127 - format.bias} << 23));
  const double smallest = std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
  const Expr subnormal = ir::cast(ir::kF32, size) * f32(smallest);
  Expr number = ir::select(size < (std::int64_t{1} << format.mantissa_bits), subnormal, normal);
  const auto largest = static_cast<std::int64_t>(format.largest());
  const Expr nan = f32(std::numeric_limits<double>::quiet_NaN());
  const Expr infinity = f32(std::numeric_limits<double>::infinity());
  if (format.specials == runtime::Specials::Ieee)
    number = ir::select(size <= largest, number, ir::select(ir::eq(size, largest + 1), infinity, nan));
  if (format.specials == runtime::Specials::NanAtTop) number = ir::select(size <= largest, number, nan);
  const Expr is_negative = ir::ne(bit_and(code, std::int64_t{1} << (format.width() - 1)), integer(code, 0));
  const Expr with_sign = ir::select(is_negative, -number, number);
  if (format.specials != runtime::Specials::NanAtZero) return with_sign;
  return ir::select(ir::eq(code, static_cast<std::int64_t>(format.nan())), nan, with_sign);
}

/// 2^(bits - 127), and NaN for 255. The exponent 0 of an f32 is not that of 2^-127.
Expr decode_e8m0(const Expr& bits) {
  const Expr code = ir::cast(ir::kI32, bits);
  const Expr power = bitcast(ir::kF32, shift_left(code, 23));
  const Expr nan = f32(std::numeric_limits<double>::quiet_NaN());
  const Expr finite = ir::select(ir::eq(code, 0), f32(std::ldexp(1.0, -127)), power);
  return ir::select(ir::eq(code, 255), nan, finite);
}

/// The bits (u8) of the nearest number of a narrow float, ties to even. `value` is f32 or f64.
///
/// With e the larger of the number's exponent and the format's lowest, the numbers around it are multiples of
/// 2^(e - mantissa bits); the multiple's factor, plus as many steps as lie below e, is the pattern. A factor rounded up
/// to the next power of two carries into the exponent by itself.
Expr encode(const Expr& value, const runtime::SmallFloatFormat& format, bool saturate) {
  const FloatLayout layout = layout_of(value.type());
  const Expr bits = bitcast(layout.bits, value);
  const std::int64_t exponent_mask = layout.bits == ir::kI64 ? 0x7ff : 0xff;
  const int lowest = 1 - format.bias;
  const Expr exponent = bit_and(shift_right(bits, layout.mantissa_bits), exponent_mask) - layout.bias;
  const Expr at_least = ir::max(exponent, integer(bits, lowest));
  // 2^(mantissa bits - e) is a normal number, as |e| is at most 127 or 1023 and numbers beyond the format are cut
  // below.
  const Expr clipped = ir::min(at_least, integer(bits, lowest + (1 << format.exponent_bits)));
  const Expr steps_per_one = bitcast(
      layout.floats, shift_left(integer(bits, layout.bias + format.mantissa_bits) - clipped, layout.mantissa_bits));
  const Expr factor = ir::call(Intrinsic::Round, {ir::call(Intrinsic::Abs, {value}) * steps_per_one});
  const Expr pattern =
      ir::cast(ir::kI32, factor) + shift_left(ir::cast(ir::kI32, clipped - lowest), format.mantissa_bits);

  const auto largest = static_cast<std::int64_t>(format.largest());
  const bool has_infinity = format.specials == runtime::Specials::Ieee;
  const bool clamps = saturate || format.specials == runtime::Specials::None;
  const std::int64_t beyond = clamps ? largest : has_infinity ? largest + 1 : std::int64_t{format.nan()};
  const Expr is_beyond = ir::logical_or(pattern > integer(pattern, largest), at_least > clipped);
  Expr code = ir::select(is_beyond, integer(pattern, beyond), pattern);
  code = ir::select(ir::call(Intrinsic::IsNan, {value}), integer(pattern, format.nan()), code);
  const std::int64_t sign_bit = std::int64_t{1} << (format.width() - 1);
  Expr is_negative = bits < 0;
  if (format.specials == runtime::Specials::NanAtZero)
    is_negative = ir::logical_and(is_negative, ir::ne(code, integer(code, 0)));
  return ir::cast(ir::kU8, bit_or(code, ir::select(is_negative, integer(code, sign_bit), integer(code, 0))));
}

/// The bits of a power of two near |value| (f32).
Expr encode_e8m0(const Expr& value, const ConvertOptions& options) {
  const Expr bits = bit_and(bitcast(ir::kI32, value), 0x7fffffff);
  // Below 2^-126 the exponent field is 0, and 2^-127 is half way up the mantissas.
  const Expr is_low = bits < (std::int64_t{1} << 23);
  const Expr mantissa = bit_and(bits, 0x7fffff);
  const Expr low_part =
      ir::select(bits <= (std::int64_t{1} << 22), integer(bits, 0), (bits - (std::int64_t{1} << 22)) * 2);
  const Expr fraction = ir::select(is_low, low_part, mantissa);
  Expr code = shift_right(bits, 23);
  if (options.round_mode == "up") code = code + ir::cast(ir::kI32, fraction > integer(bits, 0));
  if (options.round_mode == "nearest") code = code + ir::cast(ir::kI32, fraction >= integer(bits, 1 << 22));
  code = ir::min(code, integer(code, options.saturate ? 254 : 255));
  if (!options.saturate) code = ir::select(ir::eq(bits, 0), integer(code, 255), code);
  return ir::cast(ir::kU8, ir::select(ir::call(Intrinsic::IsNan, {value}), integer(code, 255), code));
}

bool is_narrow_float(ElementType type) {
  return runtime::is_small_float(type) && type != ElementType::F16 && type != ElementType::BF16;
}

/// f32 if that holds every number of the type, f64 otherwise.
Expr to_wide_float(const Expr& value) {
  const DType type = value.type();
  return ir::cast(type.bits() <= 16 || type == ir::kF32 ? ir::kF32 : ir::kF64, value);
}

bool is_signed(ElementType type) {
  return type == ElementType::I4 || type == ElementType::I2 || ir_type(type)->is_signed();
}

}  // namespace

int width_of(ElementType type) { return type == ElementType::Bool ? 1 : runtime::bits_of(type); }

std::int64_t least_of(ElementType type) { return is_signed(type) ? -(std::int64_t{1} << (width_of(type) - 1)) : 0; }

std::int64_t greatest_of(ElementType type) {
  return (std::int64_t{1} << (width_of(type) - (is_signed(type) ? 1 : 0))) - 1;
}

Expr clamp_to(const Expr& value, ElementType type) {
  const Expr inside = ir::min(ir::max(value, ir::constant(value.type(), least_of(type))),
                              ir::constant(value.type(), greatest_of(type)));
  return ir::cast(*ir_type(type), inside);
}

Expr wrap_to(const Expr& value, ElementType type) {
  const Expr byte = ir::cast(*ir_type(type), value);
  const int width = width_of(type);
  if (width >= 8) return byte;
  return is_signed(type) ? shift_right(shift_left(byte, 8 - width), 8 - width) : bit_and(byte, greatest_of(type));
}

Expr to_number(const Expr& value, ElementType type) {
  if (type == ElementType::F8E8M0) return decode_e8m0(value);
  return is_narrow_float(type) ? decode(value, runtime::small_float_format(type)) : value;
}

Expr convert(const Expr& value, ElementType from, ElementType to, const ConvertOptions& options) {
  if (from == to) return value;
  const Expr source = to_number(value, from);
  if (to == ElementType::F8E8M0) return encode_e8m0(ir::cast(ir::kF32, source), options);
  if (is_narrow_float(to)) return encode(to_wide_float(source), runtime::small_float_format(to), options.saturate);
  if (width_of(to) >= 8 || to == ElementType::Bool) return ir::cast(*ir_type(to), source);
  if (!source.type().is_float()) return wrap_to(source, to);
  const Expr whole = ir::cast(ir::kI32, source);
  return options.clamps_integers ? clamp_to(whole, to) : wrap_to(whole, to);
}

}  // namespace hone::graph
