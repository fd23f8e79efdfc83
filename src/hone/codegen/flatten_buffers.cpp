#include "hone/codegen/flatten_buffers.h"

#include "hone/codegen/even_lanes.h"
#include "hone/codegen/vector_ops.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

enum class Owner { Caller, Function };

/// A buffer, the flat one that replaces it, and the elements from one index of each axis to the next.
struct FlatBuffer {
  Expr before, after;
  std::vector<Expr> strides;
};

Expr pad_stride(const Expr& stride, const Buffer& buffer, int axis) {
  Expr padded = stride;
  for (const StorageAlign& align : buffer.alignments)
    if (align.axis == axis) padded = padded + floor_mod(imm(align.offset) - padded, align.factor);
  return simplify(padded);
}

FlatBuffer flatten(const Expr& buffer, Owner owner) {
  const Buffer& node = buffer.get<Buffer>();
  std::vector<Expr> strides(node.shape.size());
  Expr size = imm(1);
  for (int axis = static_cast<int>(strides.size()) - 1; axis >= 0; --axis) {
    const auto i = static_cast<std::size_t>(axis);
    strides[i] = owner == Owner::Caller ? size : pad_stride(size, node, axis);
    size = simplify(strides[i] * node.shape[i]);
  }
  const Expr flat = make(Buffer{.name = node.name, .shape = {size}, .scope = node.scope}, buffer.type());
  return {buffer, flat, std::move(strides)};
}

class Flattener {
 public:
  Expr add(const Expr& buffer, Owner owner) {
    known_.push_back(flatten(buffer, owner));
    return known_.back().after;
  }

  Stmt rewrite(const Stmt& s, const Bounds& bounds) {
    if (const Allocate* allocation = s.as<Allocate>()) {
      const Expr flat = add(allocation->buffer, Owner::Function);
      return make(Allocate{flat, rewrite(allocation->body, bounds)});
    }
    Bounds inner = bounds;
    if (const For* loop = s.as<For>()) inner.add_extent(loop->var, loop->extent);
    const Stmt mapped = map_children(
        s, [&](const Stmt& child) { return rewrite(child, inner); },
        [&](const Expr& e) { return e.as<Buffer>() ? e : rewrite(e, bounds); });
    const Store* store = mapped.as<Store>();
    if (!store) return mapped;
    const FlatBuffer& flat = find(store->buffer);
    return make(Store{flat.after, {offset(flat, store->indices, bounds)}, store->value, store->mask});
  }

 private:
  Expr rewrite(const Expr& e, const Bounds& bounds) {
    if (e.as<Buffer>()) return e;
    const Expr mapped = map_children(e, [&](const Expr& child) { return rewrite(child, bounds); });
    const Load* load = mapped.as<Load>();
    if (!load) return mapped;
    const FlatBuffer& flat = find(load->buffer);
    return make(Load{flat.after, {offset(flat, load->indices, bounds)}, load->mask});
  }

  const FlatBuffer& find(const Expr& buffer) const {
    for (const FlatBuffer& flat : known_)
      if (flat.before.is(buffer)) return flat;
    HONE_CHECK(false, "buffer '{}' is used outside of its allocation", name_of(buffer));
    return known_.front();
  }

  static Expr offset(const FlatBuffer& flat, const std::vector<Expr>& indices, const Bounds& bounds) {
    Expr sum = imm(0);
    for (std::size_t axis = 0; axis < indices.size(); ++axis)
      sum = codegen::add(sum, multiply(indices[axis], flat.strides[axis]));
    return even_lanes(simplify(sum, bounds), bounds);
  }

  std::vector<FlatBuffer> known_;
};

}  // namespace

Function flatten_buffers(const Function& function) {
  Flattener flattener;
  Function result{.name = function.name};
  for (const Expr& param : function.params) result.params.push_back(flattener.add(param, Owner::Caller));
  result.body = flattener.rewrite(function.body, {});
  return result;
}

}  // namespace hone::codegen
