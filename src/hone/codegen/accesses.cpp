#include "hone/codegen/accesses.h"

#include <algorithm>

#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

void Accesses::collect(const Stmt& s, bool is_certain) {
  if (const For* loop = s.as<For>()) {
    defined.push_back(loop->var);
    is_plain = is_plain && loop->how == ForKind::Serial;
  }
  if (const Let* let = s.as<Let>()) defined.push_back(let->var);
  if (const Allocate* allocation = s.as<Allocate>()) defined.push_back(allocation->buffer);
  if (s.as<Barrier>()) is_plain = false;

  const For* loop = s.as<For>();
  const bool runs_below = is_certain && !s.as<If>() && (!loop || as_int(loop->extent).value_or(0) > 0);
  for_each_child(
      s, [&](const Stmt& child) { collect(child, runs_below); }, [&](const Expr& e) { collect(e, is_certain); });
  if (const Store* store = s.as<Store>())
    all.push_back({store->buffer, store->indices.at(0), store->mask, true, is_certain});
}

void Accesses::collect(const Expr& e, bool is_certain) {
  const bool is_lazy = e.as<Select>() || e.as<And>() || e.as<Or>();
  for_each_child(e, [&](const Expr& child) { collect(child, is_certain && !is_lazy); });
  if (const Load* load = e.as<Load>())
    all.push_back({load->buffer, load->indices.at(0), load->mask, false, is_certain});
}

std::vector<Expr> Accesses::stored() const {
  std::vector<Expr> buffers;
  for (const Access& access : all) {
    const bool is_known =
        std::any_of(buffers.begin(), buffers.end(), [&](const Expr& b) { return b.is(access.buffer); });
    if (access.is_store && !is_known) buffers.push_back(access.buffer);
  }
  return buffers;
}

}  // namespace hone::codegen
