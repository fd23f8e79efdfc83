// Expressions of the interpreter: arithmetic, comparison, logic, conversion and loads.

#include <cmath>
#include <fmt/ranges.h>

#include "hone/ir/interpret_code.h"

namespace hone::ir {

namespace {

std::uint64_t bits(Number n) { return static_cast<std::uint64_t>(n.i); }

/// The value of an integer for messages.
std::string show(DType type, Number n) {
  return type.scalar == Scalar::U64 ? std::to_string(bits(n)) : std::to_string(n.i);
}

void check_divisor(DType type, Number a, Number b) {
  if (b.i == 0)
    throw Stop{error(ErrorCode::InvalidArgument, "division of {} {} by zero, allowed is any other divisor",
                     to_string(type), show(type, a))};
}

bool less(DType type, Number a, Number b) {
  if (type.is_float()) return a.f < b.f;
  return type.scalar == Scalar::U64 ? bits(a) < bits(b) : a.i < b.i;
}

bool equals(DType type, Number a, Number b) { return type.is_float() ? a.f == b.f : a.i == b.i; }

Number subtract(DType type, Number a, Number b) {
  if (type.is_float()) return of_float(rounded(type.scalar, a.f - b.f));
  return of_int(wrapped(type.scalar, static_cast<std::int64_t>(bits(a) - bits(b))));
}

Number divide(DType type, Number a, Number b) {
  if (type.is_float()) return of_float(rounded(type.scalar, a.f / b.f));
  check_divisor(type, a, b);
  if (type.scalar == Scalar::U64) return of_int(static_cast<std::int64_t>(bits(a) / bits(b)));
  if (b.i == -1) return of_int(wrapped(type.scalar, static_cast<std::int64_t>(0 - bits(a))));  // the lowest value wraps
  return of_int(a.i / b.i);
}

Number floor_divide(DType type, Number a, Number b) {
  if (type.is_float()) return of_float(std::floor(rounded(type.scalar, a.f / b.f)));
  const Number quotient = divide(type, a, b);
  const bool was_cut_up = type.is_signed() && b.i != -1 && a.i % b.i != 0 && (a.i < 0) != (b.i < 0);
  return of_int(was_cut_up ? quotient.i - 1 : quotient.i);
}

Number floor_modulo(DType type, Number a, Number b) {
  if (type.is_float()) {
    const double rest = std::fmod(a.f, b.f);
    return of_float(rest != 0 && (rest < 0) != (b.f < 0) ? rounded(type.scalar, rest + b.f) : rest);
  }
  check_divisor(type, a, b);
  if (type.scalar == Scalar::U64) return of_int(static_cast<std::int64_t>(bits(a) % bits(b)));
  if (b.i == -1) return of_int(0);
  const std::int64_t rest = a.i % b.i;
  return of_int(rest != 0 && (rest < 0) != (b.i < 0) ? rest + b.i : rest);
}

/// Code that applies `f(type, a, b)` to the two operands of a node.
template <typename Node, typename F>
Code binary(const Translator& translator, const Expr& e, F f) {
  const Node& node = e.get<Node>();
  return [a = translator.translate(node.a), b = translator.translate(node.b), type = node.a.type().element(), f](
             Frame& frame, int lane) {
    const Number left = a(frame, lane);
    return f(type, left, b(frame, lane));
  };
}

}  // namespace

Number add(DType type, Number a, Number b) {
  if (type.is_float()) return of_float(rounded(type.scalar, a.f + b.f));
  return of_int(wrapped(type.scalar, static_cast<std::int64_t>(bits(a) + bits(b))));
}

Number multiply(DType type, Number a, Number b) {
  if (type.is_float()) return of_float(rounded(type.scalar, a.f * b.f));
  return of_int(wrapped(type.scalar, static_cast<std::int64_t>(bits(a) * bits(b))));
}

Number minimum(DType type, Number a, Number b) {
  if (type.is_float() && std::isnan(b.f)) return b;
  return less(type, b, a) ? b : a;  // a NaN in `a` compares false and stays
}

Number maximum(DType type, Number a, Number b) {
  if (type.is_float() && std::isnan(b.f)) return b;
  return less(type, a, b) ? b : a;
}

std::int64_t element_offset(Frame& frame, const Memory& memory, const std::vector<Code>& indices, int lane,
                            std::string_view access) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const std::int64_t index = indices[axis](frame, lane).i, extent = memory.shape[axis];
    if (index < 0 || index >= extent) [[unlikely]] {
      std::vector<std::int64_t> place;
      for (const Code& code : indices) place.push_back(code(frame, lane).i);
      const std::string allowed = extent == 0 ? "nothing, the axis is empty" : fmt::format("0..{}", extent - 1);
      throw Stop{error(ErrorCode::OutOfBounds, "{} of {}[{}]: index {} of axis {} is out of bounds, allowed is {}",
                       access, memory.name, fmt::join(place, ", "), index, axis, allowed)};
    }
    offset = offset * extent + index;
  }
  return offset;
}

std::vector<Code> Translator::translate_all(const std::vector<Expr>& list) const {
  std::vector<Code> codes;
  for (const Expr& e : list) codes.push_back(translate(e));
  return codes;
}

std::vector<Code> Translator::translate_indices(const Expr& buffer, const std::vector<Expr>& indices) const {
  const std::size_t rank = buffer.get<Buffer>().shape.size();
  if (indices.size() != rank)
    throw Stop{error(ErrorCode::VerifyError, "buffer {} is accessed with {} indices, allowed are {}", name_of(buffer),
                     indices.size(), rank)};
  return translate_all(indices);
}

Code Translator::translate_select(const Expr& e) const {
  const Select& node = e.get<Select>();
  return [condition = translate(node.condition), a = translate(node.a), b = translate(node.b)](Frame& frame, int lane) {
    return condition(frame, lane).i ? a(frame, lane) : b(frame, lane);
  };
}

Code Translator::translate_load(const Expr& e) const {
  const Load& node = e.get<Load>();
  const DType element = node.buffer.type();
  Code load = [place = memory(node.buffer), indices = translate_indices(node.buffer, node.indices), element,
               bytes = element.bytes()](Frame& frame, int lane) {
    const Memory& memory = frame.memories[static_cast<std::size_t>(place)];
    const std::int64_t offset = element_offset(frame, memory, indices, lane, "load");
    if (!memory.written.empty() && !memory.written[static_cast<std::size_t>(offset)]) [[unlikely]] {
      std::vector<std::int64_t> index;
      for (const Code& code : indices) index.push_back(code(frame, lane).i);
      throw Stop{error(ErrorCode::InvalidArgument,
                       "load of {}[{}]: the element was never written, allowed are elements stored before", memory.name,
                       fmt::join(index, ", "))};
    }
    return read_number(element.scalar, memory.data + offset * bytes);
  };
  if (!node.mask) return load;
  const Number zero = element.is_float() ? of_float(0) : of_int(0);
  return [mask = translate(node.mask), load = std::move(load), zero](Frame& frame, int lane) {
    return mask(frame, lane).i ? load(frame, lane) : zero;
  };
}

Code Translator::translate(const Expr& e) const {
  const DType type = e.type();
  switch (e.kind()) {
    case Kind::IntImm:
      return [value = of_int(e.get<IntImm>().value)](Frame&, int) { return value; };
    case Kind::FloatImm:
      return [value = of_float(e.get<FloatImm>().value)](Frame&, int) { return value; };
    case Kind::Var:
      if (type.is_vector())
        return
            [slot = variable(e)](Frame& frame, int lane) { return frame.slots[static_cast<std::size_t>(slot + lane)]; };
      return [slot = static_cast<std::size_t>(variable(e))](Frame& frame, int) { return frame.slots[slot]; };
    case Kind::Add:
      return binary<Add>(*this, e, add);
    case Kind::Sub:
      return binary<Sub>(*this, e, subtract);
    case Kind::Mul:
      return binary<Mul>(*this, e, multiply);
    case Kind::Div:
      return binary<Div>(*this, e, divide);
    case Kind::FloorDiv:
      return binary<FloorDiv>(*this, e, floor_divide);
    case Kind::FloorMod:
      return binary<FloorMod>(*this, e, floor_modulo);
    case Kind::Min:
      return binary<Min>(*this, e, minimum);
    case Kind::Max:
      return binary<Max>(*this, e, maximum);
    case Kind::Eq:
      return binary<Eq>(*this, e, [](DType t, Number a, Number b) { return of_int(equals(t, a, b)); });
    case Kind::Ne:
      return binary<Ne>(*this, e, [](DType t, Number a, Number b) { return of_int(!equals(t, a, b)); });
    case Kind::Lt:
      return binary<Lt>(*this, e, [](DType t, Number a, Number b) { return of_int(less(t, a, b)); });
    case Kind::Le:
      return binary<Le>(*this, e, [](DType t, Number a, Number b) { return of_int(less(t, a, b) || equals(t, a, b)); });
    case Kind::And:
      return [a = translate(e.get<And>().a), b = translate(e.get<And>().b)](Frame& frame, int lane) {
        return of_int(a(frame, lane).i && b(frame, lane).i);
      };
    case Kind::Or:
      return [a = translate(e.get<Or>().a), b = translate(e.get<Or>().b)](Frame& frame, int lane) {
        return of_int(a(frame, lane).i || b(frame, lane).i);
      };
    case Kind::Not:
      return [a = translate(e.get<Not>().a)](Frame& frame, int lane) { return of_int(!a(frame, lane).i); };
    case Kind::Select:
      return translate_select(e);
    case Kind::Cast:
      return [value = translate(e.get<Cast>().value), from = e.get<Cast>().value.type().element(), to = type.element()](
                 Frame& frame, int lane) { return convert(value(frame, lane), from, to); };
    case Kind::Load:
      return translate_load(e);
    case Kind::Call:
      return translate_call(e);
    case Kind::Ramp:
      return [base = translate(e.get<Ramp>().base), stride = translate(e.get<Ramp>().stride), type = type.element()](
                 Frame& frame, int lane) {
        const Number steps = type.is_float() ? of_float(lane) : of_int(lane);
        return add(type, base(frame, 0), multiply(type, stride(frame, 0), steps));
      };
    case Kind::Broadcast:
      return [value = translate(e.get<Broadcast>().value)](Frame& frame, int) { return value(frame, 0); };
    default:
      break;
  }
  HONE_CHECK(false, "{} is not a value", to_string(e.kind()));
  return {};
}

}  // namespace hone::ir
