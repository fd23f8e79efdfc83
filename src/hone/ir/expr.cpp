#include "hone/ir/expr.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::ir {

namespace {

template <typename Node>
Expr box(Node node, DType type) {
  return Expr(new Box<Node>(std::move(node), type));
}

template <typename Node>
Expr box_binary(Node node) {
  HONE_CHECK(node.a && node.b, "{} has a missing operand", to_string(kind_of<Node>));
  HONE_CHECK(node.a.type() == node.b.type(), "{} of {} and {}", to_string(kind_of<Node>), to_string(node.a.type()),
             to_string(node.b.type()));
  const DType type = node.a.type();
  return box(std::move(node), type);
}

template <typename Node>
Expr box_comparison(Node node) {
  HONE_CHECK(node.a.type() == node.b.type(), "{} of {} and {}", to_string(kind_of<Node>), to_string(node.a.type()),
             to_string(node.b.type()));
  const DType type = kBool.with_lanes(node.a.type().lanes);
  return box(std::move(node), type);
}

template <typename Node>
Expr box_logic(Node node) {
  HONE_CHECK(node.a.type().is_bool() && node.a.type() == node.b.type(), "{} of {} and {}", to_string(kind_of<Node>),
             to_string(node.a.type()), to_string(node.b.type()));
  const DType type = node.a.type();
  return box(std::move(node), type);
}

}  // namespace

std::string_view to_string(Intrinsic function) {
  switch (function) {
#define HONE_NAME(name, text, arity) \
  case Intrinsic::name:              \
    return text;
    HONE_INTRINSICS(HONE_NAME)
#undef HONE_NAME
  }
  return "unknown";
}

int arity(Intrinsic function) {
  switch (function) {
#define HONE_ARITY(name, text, arity) \
  case Intrinsic::name:               \
    return arity;
    HONE_INTRINSICS(HONE_ARITY)
#undef HONE_ARITY
  }
  return 0;
}

std::optional<Intrinsic> find_intrinsic(std::string_view name) {
#define HONE_FIND(enumerator, text, arity) \
  if (name == text) return Intrinsic::enumerator;
  HONE_INTRINSICS(HONE_FIND)
#undef HONE_FIND
  return std::nullopt;
}

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::Global:
      return "global";
    case Scope::Shared:
      return "shared";
    case Scope::Local:
      return "local";
    case Scope::Register:
      return "register";
  }
  return "unknown";
}

std::optional<Scope> find_scope(std::string_view name) {
  for (const Scope scope : {Scope::Global, Scope::Shared, Scope::Local, Scope::Register})
    if (to_string(scope) == name) return scope;
  return std::nullopt;
}

Expr make(Add node) { return box_binary(std::move(node)); }
Expr make(Sub node) { return box_binary(std::move(node)); }
Expr make(Mul node) { return box_binary(std::move(node)); }
Expr make(Div node) { return box_binary(std::move(node)); }
Expr make(FloorDiv node) { return box_binary(std::move(node)); }
Expr make(FloorMod node) { return box_binary(std::move(node)); }
Expr make(Min node) { return box_binary(std::move(node)); }
Expr make(Max node) { return box_binary(std::move(node)); }
Expr make(Eq node) { return box_comparison(std::move(node)); }
Expr make(Ne node) { return box_comparison(std::move(node)); }
Expr make(Lt node) { return box_comparison(std::move(node)); }
Expr make(Le node) { return box_comparison(std::move(node)); }
Expr make(And node) { return box_logic(std::move(node)); }
Expr make(Or node) { return box_logic(std::move(node)); }

Expr make(Not node) {
  HONE_CHECK(node.a.type().is_bool(), "Not of {}", to_string(node.a.type()));
  const DType type = node.a.type();
  return box(std::move(node), type);
}

Expr make(Select node) {
  HONE_CHECK(node.condition.type().is_bool(), "Select on {}", to_string(node.condition.type()));
  HONE_CHECK(node.a.type() == node.b.type(), "Select of {} and {}", to_string(node.a.type()), to_string(node.b.type()));
  HONE_CHECK(node.condition.type().lanes == 1 || node.condition.type().lanes == node.a.type().lanes,
             "Select of {} on {}", to_string(node.a.type()), to_string(node.condition.type()));
  const DType type = node.a.type();
  return box(std::move(node), type);
}

Expr make(Load node) {
  HONE_CHECK(node.buffer.as<Buffer>(), "Load from something that is not a buffer");
  int lanes = 1;
  for (const Expr& index : node.indices) lanes = std::max<int>(lanes, index.type().lanes);
  const DType type = node.buffer.type().with_lanes(lanes);
  return box(std::move(node), type);
}

Expr make(IntImm node, DType type) {
  HONE_CHECK(type.is_integer() || type.is_bool(), "integer constant of type {}", to_string(type));
  return box(node, type);
}

Expr make(FloatImm node, DType type) {
  HONE_CHECK(type.is_float(), "floating constant of type {}", to_string(type));
  return box(node, type);
}

Expr make(Var node, DType type) { return box(std::move(node), type); }
Expr make(Buffer node, DType element) { return box(std::move(node), element); }
Expr make(Cast node, DType type) { return box(std::move(node), type); }
Expr make(Call node, DType type) { return box(std::move(node), type); }

Expr make(Ramp node, int lanes) {
  HONE_CHECK(node.base.type() == node.stride.type() && !node.base.type().is_vector(), "Ramp of {} by {}",
             to_string(node.base.type()), to_string(node.stride.type()));
  const DType type = node.base.type().with_lanes(lanes);
  return box(std::move(node), type);
}

Expr make(Broadcast node, int lanes) {
  HONE_CHECK(!node.value.type().is_vector(), "Broadcast of {}", to_string(node.value.type()));
  const DType type = node.value.type().with_lanes(lanes);
  return box(std::move(node), type);
}

Expr imm(std::int64_t value) { return make(IntImm{value}, kIndex); }

Expr constant(DType type, std::int64_t value) {
  if (type.is_float()) return constant(type, static_cast<double>(value));
  const Expr scalar = make(IntImm{wrap_to(type.element(), value)}, type.element());
  return type.is_vector() ? make(Broadcast{scalar}, type.lanes) : scalar;
}

Expr constant(DType type, double value) {
  const Expr scalar = make(FloatImm{round_to(type.element(), value)}, type.element());
  return type.is_vector() ? make(Broadcast{scalar}, type.lanes) : scalar;
}

Expr boolean(bool value) { return make(IntImm{value}, kBool); }
Expr var(std::string name, DType type) { return make(Var{std::move(name)}, type); }

Expr buffer(std::string name, DType element, std::vector<Expr> shape, Scope scope) {
  return make(Buffer{.name = std::move(name), .shape = std::move(shape), .scope = scope}, element);
}

Expr buffer(std::string name, DType element, const std::vector<std::int64_t>& shape, Scope scope) {
  std::vector<Expr> extents;
  for (const std::int64_t extent : shape) extents.push_back(imm(extent));
  return buffer(std::move(name), element, std::move(extents), scope);
}

Expr operator+(const Expr& a, const Expr& b) { return make(Add{a, b}); }
Expr operator-(const Expr& a, const Expr& b) { return make(Sub{a, b}); }
Expr operator*(const Expr& a, const Expr& b) { return make(Mul{a, b}); }
Expr operator/(const Expr& a, const Expr& b) { return make(Div{a, b}); }
Expr operator-(const Expr& a) { return make(Sub{constant(a.type(), std::int64_t{0}), a}); }
Expr operator<(const Expr& a, const Expr& b) { return make(Lt{a, b}); }
Expr operator<=(const Expr& a, const Expr& b) { return make(Le{a, b}); }
Expr operator>(const Expr& a, const Expr& b) { return make(Lt{b, a}); }
Expr operator>=(const Expr& a, const Expr& b) { return make(Le{b, a}); }
Expr logical_and(const Expr& a, const Expr& b) { return make(And{a, b}); }
Expr logical_or(const Expr& a, const Expr& b) { return make(Or{a, b}); }
Expr logical_not(const Expr& a) { return make(Not{a}); }
Expr floor_div(const Expr& a, const Expr& b) { return make(FloorDiv{a, b}); }
Expr floor_mod(const Expr& a, const Expr& b) { return make(FloorMod{a, b}); }
Expr min(const Expr& a, const Expr& b) { return make(Min{a, b}); }
Expr max(const Expr& a, const Expr& b) { return make(Max{a, b}); }
Expr eq(const Expr& a, const Expr& b) { return make(Eq{a, b}); }
Expr ne(const Expr& a, const Expr& b) { return make(Ne{a, b}); }
Expr select(const Expr& condition, const Expr& a, const Expr& b) { return make(Select{condition, a, b}); }
Expr cast(DType type, const Expr& value) { return value.type() == type ? value : make(Cast{value}, type); }
Expr load(const Expr& buffer, std::vector<Expr> indices) { return make(Load{buffer, std::move(indices)}); }

Expr call(Intrinsic function, std::vector<Expr> args) {
  HONE_CHECK(static_cast<int>(args.size()) == arity(function), "{} called with {} arguments", to_string(function),
             args.size());
  DType type = args[0].type();
  switch (function) {
    case Intrinsic::IsNan:
    case Intrinsic::IsInf:
      type = kBool.with_lanes(type.lanes);
      break;
    case Intrinsic::ReduceAdd:
    case Intrinsic::ReduceMul:
    case Intrinsic::ReduceMin:
    case Intrinsic::ReduceMax:
      type = type.element();
      break;
    case Intrinsic::Prefetch:
    case Intrinsic::PrefetchL2:
      type = kVoid;
      break;
    case Intrinsic::Bitcast:
      HONE_CHECK(false, "a bitcast needs its type: use make(Call{{...}}, type)");
      break;
    default:
      break;
  }
  return make(Call{function, std::move(args)}, type);
}

Expr operator+(const Expr& a, std::int64_t b) { return a + constant(a.type(), b); }
Expr operator-(const Expr& a, std::int64_t b) { return a - constant(a.type(), b); }
Expr operator*(const Expr& a, std::int64_t b) { return a * constant(a.type(), b); }
Expr operator<(const Expr& a, std::int64_t b) { return a < constant(a.type(), b); }
Expr operator<=(const Expr& a, std::int64_t b) { return a <= constant(a.type(), b); }
Expr operator>=(const Expr& a, std::int64_t b) { return a >= constant(a.type(), b); }
Expr floor_div(const Expr& a, std::int64_t b) { return floor_div(a, constant(a.type(), b)); }
Expr floor_mod(const Expr& a, std::int64_t b) { return floor_mod(a, constant(a.type(), b)); }
Expr eq(const Expr& a, std::int64_t b) { return eq(a, constant(a.type(), b)); }

std::optional<std::int64_t> as_int(const Expr& e) {
  const IntImm* node = e.as<IntImm>();
  return node ? std::optional(node->value) : std::nullopt;
}

std::int64_t constant_value(const Expr& e) { return e.get<IntImm>().value; }

bool is_int(const Expr& e, std::int64_t value) {
  const IntImm* node = e.as<IntImm>();
  return node && node->value == value;
}

const std::string& name_of(const Expr& e) {
  if (const Var* node = e.as<Var>()) return node->name;
  return e.get<Buffer>().name;
}

double round_to(DType type, double value) {
  switch (type.scalar) {
    case Scalar::F64:
      return value;
    case Scalar::F32:
      return static_cast<float>(value);
    case Scalar::F16: {
      // Rounding at the eleventh significant bit; below 2^-14 the step stays 2^-24.
      if (!std::isfinite(value) || value == 0) return value;
      const int exponent = std::max(std::ilogb(value), -14);
      const double step = std::ldexp(1.0, exponent - 10);
      const double rounded = std::nearbyint(value / step) * step;
      return std::abs(rounded) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
    }
    case Scalar::BF16: {
      if (!std::isfinite(value) || value == 0) return value;
      const int exponent = std::max(std::ilogb(value), -126);
      const double step = std::ldexp(1.0, exponent - 7);
      const double rounded = std::nearbyint(value / step) * step;
      return std::abs(rounded) >= 0x1.0p128 ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
    }
    default:
      break;
  }
  HONE_CHECK(false, "rounding to {}", to_string(type));
  return value;
}

std::int64_t wrap_to(DType type, std::int64_t value) {
  if (type.is_bool()) return value != 0;
  const int unused = 64 - type.bits();
  const std::uint64_t shifted = static_cast<std::uint64_t>(value) << unused;
  return type.is_signed() ? static_cast<std::int64_t>(shifted) >> unused : static_cast<std::int64_t>(shifted >> unused);
}

}  // namespace hone::ir
