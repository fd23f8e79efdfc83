#include "hone/ir/order.h"

#include <bit>

#include "hone/ir/binary.h"

namespace hone::ir {

namespace {

template <typename T>
Order compare_values(const T& a, const T& b) {
  if (a < b) return Order::Before;
  return b < a ? Order::After : Order::Same;
}

/// The first comparison that decides, else the second.
template <typename Second>
Order then(Order first, Second second) {
  if (first == Order::Before || first == Order::After) return first;
  const Order other = second();
  return other == Order::Same ? first : other;
}

Order compare_optional(const Expr& a, const Expr& b) {
  if (a && b) return compare(a, b);
  return compare_values(static_cast<bool>(a), static_cast<bool>(b));
}

Order compare_names(const Expr& a, const Expr& b) {
  const Order order = compare_values(name_of(a), name_of(b));
  return order == Order::Same ? Order::Alike : order;
}

Order compare_lists(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  Order order = compare_values(a.size(), b.size());
  if (order != Order::Same) return order;
  for (std::size_t i = 0; i < a.size(); ++i) order = then(order, [&] { return compare(a[i], b[i]); });
  return order;
}

Order compare_loads(const Load& a, const Load& b) {
  const Order order = then(compare(a.buffer, b.buffer), [&] { return compare_lists(a.indices, b.indices); });
  return then(order, [&] { return compare_optional(a.mask, b.mask); });
}

Order compare_fields(const Expr& a, const Expr& b) {
  if (const Operands x = operands_of(a), y = operands_of(b); x)
    return then(compare(*x.a, *y.a), [&] { return compare(*x.b, *y.b); });
  switch (a.kind()) {
    case Kind::IntImm:
      return compare_values(a.get<IntImm>().value, b.get<IntImm>().value);
    case Kind::FloatImm:
      return compare_values(std::bit_cast<std::uint64_t>(a.get<FloatImm>().value),
                            std::bit_cast<std::uint64_t>(b.get<FloatImm>().value));
    case Kind::Var:
    case Kind::Buffer:
      return compare_names(a, b);
    case Kind::Not:
      return compare(a.get<Not>().a, b.get<Not>().a);
    case Kind::Select: {
      const Select &x = a.get<Select>(), &y = b.get<Select>();
      const Order order = then(compare(x.condition, y.condition), [&] { return compare(x.a, y.a); });
      return then(order, [&] { return compare(x.b, y.b); });
    }
    case Kind::Cast:
      return compare(a.get<Cast>().value, b.get<Cast>().value);
    case Kind::Load:
      return compare_loads(a.get<Load>(), b.get<Load>());
    case Kind::Call: {
      const Call &x = a.get<Call>(), &y = b.get<Call>();
      return then(compare_values(x.function, y.function), [&] { return compare_lists(x.args, y.args); });
    }
    case Kind::Ramp: {
      const Ramp &x = a.get<Ramp>(), &y = b.get<Ramp>();
      return then(compare(x.base, y.base), [&] { return compare(x.stride, y.stride); });
    }
    case Kind::Broadcast:
      return compare(a.get<Broadcast>().value, b.get<Broadcast>().value);
    default:
      break;
  }
  HONE_CHECK(false, "{} is not an expression", to_string(a.kind()));
  return Order::Same;
}

}  // namespace

Order compare(const Expr& a, const Expr& b) {
  if (a.is(b)) return Order::Same;
  if (a.kind() != b.kind()) return compare_values(a.kind(), b.kind());
  const DType x = a.type(), y = b.type();
  if (x != y) return then(compare_values(x.scalar, y.scalar), [&] { return compare_values(x.lanes, y.lanes); });
  return compare_fields(a, b);
}

}  // namespace hone::ir
