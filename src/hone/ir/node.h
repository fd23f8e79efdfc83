/// Counted boxes: how the IR holds its nodes.
///
/// A node is a plain struct (expr.h, stmt.h). `make(node)` puts it into a box whose 8-byte header holds a reference
/// count, the kind and the data type; `Expr` and `Stmt` are handles to boxes. Nodes never change once made, so programs
/// share parts freely and threads may read them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hone/ir/dtype.h"

/// Every kind of expression; the order is part of the structural hash.
#define HONE_EXPR_KINDS(X)                                          \
  X(IntImm) X(FloatImm) X(Var) X(Buffer)                            \
  X(Add) X(Sub) X(Mul) X(Div) X(FloorDiv) X(FloorMod) X(Min) X(Max) \
  X(Eq) X(Ne) X(Lt) X(Le) X(And) X(Or) X(Not)                       \
  X(Select) X(Cast) X(Load) X(Call) X(Ramp) X(Broadcast)

/// Every kind of statement.
#define HONE_STMT_KINDS(X) X(For) X(Block) X(Store) X(If) X(Seq) X(Allocate) X(Let) X(Evaluate) X(Barrier)

namespace hone::ir {

#define HONE_DECLARE(name) struct name;
HONE_EXPR_KINDS(HONE_DECLARE)
HONE_STMT_KINDS(HONE_DECLARE)
#undef HONE_DECLARE

/// The kind of a node, named like its struct.
enum class Kind : std::uint8_t {
#define HONE_ENUMERATE(name) name,
  HONE_EXPR_KINDS(HONE_ENUMERATE) HONE_STMT_KINDS(HONE_ENUMERATE)
#undef HONE_ENUMERATE
};

/// The name of a kind, such as "FloorDiv".
std::string_view to_string(Kind kind);

/// The kind of each node struct, known at compile time.
template <typename Node>
inline constexpr Kind kind_of = [] {
  static_assert(sizeof(Node) == 0, "not a node");
  return Kind{};
}();
#define HONE_KIND_OF(name) \
  template <>              \
  inline constexpr Kind kind_of<name> = Kind::name;
HONE_EXPR_KINDS(HONE_KIND_OF)
HONE_STMT_KINDS(HONE_KIND_OF)
#undef HONE_KIND_OF

template <typename Node>
inline constexpr bool is_statement = kind_of<Node> >= Kind::For;

/// The first eight bytes of every box.
struct BoxHeader {
  std::atomic<std::uint32_t> references = 0;
  Kind kind;
  Scalar scalar;
  std::uint16_t lanes;

  BoxHeader(Kind k, DType type) : kind(k), scalar(type.scalar), lanes(type.lanes) {}
};
static_assert(sizeof(BoxHeader) == 8);

template <typename Node>
struct Box : BoxHeader {
  Node node;
  Box(Node n, DType type) : BoxHeader(kind_of<Node>, type), node(std::move(n)) {}
};

/// Frees a box whose last reference is gone.
void destroy(BoxHeader* box);

/// What Expr and Stmt have in common: a counted reference to a box, or null.
class Handle {
 public:
  Handle() = default;
  explicit Handle(BoxHeader* box) : box_(box) { retain(); }
  Handle(const Handle& other) : box_(other.box_) { retain(); }
  Handle(Handle&& other) noexcept : box_(std::exchange(other.box_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~Handle() {
    if (box_ && box_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(box_);
  }

  explicit operator bool() const { return box_ != nullptr; }

  Kind kind() const { return box_->kind; }

  /// The node if it is of this kind, else null. Null handles give null.
  template <typename Node>
  const Node* as() const {
    return box_ && box_->kind == kind_of<Node> ? &static_cast<const Box<Node>*>(box_)->node : nullptr;
  }

  /// The node, which must be of this kind.
  template <typename Node>
  const Node& get() const {
    HONE_CHECK(as<Node>(), "the node is not a {}", to_string(kind_of<Node>));
    return static_cast<const Box<Node>*>(box_)->node;
  }

  /// Whether both handles refer to one node: the equality of variables and buffers.
  bool is(const Handle& other) const { return box_ == other.box_; }

  /// An address that identifies the node while it lives; never to be printed, hashed for storage, or ordered by.
  const void* id() const { return box_; }

 protected:
  const BoxHeader* box() const { return box_; }

 private:
  void retain() {
    if (box_) box_->references.fetch_add(1, std::memory_order_relaxed);
  }

  BoxHeader* box_ = nullptr;
};

/// A handle to an expression: computes a value and has no effect.
class Expr : public Handle {
 public:
  using Handle::Handle;
  DType type() const { return {box()->scalar, box()->lanes}; }
};

/// A handle to a statement.
class Stmt : public Handle {
 public:
  using Handle::Handle;
};

}  // namespace hone::ir
