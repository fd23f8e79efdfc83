#include "hone/ir/binary.h"

namespace hone::ir {

/// Every node with two operands.
#define HONE_BINARY_KINDS(X) \
  X(Add) X(Sub) X(Mul) X(Div) X(FloorDiv) X(FloorMod) X(Min) X(Max) X(Eq) X(Ne) X(Lt) X(Le) X(And) X(Or)

Operands operands_of(const Expr& e) {
  switch (e.kind()) {
#define HONE_OPERANDS(name)          \
  case Kind::name: {                 \
    const name* node = e.as<name>(); \
    return {&node->a, &node->b};     \
  }
    HONE_BINARY_KINDS(HONE_OPERANDS)
#undef HONE_OPERANDS
    default:
      return {};
  }
}

Expr make_binary(Kind kind, Expr a, Expr b) {
  switch (kind) {
#define HONE_MAKE(name) \
  case Kind::name:      \
    return make(name{std::move(a), std::move(b)});
    HONE_BINARY_KINDS(HONE_MAKE)
#undef HONE_MAKE
    default:
      break;
  }
  HONE_CHECK(false, "{} does not have two operands", to_string(kind));
  return {};
}

bool is_commutative(Kind kind) {
  switch (kind) {
    case Kind::Add:
    case Kind::Mul:
    case Kind::Min:
    case Kind::Max:
    case Kind::Eq:
    case Kind::Ne:
    case Kind::And:
    case Kind::Or:
      return true;
    default:
      return false;
  }
}

}  // namespace hone::ir
