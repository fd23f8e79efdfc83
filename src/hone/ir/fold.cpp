#include "hone/ir/fold.h"

#include <cmath>
#include <limits>

#include "hone/ir/binary.h"
#include "hone/ir/value.h"

namespace hone::ir {

namespace {

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Whether a < b for two values of an integer type.
bool is_less(DType type, std::int64_t a, std::int64_t b) { return type.is_unsigned() ? bits(a) < bits(b) : a < b; }

/// Division of integers; nothing for a divisor of zero.
std::optional<std::int64_t> fold_division(Kind kind, DType type, std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (type.is_unsigned()) return number(kind == Kind::FloorMod ? bits(a) % bits(b) : bits(a) / bits(b));
  if (b == -1) return kind == Kind::FloorMod ? 0 : number(-bits(a));  // the smallest value has no positive twin
  const std::int64_t rest = a % b;
  const bool is_below = rest != 0 && (rest < 0) != (b < 0);
  if (kind == Kind::FloorMod) return is_below ? rest + b : rest;
  return kind == Kind::FloorDiv && is_below ? a / b - 1 : a / b;
}

/// Exact in double and rounded once more by the caller: the same as rounding directly, for every type up to f32.
std::optional<double> fold_floats(Kind kind, double a, double b) {
  const bool has_nan = std::isnan(a) || std::isnan(b);
  switch (kind) {
    case Kind::Add:
      return a + b;
    case Kind::Sub:
      return a - b;
    case Kind::Mul:
      return a * b;
    case Kind::Div:
      return a / b;
    case Kind::Min:
    case Kind::Max:
      if (has_nan) return std::numeric_limits<double>::quiet_NaN();
      if (a == b) return std::nullopt;  // zeros of both signs: left to whoever runs it
      return (kind == Kind::Min) == (a < b) ? a : b;
    default:
      return std::nullopt;
  }
}

std::optional<bool> compare_floats(Kind kind, double a, double b) {
  switch (kind) {
    case Kind::Eq:
      return a == b;
    case Kind::Ne:
      return a != b;
    case Kind::Lt:
      return a < b;
    case Kind::Le:
      return a <= b;
    default:
      return std::nullopt;
  }
}

Expr fold_binary(const Expr& e, const Operands& operands) {
  const Expr a = scalar_constant(*operands.a), b = scalar_constant(*operands.b);
  if (!a || !b) return {};
  if (const IntImm *x = a.as<IntImm>(), *y = b.as<IntImm>(); x && y) {
    const auto value = fold_ints(e.kind(), a.type(), x->value, y->value);
    return value ? constant(e.type(), *value) : Expr{};
  }
  const FloatImm *x = a.as<FloatImm>(), *y = b.as<FloatImm>();
  if (!x || !y) return {};
  if (const auto truth = compare_floats(e.kind(), x->value, y->value)) return constant(e.type(), std::int64_t{*truth});
  const auto value = fold_floats(e.kind(), x->value, y->value);
  return value ? constant(e.type(), *value) : Expr{};
}

Expr fold_cast(const Expr& e) {
  const Expr from = scalar_constant(e.get<Cast>().value);
  if (!from) return {};
  const DType to = e.type().element();
  const IntImm* integer = from.as<IntImm>();
  const Number value = integer ? of_int(integer->value) : of_float(from.get<FloatImm>().value);
  const Number converted = convert(value, from.type(), to);
  return to.is_float() ? constant(e.type(), converted.f) : constant(e.type(), converted.i);
}

Expr fold_select(const Expr& e) {
  const Select& node = e.get<Select>();
  const auto condition = int_constant(node.condition);
  if (!condition) return {};
  return *condition ? node.a : node.b;
}

}  // namespace

std::optional<std::int64_t> fold_ints(Kind kind, DType type, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case Kind::Add:
      return number(bits(a) + bits(b));
    case Kind::Sub:
      return number(bits(a) - bits(b));
    case Kind::Mul:
      return number(bits(a) * bits(b));
    case Kind::Div:
    case Kind::FloorDiv:
    case Kind::FloorMod:
      return fold_division(kind, type, a, b);
    case Kind::Min:
      return is_less(type, b, a) ? b : a;
    case Kind::Max:
      return is_less(type, a, b) ? b : a;
    case Kind::Eq:
      return a == b;
    case Kind::Ne:
      return a != b;
    case Kind::Lt:
      return is_less(type, a, b);
    case Kind::Le:
      return !is_less(type, b, a);
    case Kind::And:
      return a != 0 && b != 0;
    case Kind::Or:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
  }
}

Expr scalar_constant(const Expr& e) {
  if (e.kind() == Kind::IntImm || e.kind() == Kind::FloatImm) return e;
  if (const Broadcast* node = e.as<Broadcast>()) return scalar_constant(node->value);
  return {};
}

std::optional<std::int64_t> int_constant(const Expr& e) {
  if (const Broadcast* node = e.as<Broadcast>()) return as_int(node->value);
  return as_int(e);
}

Expr fold_constants(const Expr& e) {
  if (const Operands operands = operands_of(e)) return fold_binary(e, operands);
  switch (e.kind()) {
    case Kind::Not: {
      const auto value = int_constant(e.get<Not>().a);
      return value ? constant(e.type(), std::int64_t{*value == 0}) : Expr{};
    }
    case Kind::Select:
      return fold_select(e);
    case Kind::Cast:
      return fold_cast(e);
    default:
      return {};
  }
}

}  // namespace hone::ir
