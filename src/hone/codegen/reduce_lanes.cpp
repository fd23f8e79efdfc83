#include "hone/codegen/reduce_lanes.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "hone/codegen/widen.h"
#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// More vectors than this are not written out side by side.
constexpr std::int64_t kMaxVectors = 8;

/// An element to which a loop adds, by this operator, one value after the other.
struct Accumulation {
  Kind how;
  Intrinsic across;  ///< the same over the lanes of a vector
  Expr element, next;
};

template <typename Node>
std::optional<Accumulation> accumulation(const Store& store, Intrinsic across) {
  const Node* node = store.value.as<Node>();
  if (!node) return std::nullopt;
  const auto is_element = [&](const Expr& e) {
    const Load* load = e.as<Load>();
    return load && load->buffer.is(store.buffer) && !load->mask && load->indices.size() == store.indices.size() &&
           std::equal(load->indices.begin(), load->indices.end(), store.indices.begin(),
                      [](const Expr& a, const Expr& b) { return equal(a, b); });
  };
  if (is_element(node->a)) return Accumulation{store.value.kind(), across, node->a, node->b};
  if (is_element(node->b)) return Accumulation{store.value.kind(), across, node->b, node->a};
  return std::nullopt;
}

std::optional<Accumulation> accumulation_of(const Store& store) {
  if (auto sum = accumulation<Add>(store, Intrinsic::ReduceAdd)) return sum;
  if (auto product = accumulation<Mul>(store, Intrinsic::ReduceMul)) return product;
  if (auto least = accumulation<Min>(store, Intrinsic::ReduceMin)) return least;
  return accumulation<Max>(store, Intrinsic::ReduceMax);
}

Expr combine(Kind how, const Expr& a, const Expr& b) {
  switch (how) {
    case Kind::Add:
      return a + b;
    case Kind::Mul:
      return a * b;
    case Kind::Min:
      return min(a, b);
    default:
      return max(a, b);
  }
}

/// The value of `e` for `lanes` values of `var` from `base` on.
std::optional<Expr> vector_of(const Expr& e, const Expr& var, std::int64_t base, std::int64_t lanes,
                              const Bounds& bounds) {
  const Expr scratch = buffer("scratch", e.type(), {imm(base + lanes)});
  const auto wide = widen(store(scratch, {var}, e), var, imm(base), static_cast<int>(lanes), bounds);
  const Store* stored = wide ? wide->as<Store>() : nullptr;
  return stored && stored->value.type().lanes == lanes ? std::optional(stored->value) : std::nullopt;
}

Stmt reduce(const Stmt& s, int vector_bits, const Bounds& bounds) {
  const For* loop = s.as<For>();
  if (!loop) return map_children(s, [&](const Stmt& child) { return reduce(child, vector_bits, bounds); });
  Bounds inner = bounds;
  inner.add_extent(loop->var, loop->extent);
  const Store* store = loop->body.as<Store>();
  const std::int64_t extent = as_int(loop->extent).value_or(0);
  if (!store || !find(loop->annotations, kReduceLanes) || extent < 2 || store->mask)
    return map_children(s, [&](const Stmt& child) { return reduce(child, vector_bits, inner); });
  const auto found = accumulation_of(*store);
  const bool is_fixed = std::none_of(store->indices.begin(), store->indices.end(),
                                     [&](const Expr& index) { return uses(index, loop->var); });
  if (!found || !is_fixed || uses(found->next, store->buffer)) return s;
  const std::int64_t width = std::max(vector_bits / store->buffer.type().bits(), 1);
  const std::int64_t lanes = std::min(width, extent);
  if (extent % lanes != 0 || extent / lanes > kMaxVectors || !std::has_single_bit(static_cast<std::uint64_t>(lanes)))
    return s;
  Expr all;
  for (std::int64_t base = 0; base < extent; base += lanes) {
    const auto part = vector_of(found->next, loop->var, base, lanes, bounds);
    if (!part) return s;
    all = all ? combine(found->how, all, *part) : *part;
  }
  return ir::store(store->buffer, store->indices, combine(found->how, found->element, call(found->across, {all})));
}

}  // namespace

Function reduce_lanes(const Function& function, int vector_bits) {
  return {function.name, function.params, reduce(function.body, vector_bits, {})};
}

}  // namespace hone::codegen
