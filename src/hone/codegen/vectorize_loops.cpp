#include "hone/codegen/vectorize_loops.h"

#include <algorithm>
#include <bit>

#include "hone/codegen/names.h"
#include "hone/codegen/widen.h"
#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// Up to this many vectors of one statement are written out; more become a loop.
constexpr std::int64_t kMaxVectorsPerStatement = 16;

/// Instruction sets with vectors of this width (AVX-512) take a mask with every load and store.
constexpr int kBitsWithFreeMasks = 512;

bool has_vectorized_loop(const Stmt& s) {
  bool found = false;
  walk(s, [&](const Stmt& child) {
    const For* loop = child.as<For>();
    found |= loop && loop->how == ForKind::Vectorized;
  });
  return found;
}

/// Whether every store below writes another element for each value of `var`; else lanes would overwrite each other.
bool stores_apart(const Stmt& s, const Expr& var) {
  bool apart = true;
  std::vector<Expr> dependent = {var};
  walk(s, [&](const Stmt& child) {
    const auto is_dependent = [&](const Expr& e) {
      return std::any_of(dependent.begin(), dependent.end(), [&](const Expr& d) { return uses(e, d); });
    };
    if (const Let* let = child.as<Let>(); let && is_dependent(let->value)) dependent.push_back(let->var);
    if (const Store* store = child.as<Store>())
      apart = apart && std::any_of(store->indices.begin(), store->indices.end(), is_dependent);
  });
  return apart;
}

/// The bits of the widest element that the statement loads or stores.
int widest_bits(const Stmt& s) {
  int bits = 8;
  walk(
      s,
      [&](const Stmt& child) {
        if (const Store* store = child.as<Store>()) bits = std::max(bits, store->buffer.type().bits());
      },
      [&](const Expr& e) {
        if (const Load* load = e.as<Load>()) bits = std::max(bits, load->buffer.type().bits());
      });
  return bits;
}

class Vectorizer {
 public:
  explicit Vectorizer(int vector_bits) : vector_bits_(vector_bits) {}

  Stmt rewrite(const Stmt& s, const Bounds& bounds) const {
    const For* loop = s.as<For>();
    if (!loop) return map_children(s, [&](const Stmt& child) { return rewrite(child, bounds); });
    Bounds inner = bounds;
    inner.add_extent(loop->var, loop->extent);
    const Stmt rewritten = map_children(s, [&](const Stmt& child) { return rewrite(child, inner); });
    if (loop->how != ForKind::Vectorized) return rewritten;

    const For& node = rewritten.get<For>();
    const bool is_possible =
        as_int(node.extent) && !has_vectorized_loop(loop->body) && stores_apart(node.body, node.var);
    return is_possible ? sink(node, node.body, bounds) : serial(node, node.body);
  }

 private:
  static Stmt serial(const For& loop, const Stmt& body) {
    return make(For{loop.var, loop.extent, ForKind::Serial, body, loop.annotations});
  }

  /// Moves the vectorized loop inwards to the single statements: its iterations do not depend on each other, so loops
  /// and guards that are the same for all of them may come first.
  Stmt sink(const For& loop, const Stmt& s, const Bounds& bounds) const {
    const For* inner = s.as<For>();
    const If* guard = s.as<If>();
    if (inner && !uses(inner->extent, loop.var)) {
      Bounds known = bounds;
      known.add_extent(inner->var, inner->extent);
      return map_children(s, [&](const Stmt& child) { return sink(loop, child, known); });
    }
    if (s.as<Seq>() || (guard && !uses(guard->condition, loop.var)))
      return map_children(s, [&](const Stmt& child) { return sink(loop, child, bounds); });
    return vectorize(loop, s, bounds);
  }

  /// One statement as vectors of the register's width, then a rest of smaller and smaller ones.
  Stmt vectorize(const For& loop, const Stmt& s, const Bounds& bounds) const {
    const std::int64_t extent = constant_value(loop.extent);
    const std::int64_t width = std::max(vector_bits_ / widest_bits(s), 1);
    std::vector<Stmt> pieces;
    std::int64_t done = 0;
    if (extent > width) {
      const std::int64_t count = extent / width;
      const Expr piece = var(name_of(loop.var));
      Bounds inner = bounds;
      inner.add_extent(piece, imm(count));
      const std::optional<Stmt> wide = widen_or_single(s, loop.var, piece * width, width, inner);
      if (!wide) return serial(loop, s);
      const ForKind how = count <= kMaxVectorsPerStatement ? ForKind::Unrolled : ForKind::Serial;
      pieces.push_back(make(For{.var = piece, .extent = imm(count), .how = how, .body = *wide}));
      done = count * width;
    }
    while (done < extent) {
      const Rest rest = next_rest(extent - done, width);
      const Stmt part = rest.is_masked ? make(If{.condition = loop.var < extent, .then = s}) : s;
      const std::optional<Stmt> wide = widen_or_single(part, loop.var, imm(done), rest.lanes, bounds);
      if (!wide) return serial(loop, s);
      pieces.push_back(*wide);
      done += rest.lanes;
    }
    return seq(std::move(pieces));
  }

  /// Lanes of the next vector when fewer than a register's are left.
  struct Rest {
    std::int64_t lanes;
    bool is_masked;
  };

  /// One vector with some lanes masked off where masks cost nothing, else 2^n lanes at a time.
  Rest next_rest(std::int64_t left, std::int64_t width) const {
    const auto count = static_cast<std::uint64_t>(left);
    if (vector_bits_ < kBitsWithFreeMasks || std::has_single_bit(count) || left > width)
      return {static_cast<std::int64_t>(std::bit_floor(count)), false};
    return {static_cast<std::int64_t>(std::bit_ceil(count)), true};
  }

  static std::optional<Stmt> widen_or_single(const Stmt& s, const Expr& var, const Expr& base, std::int64_t lanes,
                                             const Bounds& bounds) {
    if (lanes == 1) return substitute(s, var, base);
    return widen(s, var, base, static_cast<int>(lanes), bounds);
  }

  int vector_bits_;
};

}  // namespace

Function vectorize_loops(const Function& function, int vector_bits) {
  const Stmt body = Vectorizer(vector_bits).rewrite(function.body, {});
  return with_unique_names({function.name, function.params, body});
}

}  // namespace hone::codegen
