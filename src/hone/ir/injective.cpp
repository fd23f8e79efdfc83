#include <algorithm>
#include <cstdlib>

#include "hone/ir/linear.h"
#include "hone/ir/order.h"
#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::ir {

namespace {

bool has_one_value(Interval values) { return values.min >= values.max; }

/// Which subexpressions follow from the values of some indices.
///
/// An index is read as a number in mixed radix whose digits are the atoms of its linear form. If two settings of the
/// variables give one index, the heaviest digit must be the same in both, provided that its weight exceeds all that the
/// lighter digits can add up to; then the next one, and so on.
class Determined {
 public:
  Determined(std::span<const Expr> indices, const Bounds& vars) : vars_(vars) {
    std::vector<Linear> sums;
    for (const Expr& index : indices) sums.push_back(linear_of(simplify(index, vars)));
    // What one index tells may help with another.
    for (std::size_t before = atoms_.size() + 1; before != atoms_.size();) {
      before = atoms_.size();
      for (std::size_t i = 0; i < sums.size(); ++i) read(sums[i]);
      join_quotients(sums);
    }
  }

  bool has(const Expr& atom) const {
    return !varies(atom) ||
           std::any_of(atoms_.begin(), atoms_.end(), [&](const Expr& known) { return same(known, atom); });
  }

 private:
  struct Digit {
    Expr atom;
    std::int64_t weight;
  };

  void read(const Linear& index) {
    std::vector<Digit> digits;
    for (const Term& term : index.terms) {
      if (term.coefficient == Interval::kNoMin) return;
      if (term.coefficient != 0 && varies(term.atom) && !has_one_value(bounds_of(term.atom, vars_)) && !has(term.atom))
        digits.push_back({term.atom, std::abs(term.coefficient)});
    }
    std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.weight > b.weight; });
    for (std::size_t i = 0; i < digits.size(); ++i) {
      Interval lighter{0, 0};
      for (std::size_t j = i + 1; j < digits.size(); ++j) {
        const Interval values = bounds_of(digits[j].atom, vars_);
        lighter = lighter + (values - values) * Interval{digits[j].weight, digits[j].weight};
      }
      if (digits[i].weight <= lighter.max) return;
      atoms_.push_back(digits[i].atom);
    }
  }

  /// Knowing x // c and x % c is knowing x, which then counts as one more index.
  void join_quotients(std::vector<Linear>& sums) const {
    for (const Expr& atom : atoms_) {
      const FloorMod* rest = atom.as<FloorMod>();
      if (rest && !has(rest->a) && has_quotient(rest->a, rest->b)) sums.push_back(linear_of(rest->a));
    }
  }

  /// Whether x // c is known: as such, or as y // (c · d) where x is y // d, however that was simplified.
  bool has_quotient(const Expr& x, const Expr& c) const {
    const Linear plain = linear_of(simplify(floor_div(x, c), vars_));
    if (std::all_of(plain.terms.begin(), plain.terms.end(), [&](const Term& term) { return has(term.atom); }))
      return true;
    const std::optional<std::int64_t> divisor = as_int(c);
    return divisor && std::any_of(atoms_.begin(), atoms_.end(), [&](const Expr& atom) {
             const FloorDiv* quotient = atom.as<FloorDiv>();
             const std::optional<std::int64_t> whole = quotient ? as_int(quotient->b) : std::nullopt;
             if (!whole || *divisor <= 0 || *whole % *divisor != 0) return false;
             return same(simplify(floor_div(quotient->a, *whole / *divisor), vars_), x);
           });
  }

  bool varies(const Expr& e) const {
    bool found = false;
    walk(e, [&](const Expr& node) {
      found = found || node.kind() == Kind::Load || (node.kind() == Kind::Var && vars_.has(node));
    });
    return found;
  }

  const Bounds& vars_;
  std::vector<Expr> atoms_;
};

}  // namespace

bool is_injective(std::span<const Expr> indices, const Bounds& vars) {
  const Determined determined(indices, vars);
  const auto& entries = vars.entries();
  return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return has_one_value(vars.of(entry.first)) || determined.has(entry.first);
  });
}

bool is_disjoint(std::span<const Expr> indices, const Expr& var, Interval values, const Bounds& inner) {
  Bounds all = inner;
  all.add(var, values);
  return has_one_value(values) || Determined(indices, all).has(var);
}

}  // namespace hone::ir
