#include <bit>
#include <cmath>
#include <fmt/core.h>
#include <limits>
#include <string_view>

#include "hone/ir/equal.h"

namespace hone::ir {

namespace {

/// Takes in words one by one and mixes them into 128 bits. Two lanes multiply by different odd numbers, so that each
/// step keeps all that was taken in before; each lane then sees the other's high bits.
class Mixer {
 public:
  void add(std::uint64_t word) {
    low_ = (low_ ^ word) * 0x9fb21c651e98df25u;
    high_ = (std::rotl(high_, 29) + word) * 0xd6e8feb86659fd93u;
    low_ ^= high_ >> 31;
    high_ ^= low_ >> 33;
  }

  void add(std::string_view text) {
    add(text.size());
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t word = 0;  // put together byte by byte: the same on machines of either byte order
      for (std::size_t i = at; i < text.size() && i < at + 8; ++i)
        word = word << 8 | static_cast<unsigned char>(text[i]);
      add(word);
    }
  }

  Hash128 result() const {
    Mixer last = *this;
    for (int round = 0; round < 4; ++round) last.add(std::uint64_t{0x5851f42d4c957f2du});
    return {last.high_, last.low_};
  }

 private:
  std::uint64_t high_ = 0x6a09e667f3bcc908u, low_ = 0xbb67ae8584caa73bu;
};

/// Walks a program in a fixed order and takes in all that equal() compares. Variables and buffers count as the number
/// of their definition.
class Hasher {
 public:
  Hash128 hash(const Function& function);

 private:
  void enter(const Expr& definition) { names_.push_back({definition.id(), defined_++}); }
  void leave(std::size_t count = 1) { names_.resize(names_.size() - count); }

  void name(const Expr& e);
  void expr(const Expr& e);
  void list(const std::vector<Expr>& list);
  void children(const Expr& e);
  void stmt(const Stmt& s);
  void definition(const Expr& e);
  void annotations(const Annotations& list);
  void block(const Block& node);

  template <typename Node>
  void binary(const Expr& e) {
    expr(e.get<Node>().a);
    expr(e.get<Node>().b);
  }

  struct Name {
    const void* id;
    std::uint64_t number;
  };
  Mixer mixer_;
  std::vector<Name> names_;  ///< what is in scope, innermost last
  std::uint64_t defined_ = 0;
  bool number_sizes_ = false;  ///< in shapes of parameters: free variables are sizes, numbered as they appear
};

constexpr std::uint64_t kNothing = std::numeric_limits<std::uint64_t>::max();

void Hasher::name(const Expr& e) {
  for (auto known = names_.rbegin(); known != names_.rend(); ++known)
    if (known->id == e.id()) return mixer_.add(known->number);
  mixer_.add(kNothing);
  if (number_sizes_) enter(e);
}

void Hasher::list(const std::vector<Expr>& list) {
  mixer_.add(list.size());
  for (const Expr& e : list) expr(e);
}

void Hasher::expr(const Expr& e) {
  if (!e) return mixer_.add(kNothing);
  const DType type = e.type();
  mixer_.add(static_cast<std::uint64_t>(e.kind()) << 32 | static_cast<std::uint64_t>(type.scalar) << 16 | type.lanes);
  children(e);
}

void Hasher::children(const Expr& e) {
  switch (e.kind()) {
    case Kind::IntImm:
      return mixer_.add(static_cast<std::uint64_t>(e.get<IntImm>().value));
    case Kind::FloatImm: {
      const double value = e.get<FloatImm>().value;
      return mixer_.add(std::isnan(value) ? kNothing : std::bit_cast<std::uint64_t>(value));
    }
    case Kind::Var:
    case Kind::Buffer:
      return name(e);
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
      return expr(e.get<Not>().a);
    case Kind::Select:
      expr(e.get<Select>().condition);
      return binary<Select>(e);
    case Kind::Cast:
      return expr(e.get<Cast>().value);
    case Kind::Load:
      expr(e.get<Load>().buffer);
      list(e.get<Load>().indices);
      return expr(e.get<Load>().mask);
    case Kind::Call:
      mixer_.add(static_cast<std::uint64_t>(e.get<Call>().function));
      return list(e.get<Call>().args);
    case Kind::Ramp:
      expr(e.get<Ramp>().base);
      return expr(e.get<Ramp>().stride);
    case Kind::Broadcast:
      return expr(e.get<Broadcast>().value);
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
}

void Hasher::definition(const Expr& e) {
  mixer_.add(static_cast<std::uint64_t>(e.type().scalar) << 16 | e.type().lanes);
  const Buffer* node = e.as<Buffer>();
  if (!node) return;
  mixer_.add(static_cast<std::uint64_t>(node->scope));
  list(node->shape);
  mixer_.add(node->alignments.size());
  for (const StorageAlign& align : node->alignments) {
    mixer_.add(static_cast<std::uint64_t>(align.axis));
    mixer_.add(static_cast<std::uint64_t>(align.factor));
    mixer_.add(static_cast<std::uint64_t>(align.offset));
  }
}

void Hasher::annotations(const Annotations& list) {
  mixer_.add(list.size());
  for (const Annotation& a : list) {
    mixer_.add(a.key);
    mixer_.add(a.value);
  }
}

void Hasher::block(const Block& node) {
  annotations(node.annotations);
  expr(node.predicate);
  mixer_.add(node.iters.size());
  for (const Iter& iter : node.iters) {
    mixer_.add(static_cast<std::uint64_t>(iter.kind));
    definition(iter.var);
    expr(iter.extent);
    expr(iter.binding);
  }
  for (const Iter& iter : node.iters) enter(iter.var);
  stmt(node.init);
  stmt(node.body);
  leave(node.iters.size());
}

void Hasher::stmt(const Stmt& s) {
  if (!s) return mixer_.add(kNothing);
  mixer_.add(static_cast<std::uint64_t>(s.kind()));
  if (const For* loop = s.as<For>()) {
    mixer_.add(static_cast<std::uint64_t>(loop->how));
    annotations(loop->annotations);
    definition(loop->var);
    expr(loop->extent);
    enter(loop->var);
    stmt(loop->body);
    leave();
  } else if (const Block* node = s.as<Block>()) {
    block(*node);
  } else if (const Store* store = s.as<Store>()) {
    expr(store->buffer);
    list(store->indices);
    expr(store->value);
    expr(store->mask);
  } else if (const If* branch = s.as<If>()) {
    expr(branch->condition);
    stmt(branch->then);
    stmt(branch->otherwise);
  } else if (const Seq* seq = s.as<Seq>()) {
    mixer_.add(seq->stmts.size());
    for (const Stmt& child : seq->stmts) stmt(child);
  } else if (const Allocate* allocate = s.as<Allocate>()) {
    definition(allocate->buffer);
    enter(allocate->buffer);
    stmt(allocate->body);
    leave();
  } else if (const Let* let = s.as<Let>()) {
    definition(let->var);
    expr(let->value);
    enter(let->var);
    stmt(let->body);
    leave();
  } else if (const Evaluate* evaluate = s.as<Evaluate>()) {
    expr(evaluate->value);
  }
}

Hash128 Hasher::hash(const Function& function) {
  mixer_.add(function.params.size());
  number_sizes_ = true;
  for (const Expr& param : function.params) {
    definition(param);
    enter(param);
  }
  number_sizes_ = false;
  stmt(function.body);
  return mixer_.result();
}

}  // namespace

std::string to_string(const Hash128& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

Hash128 structural_hash(const Function& function) { return Hasher().hash(function); }

}  // namespace hone::ir
