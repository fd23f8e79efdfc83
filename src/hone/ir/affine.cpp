#include "hone/ir/affine.h"

#include <algorithm>
#include <cstdlib>

#include "hone/ir/linear.h"
#include "hone/ir/simplify.h"

namespace hone::ir {

namespace {

bool has_only_variables(const Linear& sum) {
  return std::all_of(sum.terms.begin(), sum.terms.end(), [](const Term& term) { return term.atom.as<Var>(); });
}

}  // namespace

std::int64_t Affine::coefficient(const Expr& var) const {
  for (const auto& [known, value] : terms)
    if (known.is(var)) return value;
  return 0;
}

bool leaves_no_gap(const Affine& sum, const Bounds& vars) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // how far one step goes, and how many there are
  for (const auto& [var, coefficient] : sum.terms)
    if (vars.has(var)) steps.emplace_back(std::abs(coefficient), vars.of(var).max - vars.of(var).min);
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 0;
  for (const auto& [step, count] : steps) {
    if (count > 0 && step > reach + 1) return false;
    reach += step * count;
  }
  return true;
}

std::optional<Affine> to_affine(const Expr& e) {
  if (e.type() != kIndex) return std::nullopt;
  Linear sum = linear_of(e);
  sum.drop_zeros();
  if (!has_only_variables(sum)) sum = linear_of(simplify(e));
  if (!has_only_variables(sum)) return std::nullopt;
  Affine affine{.terms = {}, .constant = sum.constant};
  affine.terms.reserve(sum.terms.size());
  for (const Term& term : sum.terms) affine.terms.emplace_back(term.atom, term.coefficient);
  return affine;
}

Expr to_expr(const Affine& affine) {
  Linear sum{.terms = {}, .constant = affine.constant};
  for (const auto& [variable, coefficient] : affine.terms) sum.add(variable, coefficient);
  return to_expr(std::move(sum));
}

}  // namespace hone::ir
