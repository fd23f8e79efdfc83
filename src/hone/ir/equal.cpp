#include "hone/ir/equal.h"

#include <bit>
#include <cmath>
#include <utility>

namespace hone::ir {

namespace {

/// The same number: bit for bit, so that -0 differs from 0; all NaNs are one.
bool same_number(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// Compares two programs side by side, remembering which of their variables and buffers correspond.
class Comparison {
 public:
  bool same(const Expr& a, const Expr& b);
  bool same(const Stmt& a, const Stmt& b);
  bool same_functions(const Function& a, const Function& b);

 private:
  /// Makes two definitions correspond until leave().
  void enter(const Expr& a, const Expr& b) {
    pairs_.emplace_back(&a, &b);
    differing_ += !a.is(b);
  }
  void leave(std::size_t count = 1) {
    for (; count > 0; --count) {
      differing_ -= !pairs_.back().first->is(*pairs_.back().second);
      pairs_.pop_back();
    }
  }

  bool same_name(const Expr& a, const Expr& b);
  bool same_list(const std::vector<Expr>& a, const std::vector<Expr>& b);
  bool same_definition(const Expr& a, const Expr& b);
  bool same_load(const Load& a, const Load& b);
  bool same_block(const Block& a, const Block& b);

  template <typename Node>
  bool same_binary(const Expr& a, const Expr& b) {
    return same(a.get<Node>().a, b.get<Node>().a) && same(a.get<Node>().b, b.get<Node>().b);
  }

  std::vector<std::pair<const Expr*, const Expr*>> pairs_;
  int differing_ = 0;              ///< how many pairs are of two nodes; without any, one node is equal to itself
  bool sizes_correspond_ = false;  ///< in shapes of parameters: free variables are sizes, matched as they appear
};

bool Comparison::same_name(const Expr& a, const Expr& b) {
  for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair)
    if (pair->first->is(a) || pair->second->is(b)) return pair->first->is(a) && pair->second->is(b);
  if (!sizes_correspond_ || a.kind() != Kind::Var) return a.is(b);
  if (a.type() != b.type()) return false;
  enter(a, b);
  return true;
}

bool Comparison::same_list(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

bool Comparison::same_load(const Load& a, const Load& b) {
  return same(a.buffer, b.buffer) && same_list(a.indices, b.indices) && same(a.mask, b.mask);
}

bool Comparison::same(const Expr& a, const Expr& b) {
  if (!a || !b) return !a && !b;
  if (a.is(b) && differing_ == 0 && !sizes_correspond_) return true;
  if (a.kind() != b.kind() || a.type() != b.type()) return false;
  switch (a.kind()) {
    case Kind::IntImm:
      return a.get<IntImm>().value == b.get<IntImm>().value;
    case Kind::FloatImm:
      return same_number(a.get<FloatImm>().value, b.get<FloatImm>().value);
    case Kind::Var:
    case Kind::Buffer:
      return same_name(a, b);
    case Kind::Add:
      return same_binary<Add>(a, b);
    case Kind::Sub:
      return same_binary<Sub>(a, b);
    case Kind::Mul:
      return same_binary<Mul>(a, b);
    case Kind::Div:
      return same_binary<Div>(a, b);
    case Kind::FloorDiv:
      return same_binary<FloorDiv>(a, b);
    case Kind::FloorMod:
      return same_binary<FloorMod>(a, b);
    case Kind::Min:
      return same_binary<Min>(a, b);
    case Kind::Max:
      return same_binary<Max>(a, b);
    case Kind::Eq:
      return same_binary<Eq>(a, b);
    case Kind::Ne:
      return same_binary<Ne>(a, b);
    case Kind::Lt:
      return same_binary<Lt>(a, b);
    case Kind::Le:
      return same_binary<Le>(a, b);
    case Kind::And:
      return same_binary<And>(a, b);
    case Kind::Or:
      return same_binary<Or>(a, b);
    case Kind::Not:
      return same(a.get<Not>().a, b.get<Not>().a);
    case Kind::Select:
      return same(a.get<Select>().condition, b.get<Select>().condition) && same_binary<Select>(a, b);
    case Kind::Cast:
      return same(a.get<Cast>().value, b.get<Cast>().value);
    case Kind::Load:
      return same_load(a.get<Load>(), b.get<Load>());
    case Kind::Call:
      return a.get<Call>().function == b.get<Call>().function && same_list(a.get<Call>().args, b.get<Call>().args);
    case Kind::Ramp:
      return same(a.get<Ramp>().base, b.get<Ramp>().base) && same(a.get<Ramp>().stride, b.get<Ramp>().stride);
    case Kind::Broadcast:
      return same(a.get<Broadcast>().value, b.get<Broadcast>().value);
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
  HONE_CHECK(false, "{} is not an expression", to_string(a.kind()));
  return false;
}

/// Whether two buffers or variables are defined alike, names aside.
bool Comparison::same_definition(const Expr& a, const Expr& b) {
  if (!a || !b || a.kind() != b.kind() || a.type() != b.type()) return false;
  const Buffer *left = a.as<Buffer>(), *right = b.as<Buffer>();
  if (!left) return true;
  return left->scope == right->scope && left->alignments == right->alignments && same_list(left->shape, right->shape);
}

bool Comparison::same_block(const Block& a, const Block& b) {
  if (a.iters.size() != b.iters.size() || a.annotations != b.annotations || !same(a.predicate, b.predicate))
    return false;
  for (std::size_t i = 0; i < a.iters.size(); ++i) {
    const Iter &left = a.iters[i], &right = b.iters[i];
    if (left.kind != right.kind || !same_definition(left.var, right.var) || !same(left.extent, right.extent) ||
        !same(left.binding, right.binding))
      return false;
  }
  for (std::size_t i = 0; i < a.iters.size(); ++i) enter(a.iters[i].var, b.iters[i].var);
  const bool result = same(a.init, b.init) && same(a.body, b.body);
  leave(a.iters.size());
  return result;
}

bool Comparison::same(const Stmt& a, const Stmt& b) {
  if (!a || !b) return !a && !b;
  if (a.is(b) && differing_ == 0) return true;
  if (a.kind() != b.kind()) return false;
  if (const For* left = a.as<For>()) {
    const For& right = b.get<For>();
    if (left->how != right.how || left->annotations != right.annotations || !same_definition(left->var, right.var) ||
        !same(left->extent, right.extent))
      return false;
    enter(left->var, right.var);
    const bool result = same(left->body, right.body);
    leave();
    return result;
  }
  if (const Block* left = a.as<Block>()) return same_block(*left, b.get<Block>());
  if (const Store* left = a.as<Store>()) {
    const Store& right = b.get<Store>();
    return same(left->buffer, right.buffer) && same_list(left->indices, right.indices) &&
           same(left->value, right.value) && same(left->mask, right.mask);
  }
  if (const If* left = a.as<If>()) {
    const If& right = b.get<If>();
    return same(left->condition, right.condition) && same(left->then, right.then) &&
           same(left->otherwise, right.otherwise);
  }
  if (const Seq* left = a.as<Seq>()) {
    const Seq& right = b.get<Seq>();
    if (left->stmts.size() != right.stmts.size()) return false;
    for (std::size_t i = 0; i < left->stmts.size(); ++i)
      if (!same(left->stmts[i], right.stmts[i])) return false;
    return true;
  }
  if (const Allocate* left = a.as<Allocate>()) {
    const Allocate& right = b.get<Allocate>();
    if (!same_definition(left->buffer, right.buffer)) return false;
    enter(left->buffer, right.buffer);
    const bool result = same(left->body, right.body);
    leave();
    return result;
  }
  if (const Let* left = a.as<Let>()) {
    const Let& right = b.get<Let>();
    if (!same_definition(left->var, right.var) || !same(left->value, right.value)) return false;
    enter(left->var, right.var);
    const bool result = same(left->body, right.body);
    leave();
    return result;
  }
  if (const Evaluate* left = a.as<Evaluate>()) return same(left->value, b.get<Evaluate>().value);
  return true;  // barriers
}

bool Comparison::same_functions(const Function& a, const Function& b) {
  if (a.params.size() != b.params.size()) return false;
  sizes_correspond_ = true;
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    if (!same_definition(a.params[i], b.params[i])) return false;
    enter(a.params[i], b.params[i]);
  }
  sizes_correspond_ = false;
  return same(a.body, b.body);
}

}  // namespace

bool equal(const Expr& a, const Expr& b) { return Comparison().same(a, b); }
bool equal(const Stmt& a, const Stmt& b) { return Comparison().same(a, b); }
bool equal(const Function& a, const Function& b) { return Comparison().same_functions(a, b); }

}  // namespace hone::ir
