#include "hone/codegen/conditions.h"

#include <algorithm>

#include "hone/codegen/vector_ops.h"
#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

void collect(const Expr& condition, std::vector<Expr>& result) {
  if (const And* node = condition.as<And>()) {
    collect(node->a, result);
    collect(node->b, result);
  } else if (!is_int(condition, 1)) {
    result.push_back(condition);
  }
}

}  // namespace

std::vector<Expr> conjuncts(const Expr& condition) {
  std::vector<Expr> result;
  if (condition) collect(condition, result);
  return result;
}

Expr conjunction(const std::vector<Expr>& conditions) {
  Expr result;
  for (const Expr& condition : conditions) result = both(result, condition);
  return result;
}

Expr both(const Expr& a, const Expr& b) {
  if (!a) return b;
  if (!b) return a;
  const int lanes = std::max(a.type().lanes, b.type().lanes);
  return logical_and(with_lanes(a, lanes), with_lanes(b, lanes));
}

Stmt guarded(const Expr& condition, const Stmt& then) {
  return condition ? make(If{.condition = condition, .then = then}) : then;
}

Expr slack_of(const Expr& condition) {
  const Lt* lt = condition.as<Lt>();
  const Le* le = condition.as<Le>();
  if (lt && lt->a.type() == kIndex) return lt->b - lt->a;
  if (le && le->a.type() == kIndex) return le->b - le->a + 1;
  return {};
}

bool has_load(const Expr& e) {
  bool found = e.kind() == Kind::Load;
  if (!found) for_each_child(e, [&](const Expr& child) { found = found || has_load(child); });
  return found;
}

}  // namespace hone::codegen
