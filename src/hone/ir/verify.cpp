#include "hone/ir/verify.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <unordered_set>

#include "hone/ir/lexer.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"
#include "hone/ir/typing.h"

namespace hone::ir {

namespace {

template <typename... Args>
Error broken(std::type_identity_t<FormatHere<Args...>> format, Args&&... args) {
  return error<Args...>(ErrorCode::VerifyError, format, std::forward<Args>(args)...);
}

/// The beginning of an expression's text, for messages.
std::string excerpt(const Expr& e) {
  constexpr std::size_t kMost = 80;
  std::string text = to_text(e);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

/// Walks one function with the names in scope.
class Verifier {
 public:
  explicit Verifier(Names names) : names_(names) {}

  Result<void> function(const Function& f);

 private:
  Result<void> define(std::string_view what, const Expr& e);
  void leave(std::size_t count = 1) { in_scope_.resize(in_scope_.size() - count); }
  Result<void> use(const Expr& e) const;
  Result<void> unique(std::string_view what, const std::string& name, std::set<std::string_view>& seen);

  Result<void> expr(const Expr& e);
  Result<void> children(const Expr& e);
  Result<DType> type(const Expr& e) const;
  [[gnu::noinline]] Result<void> own(const Expr& e) const;  // inlined, it would make expr()'s frame large
  Result<DType> constant(const Expr& e) const;
  template <typename Node>
  Result<DType> binary(const Expr& e) const;
  Result<DType> access(const Expr& buffer, const std::vector<Expr>& indices, const Expr& mask);
  Result<void> index(std::string_view what, const Expr& e);
  Result<void> condition(std::string_view what, const Expr& e);

  Result<void> annotations(std::string_view what, std::string_view name, const Annotations& list) const;
  Result<void> extent(std::string_view what, const Expr& e);
  Result<void> buffer(const Expr& e);
  Result<void> sizes(const Function& f);
  Result<void> stmt(const Stmt& s);
  Result<void> single(const Stmt& s);
  Result<void> loop(const For& node);
  Result<void> block(const Block& node);
  Result<void> store(const Store& node);
  Result<void> branch(const If& node);
  Result<void> allocate(const Allocate& node);
  Result<void> let(const Let& node);

  Names names_;
  std::vector<Expr> in_scope_;  ///< variables and buffers, innermost last
  std::set<std::string_view> loops_, blocks_, buffers_;
  std::unordered_set<const void*> defined_;
};

/// Brings a variable or buffer into scope.
Result<void> Verifier::define(std::string_view what, const Expr& e) {
  const std::string& name = name_of(e);
  for (const Expr& other : in_scope_)
    if (other.kind() == e.kind() && name_of(other) == name)
      return broken("{} '{}' has the name of another that is in scope, allowed is a name of its own", what, name);
  if (names_ == Names::Unique && !defined_.insert(e.id()).second)
    return broken("{} '{}' is defined twice, allowed is once", what, name);
  in_scope_.push_back(e);
  return {};
}

Result<void> Verifier::use(const Expr& e) const {
  for (auto known = in_scope_.rbegin(); known != in_scope_.rend(); ++known)
    if (known->is(e)) return {};
  return broken("{} '{}' is used outside of its scope", e.as<Var>() ? "variable" : "buffer", name_of(e));
}

Result<void> Verifier::unique(std::string_view what, const std::string& name, std::set<std::string_view>& seen) {
  if (names_ == Names::Unique && !seen.insert(name).second)
    return broken("two {}s have the name '{}', allowed is one", what, name);
  return {};
}

Result<DType> Verifier::constant(const Expr& e) const {
  const DType type = e.type();
  if (type.is_vector()) return broken("constant of {}, allowed is a Broadcast of a scalar constant", to_string(type));
  if (const FloatImm* node = e.as<FloatImm>()) {
    if (!std::isnan(node->value) && round_to(type, node->value) != node->value)
      return broken("constant {} is not a value of {}", node->value, to_string(type));
    return type;
  }
  const std::int64_t value = e.get<IntImm>().value;
  if (type.bits() != 64 && (value < min_value(type) || value > max_value(type)))
    return broken("constant {} of {} is outside {}..{}", value, to_string(type), min_value(type), max_value(type));
  if (type.is_bool() && value > 1) return broken("constant {} of bool is outside 0..1", value);
  return type;
}

template <typename Node>
Result<DType> Verifier::binary(const Expr& e) const {
  return type_of_binary(e.kind(), e.get<Node>().a.type(), e.get<Node>().b.type());
}

Result<DType> Verifier::access(const Expr& buffer, const std::vector<Expr>& indices, const Expr& mask) {
  if (!buffer.as<Buffer>()) return broken("an access names no buffer");
  HONE_TRY(use(buffer));
  for (const Expr& e : indices) HONE_TRY(expr(e));
  if (mask) HONE_TRY(expr(mask));
  return type_of_access(buffer, indices, mask);
}

/// Checks what is below a node. Only this and expr() are on the stack once per level, so that deep programs fit.
Result<void> Verifier::children(const Expr& e) {
  Result<void> result;
  bool is_buffer = e.kind() == Kind::Load;  // a Load's first child
  for_each_child(e, [&](const Expr& child) {
    if (result) result = is_buffer ? use(child) : expr(child);
    is_buffer = false;
  });
  return result;
}

/// The type a node should have, by those of its children.
Result<DType> Verifier::type(const Expr& e) const {
  switch (e.kind()) {
    case Kind::IntImm:
    case Kind::FloatImm:
      return constant(e);
    case Kind::Var:
      HONE_TRY(use(e));
      return e.type();
    case Kind::Buffer:
      return broken("buffer '{}' stands as a value, allowed is a Load of it", name_of(e));
    case Kind::Add:
      return binary<Add>(e);
    case Kind::Sub:
      return binary<Sub>(e);
    case Kind::Mul:
      return binary<Mul>(e);
    case Kind::Div:
      return binary<Div>(e);
    case Kind::FloorDiv:
      return binary<FloorDiv>(e);
    case Kind::FloorMod:
      return binary<FloorMod>(e);
    case Kind::Min:
      return binary<Min>(e);
    case Kind::Max:
      return binary<Max>(e);
    case Kind::Eq:
      return binary<Eq>(e);
    case Kind::Ne:
      return binary<Ne>(e);
    case Kind::Lt:
      return binary<Lt>(e);
    case Kind::Le:
      return binary<Le>(e);
    case Kind::And:
      return binary<And>(e);
    case Kind::Or:
      return binary<Or>(e);
    case Kind::Not:
      return type_of_not(e.get<Not>().a.type());
    case Kind::Select: {
      const Select& node = e.get<Select>();
      return type_of_select(node.condition.type(), node.a.type(), node.b.type());
    }
    case Kind::Cast:
      return type_of_cast(e.type(), e.get<Cast>().value.type());
    case Kind::Load:
      return type_of_access(e.get<Load>().buffer, e.get<Load>().indices, e.get<Load>().mask);
    case Kind::Call:
      return type_of_call(e.get<Call>().function, e.get<Call>().args, e.type());
    case Kind::Ramp:
      return type_of_ramp(e.get<Ramp>().base.type(), e.get<Ramp>().stride.type(), e.type().lanes);
    case Kind::Broadcast:
      return type_of_broadcast(e.get<Broadcast>().value.type(), e.type().lanes);
    case Kind::For:
    case Kind::Block:
    case Kind::Store:
    case Kind::If:
    case Kind::Seq:
    case Kind::Allocate:
    case Kind::Let:
    case Kind::Evaluate:
    case Kind::Barrier:
      break;
  }
  HONE_CHECK(false, "{} is not an expression", to_string(e.kind()));
  return kVoid;
}

/// Checks a node whose children are right.
Result<void> Verifier::own(const Expr& e) const {
  const Result<DType> found = type(e);
  if (!found && found.error().code == ErrorCode::VerifyError) return found.error();
  if (!found) return broken("{} in '{}'", found.error().message, excerpt(e));
  if (*found != e.type())
    return broken("'{}' has type {}, allowed is {}", excerpt(e), to_string(e.type()), to_string(*found));
  return {};
}

Result<void> Verifier::expr(const Expr& e) {
  if (!e) return broken("an operand is missing");
  Result<void> result = children(e);
  return result ? own(e) : result;
}

Result<void> Verifier::index(std::string_view what, const Expr& e) {
  if (!e) return broken("{} is missing", what);
  HONE_TRY(expr(e));
  if (e.type() != kIndex)
    return broken("{} '{}' has type {}, allowed is {}", what, excerpt(e), to_string(e.type()), to_string(kIndex));
  return {};
}

Result<void> Verifier::condition(std::string_view what, const Expr& e) {
  if (!e) return broken("{} is missing", what);
  HONE_TRY(expr(e));
  if (e.type() != kBool) return broken("{} '{}' has type {}, allowed is bool", what, excerpt(e), to_string(e.type()));
  return {};
}

Result<void> Verifier::annotations(std::string_view what, std::string_view name, const Annotations& list) const {
  for (std::size_t i = 1; i < list.size(); ++i)
    if (list[i - 1].key >= list[i].key)
      return broken("annotation '{}' of {} '{}' stands after '{}', allowed is ascending order, one entry a key",
                    list[i].key, what, name, list[i - 1].key);
  return {};
}

/// An extent of a loop, an iteration variable or a buffer.
Result<void> Verifier::extent(std::string_view what, const Expr& e) {
  HONE_TRY(index(what, e));
  if (const auto value = as_int(e); value && *value < 0)
    return broken("{} is {}, allowed are 0 and more", what, *value);
  return {};
}

Result<void> Verifier::buffer(const Expr& e) {
  if (!e.as<Buffer>()) return broken("a {} stands where a buffer is defined", e ? to_string(e.kind()) : "null");
  const Buffer& node = e.get<Buffer>();
  if (e.type().is_vector() || e.type() == kVoid)
    return broken("buffer '{}' has elements of {}, allowed is a scalar type", node.name, to_string(e.type()));
  HONE_TRY(unique("buffer", node.name, buffers_));
  const std::string what = "extent of buffer '" + node.name + "'";
  for (const Expr& size : node.shape) HONE_TRY(extent(what, size));
  for (const StorageAlign& align : node.alignments) {
    if (align.axis < 0 || align.axis >= static_cast<int>(node.shape.size()))
      return broken("buffer '{}' aligns axis {}, allowed are 0..{}", node.name, align.axis,
                    static_cast<int>(node.shape.size()) - 1);
    if (align.factor < 1 || align.offset < 0 || align.offset >= align.factor)
      return broken("buffer '{}' aligns axis {} to {} + {}, allowed are factors from 1 and offsets below the factor",
                    node.name, align.axis, align.factor, align.offset);
  }
  return {};
}

Result<void> Verifier::loop(const For& node) {
  if (!node.var.as<Var>()) return broken("a loop has no variable");
  const std::string& name = name_of(node.var);
  if (node.var.type() != kIndex)
    return broken("loop '{}' has a variable of {}, allowed is {}", name, to_string(node.var.type()), to_string(kIndex));
  HONE_TRY(extent("extent of loop '" + name + "'", node.extent));
  HONE_TRY(unique("loop", name, loops_));
  HONE_TRY(annotations("loop", name, node.annotations));
  HONE_TRY(define("loop", node.var));
  HONE_TRY(stmt(node.body));
  leave();
  return {};
}

Result<void> Verifier::block(const Block& node) {
  HONE_TRY(unique("block", node.name, blocks_));
  HONE_TRY(annotations("block", node.name, node.annotations));
  for (const Iter& iter : node.iters) {
    if (!iter.var.as<Var>()) return broken("block '{}' has an iteration without a variable", node.name);
    const std::string what = "iteration '" + name_of(iter.var) + "' of block '" + node.name + "'";
    if (iter.var.type() != kIndex)
      return broken("{} has a variable of {}, allowed is {}", what, to_string(iter.var.type()), to_string(kIndex));
    HONE_TRY(extent("extent of " + what, iter.extent));
    HONE_TRY(index("binding of " + what, iter.binding));
  }
  if (node.predicate) HONE_TRY(condition("predicate of block '" + node.name + "'", node.predicate));
  for (const Iter& iter : node.iters) HONE_TRY(define("iteration", iter.var));
  if (node.init) HONE_TRY(stmt(node.init));
  HONE_TRY(stmt(node.body));
  leave(node.iters.size());
  return {};
}

Result<void> Verifier::store(const Store& node) {
  HONE_TRY(const DType type, access(node.buffer, node.indices, node.mask));
  HONE_TRY(expr(node.value));
  if (node.value.type() != type)
    return broken("store of {} into buffer '{}', allowed is {}", to_string(node.value.type()), name_of(node.buffer),
                  to_string(type));
  return {};
}

Result<void> Verifier::branch(const If& node) {
  HONE_TRY(condition("condition", node.condition));
  HONE_TRY(stmt(node.then));
  return node.otherwise ? stmt(node.otherwise) : Result<void>();
}

/// Brings the buffer into scope.
Result<void> Verifier::allocate(const Allocate& node) {
  HONE_TRY(buffer(node.buffer));
  return define("buffer", node.buffer);
}

/// Brings the variable into scope.
Result<void> Verifier::let(const Let& node) {
  if (!node.var.as<Var>()) return broken("a Let has no variable");
  HONE_TRY(expr(node.value));
  const DType type = node.value.type();
  if (type == kVoid || node.var.type() != type)
    return broken("variable '{}' of {} is bound to a value of {}, allowed is one type", name_of(node.var),
                  to_string(node.var.type()), to_string(type));
  return define("variable", node.var);
}

/// Follows chains of Allocate and Let in a loop: they can be long.
Result<void> Verifier::stmt(const Stmt& s) {
  const std::size_t outside = in_scope_.size();
  const Stmt* inner = &s;
  while (true) {
    if (const Allocate* node = inner->as<Allocate>()) {
      HONE_TRY(allocate(*node));
      inner = &node->body;
    } else if (const Let* bound = inner->as<Let>()) {
      HONE_TRY(let(*bound));
      inner = &bound->body;
    } else {
      break;
    }
  }
  HONE_TRY(single(*inner));
  leave(in_scope_.size() - outside);
  return {};
}

Result<void> Verifier::single(const Stmt& s) {
  if (!s) return broken("a statement is missing");
  if (const For* node = s.as<For>()) return loop(*node);
  if (const Block* node = s.as<Block>()) return block(*node);
  if (const Store* node = s.as<Store>()) return store(*node);
  if (const If* node = s.as<If>()) return branch(*node);
  if (const Evaluate* node = s.as<Evaluate>()) return expr(node->value);
  if (const Seq* node = s.as<Seq>())
    for (const Stmt& child : node->stmts) HONE_TRY(stmt(child));
  return {};
}

/// Symbolic sizes are variables that only the shapes of parameters mention before the body.
Result<void> Verifier::sizes(const Function& f) {
  for (const Expr& size : symbolic_sizes(f)) {
    if (size.type() != kIndex)
      return broken("size '{}' has type {}, allowed is {}", name_of(size), to_string(size.type()), to_string(kIndex));
    HONE_TRY(define("size", size));
  }
  return {};
}

Result<void> Verifier::function(const Function& f) {
  HONE_TRY(sizes(f));
  for (const Expr& param : f.params) {
    HONE_TRY(buffer(param));
    const Buffer& node = param.get<Buffer>();
    if (node.scope != Scope::Global)
      return broken("parameter '{}' has scope {}, allowed is global", node.name, to_string(node.scope));
    if (!node.alignments.empty()) return broken("parameter '{}' has aligned strides, allowed are none", node.name);
  }
  for (const Expr& param : f.params) HONE_TRY(define("parameter", param));
  return stmt(f.body);
}

}  // namespace

Result<void> verify(const Function& function, Names names) {
  const Result<void> result = Verifier(names).function(function);
  if (!result)
    return Error{ErrorCode::VerifyError, "verify: function '" + function.name + "': " + result.error().message,
                 result.error().where};
  return {};
}

Result<void> verify(const Module& module, Names names) {
  std::set<std::string_view> seen;
  for (const Function& function : module.functions) {
    if (!seen.insert(function.name).second)
      return broken("verify: two functions have the name '{}', allowed is one", function.name);
    HONE_TRY(verify(function, names));
  }
  return {};
}

}  // namespace hone::ir
