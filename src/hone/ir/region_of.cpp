#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"

namespace hone::ir {

namespace {

/// Walks a statement and unites the boxes of all accesses to one buffer.
class AccessFinder {
 public:
  AccessFinder(const Expr& buffer, Access access, const Bounds& inner, const Bounds& outer)
      : buffer_(buffer), access_(access), inner_(inner), outer_(outer) {}

  void visit(const Stmt& s) {
    if (const For* loop = s.as<For>()) {
      visit(loop->extent);
      inner_.add_extent(loop->var, seen_through(loop->extent));
      if (!inner_.of(loop->var).is_empty()) visit(loop->body);
      inner_.remove_last();
    } else if (const Block* block = s.as<Block>()) {
      visit_block(*block);
    } else if (const Let* let = s.as<Let>()) {
      visit(let->value);
      meanings_.emplace_back(let->var, seen_through(let->value));
      visit(let->body);
      meanings_.pop_back();
    } else {
      if (const Store* node = s.as<Store>(); node && access_ != Access::Read && node->buffer.is(buffer_))
        add(node->indices);
      for_each_child(s, [&](const Stmt& child) { visit(child); }, [&](const Expr& e) { visit(e); });
    }
  }

  std::optional<Region> take() { return std::move(found_); }

 private:
  void visit_block(const Block& block) {
    for (const Iter& iter : block.iters) {
      visit(iter.extent);
      visit(iter.binding);
    }
    const std::size_t before = meanings_.size();
    for (const Iter& iter : block.iters) meanings_.emplace_back(iter.var, seen_through(iter.binding));
    if (block.predicate) visit(block.predicate);
    if (block.init) visit(block.init);
    visit(block.body);
    meanings_.resize(before);
  }

  void visit(const Expr& e) {
    if (access_ == Access::Write) return;
    walk(e, [&](const Expr& node) {
      if (const Load* load = node.as<Load>(); load && load->buffer.is(buffer_)) add(load->indices);
    });
  }

  Expr seen_through(const Expr& e) const { return meanings_.empty() ? e : substitute(e, meanings_); }

  void add(const std::vector<Expr>& indices) {
    const std::vector<Expr>& shape = buffer_.get<Buffer>().shape;
    Region region;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      const Range range = range_of(seen_through(indices[axis]), inner_, outer_);
      region.push_back(range.is_known() ? range : Range{imm(0), shape[axis]});
    }
    found_ = found_ ? unite(*found_, region, outer_) : region;
  }

  const Expr& buffer_;
  Access access_;
  Bounds inner_;
  const Bounds& outer_;
  Substitution meanings_;
  std::optional<Region> found_;
};

}  // namespace

std::optional<Region> region_of(const Stmt& s, const Expr& buffer, Access access, const Bounds& inner,
                                const Bounds& outer) {
  AccessFinder finder(buffer, access, inner, outer);
  finder.visit(s);
  return finder.take();
}

}  // namespace hone::ir
