// Intrinsic functions of the interpreter.

#include <bit>
#include <cmath>
#include <cstring>

#include "hone/ir/interpret_code.h"

namespace hone::ir {

namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

/// The function of one floating argument, or null.
Unary find_unary(Intrinsic function) {
  switch (function) {
    case Intrinsic::Exp:
      return std::exp;
    case Intrinsic::Exp2:
      return std::exp2;
    case Intrinsic::Log:
      return std::log;
    case Intrinsic::Log2:
      return std::log2;
    case Intrinsic::Log10:
      return std::log10;
    case Intrinsic::Log1p:
      return std::log1p;
    case Intrinsic::Expm1:
      return std::expm1;
    case Intrinsic::Sqrt:
      return std::sqrt;
    case Intrinsic::Rsqrt:
      return [](double x) { return 1 / std::sqrt(x); };
    case Intrinsic::ReciprocalEstimate:
      return [](double x) { return 1 / x; };
    case Intrinsic::Cbrt:
      return std::cbrt;
    case Intrinsic::Sin:
      return std::sin;
    case Intrinsic::Cos:
      return std::cos;
    case Intrinsic::Tan:
      return std::tan;
    case Intrinsic::Asin:
      return std::asin;
    case Intrinsic::Acos:
      return std::acos;
    case Intrinsic::Atan:
      return std::atan;
    case Intrinsic::Sinh:
      return std::sinh;
    case Intrinsic::Cosh:
      return std::cosh;
    case Intrinsic::Tanh:
      return std::tanh;
    case Intrinsic::Asinh:
      return std::asinh;
    case Intrinsic::Acosh:
      return std::acosh;
    case Intrinsic::Atanh:
      return std::atanh;
    case Intrinsic::Erf:
      return std::erf;
    case Intrinsic::Sigmoid:
      return [](double x) { return 1 / (1 + std::exp(-x)); };
    case Intrinsic::Floor:
      return std::floor;
    case Intrinsic::Ceil:
      return std::ceil;
    case Intrinsic::Round:
      return std::nearbyint;  // half to even, as the rounding mode is never changed
    case Intrinsic::Trunc:
      return std::trunc;
    case Intrinsic::Abs:
      return std::fabs;
    default:
      return nullptr;
  }
}

/// The function of two floating arguments, or null.
Binary find_binary(Intrinsic function) {
  switch (function) {
    case Intrinsic::Pow:
      return std::pow;
    case Intrinsic::Atan2:
      return std::atan2;
    case Intrinsic::Fmod:
      return std::fmod;
    case Intrinsic::Ldexp:
      return [](double a, double b) { return a * std::exp2(std::floor(b)); };
    default:
      return nullptr;
  }
}

/// a + b as a double whose last bit is odd if the sum is not exact: rounding it to a narrower type is then right.
double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double from_b = sum - a, from_a = sum - from_b;
  const double lost = (a - from_a) + (b - from_b);
  if (lost == 0 || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
}

Number fused_multiply_add(DType type, Number a, Number b, Number c) {
  if (type.scalar == Scalar::F64) return of_float(std::fma(a.f, b.f, c.f));
  if (type.scalar == Scalar::F32)
    return of_float(std::fma(static_cast<float>(a.f), static_cast<float>(b.f), static_cast<float>(c.f)));
  if (type.is_float()) return of_float(round_to(type, add_to_odd(a.f * b.f, c.f)));
  return add(type, multiply(type, a, b), c);
}

Number absolute(DType type, Number a) {
  return type.is_signed() && a.i < 0
             ? of_int(wrapped(type.scalar, static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a.i))))
             : a;
}

Number integer_remainder(DType type, Number a, Number b) {
  if (b.i == 0)
    throw Stop{
        error(ErrorCode::InvalidArgument, "fmod of {} {} by zero, allowed is any other divisor", to_string(type), a.i)};
  if (type.scalar == Scalar::U64)
    return of_int(static_cast<std::int64_t>(static_cast<std::uint64_t>(a.i) % static_cast<std::uint64_t>(b.i)));
  return of_int(b.i == -1 ? 0 : a.i % b.i);
}

Number shift(Intrinsic function, DType type, Number a, Number amount) {
  if (amount.i < 0 || amount.i >= type.bits())
    throw Stop{error(ErrorCode::InvalidArgument, "{} of {} by {} bits, allowed are 0..{}", to_string(function),
                     to_string(type), amount.i, type.bits() - 1)};
  const auto bits = static_cast<std::uint64_t>(a.i);
  if (function == Intrinsic::ShiftLeft)
    return of_int(wrapped(type.scalar, static_cast<std::int64_t>(bits << amount.i)));
  return of_int(type.is_signed() ? a.i >> amount.i : static_cast<std::int64_t>(bits >> amount.i));
}

/// The bits of a value within the width of its type.
std::uint64_t width_bits(DType type, Number a) {
  return static_cast<std::uint64_t>(a.i) & (~std::uint64_t{0} >> (64 - type.bits()));
}

/// The product of as many `a` as the bits of `exponent` say, read without a sign; it wraps.
Number integer_power(DType type, Number a, Number exponent) {
  Number product = of_int(1);
  for (std::uint64_t rest = width_bits(type, exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) product = multiply(type, product, a);
    a = multiply(type, a, a);
  }
  return product;
}

/// Functions on integers (and bools) of one type.
Number integer_call(Intrinsic function, DType type, Number a, Number b) {
  switch (function) {
    case Intrinsic::Abs:
      return absolute(type, a);
    case Intrinsic::Fmod:
      return integer_remainder(type, a, b);
    case Intrinsic::Pow:
      return integer_power(type, a, b);
    case Intrinsic::BitAnd:
      return of_int(a.i & b.i);
    case Intrinsic::BitOr:
      return of_int(a.i | b.i);
    case Intrinsic::BitXor:
      return of_int(a.i ^ b.i);
    case Intrinsic::BitNot:
      return of_int(type.is_bool() ? !a.i : wrapped(type.scalar, ~a.i));
    case Intrinsic::ShiftLeft:
    case Intrinsic::ShiftRight:
      return shift(function, type, a, b);
    case Intrinsic::PopCount:
      return of_int(std::popcount(width_bits(type, a)));
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Round:
    case Intrinsic::Trunc:
      return a;
    default:
      throw Stop{
          error(ErrorCode::Unsupported, "{} of {}, allowed are floating types", to_string(function), to_string(type))};
  }
}

/// Puts the lanes of a vector together with `combine`, first to last.
template <typename Combine>
Code reduce_lanes(Code vector, DType type, Combine combine) {
  return [vector = std::move(vector), element = type.element(), lanes = type.lanes, combine](Frame& frame, int) {
    Number result = vector(frame, 0);
    for (int lane = 1; lane < lanes; ++lane) result = combine(element, result, vector(frame, lane));
    return result;
  };
}

/// Lane k: the accumulator's lane k plus the `group` neighbouring products from group * k on, in order.
Code dot(const Expr& e, Code accumulator, Code a, Code b, int group) {
  const DType type = e.type();
  const DType from_a = e.get<Call>().args[1].type().element(), from_b = e.get<Call>().args[2].type().element();
  return [=, accumulator = std::move(accumulator), a = std::move(a), b = std::move(b)](Frame& frame, int lane) {
    const int result_lane = type.is_vector() ? lane : 0;
    Number sum = accumulator(frame, result_lane);
    for (int i = group * result_lane; i < group * (result_lane + 1); ++i) {
      const Number left = convert(a(frame, i), from_a, type.element()),
                   right = convert(b(frame, i), from_b, type.element());
      sum = add(type.element(), sum, multiply(type.element(), left, right));
    }
    return sum;
  };
}

/// The bytes of the argument, read as another type; lanes may be fewer and wider or more and narrower.
Code bitcast(Code value, DType from, DType to) {
  return [value = std::move(value), from, to](Frame& frame, int lane) {
    const int first_byte = (to.is_vector() ? lane : 0) * to.bytes();
    std::byte bytes[8];
    for (int i = 0; i < to.bytes(); ++i) {
      const int place = first_byte + i;
      std::byte source[8];
      write_number(from.scalar, source, value(frame, place / from.bytes()));
      bytes[i] = source[place % from.bytes()];
    }
    return read_number(to.scalar, bytes);
  };
}

Code classify(Intrinsic function, Code value, DType type) {
  if (!type.is_float()) return [](Frame&, int) { return of_int(0); };
  if (function == Intrinsic::IsNan)
    return [value = std::move(value)](Frame& frame, int lane) { return of_int(std::isnan(value(frame, lane).f)); };
  return [value = std::move(value)](Frame& frame, int lane) { return of_int(std::isinf(value(frame, lane).f)); };
}

Code float_call(Intrinsic function, DType type, const std::vector<Code>& args) {
  if (const Unary f = find_unary(function))
    return
        [f, type, a = args[0]](Frame& frame, int lane) { return of_float(rounded(type.scalar, f(a(frame, lane).f))); };
  if (const Binary f = find_binary(function))
    return [f, type, a = args[0], b = args[1]](Frame& frame, int lane) {
      const double left = a(frame, lane).f;
      return of_float(rounded(type.scalar, f(left, b(frame, lane).f)));
    };
  throw Stop{
      error(ErrorCode::Unsupported, "{} of {}, allowed are integer types", to_string(function), to_string(type))};
}

}  // namespace

Code Translator::translate_call(const Expr& e) const {
  const Call& node = e.get<Call>();
  const Intrinsic function = node.function;
  if (function == Intrinsic::Prefetch || function == Intrinsic::PrefetchL2)
    return [](Frame&, int) { return of_int(0); };

  std::vector<Code> args = translate_all(node.args);
  const DType type = node.args[0].type();
  switch (function) {
    case Intrinsic::ReduceAdd:
      return reduce_lanes(args[0], type, add);
    case Intrinsic::ReduceMul:
      return reduce_lanes(args[0], type, multiply);
    case Intrinsic::ReduceMin:
      return reduce_lanes(args[0], type, minimum);
    case Intrinsic::ReduceMax:
      return reduce_lanes(args[0], type, maximum);
    case Intrinsic::Dot4:
      return dot(e, args[0], args[1], args[2], 4);
    case Intrinsic::Dot2:
      return dot(e, args[0], args[1], args[2], 2);
    case Intrinsic::Bitcast:
      return bitcast(args[0], type, e.type());
    case Intrinsic::IsNan:
    case Intrinsic::IsInf:
      return classify(function, args[0], type);
    case Intrinsic::Fma:
      return [type = type.element(), a = args[0], b = args[1], c = args[2]](Frame& frame, int lane) {
        const Number left = a(frame, lane), right = b(frame, lane);
        return fused_multiply_add(type, left, right, c(frame, lane));
      };
    default:
      break;
  }
  if (type.is_float()) return float_call(function, type.element(), args);
  const Code none = [](Frame&, int) { return of_int(0); };
  return [function, type = type.element(), a = args[0], b = args.size() > 1 ? args[1] : none](Frame& frame, int lane) {
    const Number left = a(frame, lane);
    return integer_call(function, type, left, b(frame, lane));
  };
}

}  // namespace hone::ir
