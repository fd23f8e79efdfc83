#include "hone/schedule/disjoint.h"

#include <algorithm>
#include <optional>

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// coefficient · atom, an addend of an index.
struct Term {
  std::int64_t coefficient;
  Expr atom;
};

void add_terms(const Expr& e, std::int64_t factor, std::vector<Term>& terms) {
  if (const Add* sum = e.as<Add>()) {
    add_terms(sum->a, factor, terms);
    add_terms(sum->b, factor, terms);
  } else if (const Sub* difference = e.as<Sub>()) {
    add_terms(difference->a, factor, terms);
    add_terms(difference->b, -factor, terms);
  } else if (const Mul* product = e.as<Mul>(); product && as_int(product->b)) {
    add_terms(product->a, factor * *as_int(product->b), terms);
  } else if (product && as_int(product->a)) {
    add_terms(product->b, factor * *as_int(product->a), terms);
  } else if (!as_int(e)) {
    terms.push_back({factor, e});
  }
}

/// An atom read as digits of a number: (source // divisor) % modulus, no modulus meaning all higher digits.
struct Digits {
  Expr source;
  std::int64_t divisor = 1;
  std::optional<std::int64_t> modulus;
};

std::optional<Digits> digits_of(const Expr& atom) {
  if (const FloorDiv* quotient = atom.as<FloorDiv>()) {
    const std::optional<std::int64_t> by = as_int(quotient->b);
    if (!by || *by <= 0) return std::nullopt;
    if (const FloorMod* inner = quotient->a.as<FloorMod>()) {
      const std::optional<std::int64_t> modulus = as_int(inner->b);
      if (modulus && *modulus > 0 && *modulus % *by == 0) return Digits{inner->a, *by, *modulus / *by};
    }
    return Digits{quotient->a, *by, std::nullopt};
  }
  if (const FloorMod* rest = atom.as<FloorMod>()) {
    const std::optional<std::int64_t> by = as_int(rest->b);
    if (!by || *by <= 0) return std::nullopt;
    if (const FloorDiv* inner = rest->a.as<FloorDiv>())
      if (const std::optional<std::int64_t> divisor = as_int(inner->b); divisor && *divisor > 0)
        return Digits{inner->a, *divisor, *by};
    return Digits{rest->a, 1, *by};
  }
  return std::nullopt;
}

class Solver {
 public:
  Solver(const Expr& var, std::span<const Expr> inner, const Bounds& bounds)
      : var_(var), inner_(inner), bounds_(bounds) {}

  /// Learns what follows from the value of one index.
  void learn(const Expr& index) {
    std::vector<Term> terms;
    add_terms(index, 1, terms);
    std::erase_if(terms, [&](const Term& t) { return !varies(t.atom); });
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return std::abs(a.coefficient) < std::abs(b.coefficient); });
    // A term follows from the sum if it and all larger ones step further than all smaller ones together reach.
    std::vector<bool> steps_over;
    std::int64_t reach = 0;
    for (const Term& term : terms) {
      const std::optional<std::int64_t> width = span_of(term.atom);
      steps_over.push_back(reach >= 0 && std::abs(term.coefficient) > reach);
      const bool is_known = width && reach >= 0 && *width < kFar / (std::abs(term.coefficient) + 1);
      reach = is_known ? reach + *width * std::abs(term.coefficient) : -1;
    }
    for (std::size_t i = terms.size(); i-- > 0 && steps_over[i];) known_.push_back(terms[i].atom);
  }

  bool knows(const Expr& e) const {
    return std::any_of(known_.begin(), known_.end(), [&](const Expr& known) { return known.is(e) || equal(known, e); });
  }

  /// A number whose digits are all known although it is not known itself yet; null if there is none.
  Expr next_number() const {
    for (const Expr& atom : known_)
      if (const std::optional<Digits> digits = digits_of(atom))
        if (!knows(digits->source) && has_all_digits(digits->source)) return digits->source;
    return {};
  }

  void add(const Expr& number) { known_.push_back(number); }

 private:
  static constexpr std::int64_t kFar = std::int64_t{1} << 60;

  bool varies(const Expr& e) const {
    return uses(e, var_) || std::any_of(inner_.begin(), inner_.end(), [&](const Expr& v) { return uses(e, v); });
  }

  std::optional<std::int64_t> span_of(const Expr& e) const {
    const Interval values = bounds_of(e, bounds_);
    if (!values.is_bounded() || values.min < -kFar || values.max > kFar) return std::nullopt;
    return std::max<std::int64_t>(values.max - values.min, 0);
  }

  bool has_all_digits(const Expr& source) const {
    const Interval values = bounds_of(source, bounds_);
    for (std::int64_t divisor = 1;;) {
      std::optional<Digits> found;
      for (const Expr& atom : known_) {
        const std::optional<Digits> digits = digits_of(atom);
        if (digits && digits->divisor == divisor && equal(digits->source, source)) found = digits;
      }
      if (!found) return false;
      if (!found->modulus) return true;
      if (*found->modulus <= 1 || divisor > kFar / *found->modulus) return false;
      divisor *= *found->modulus;
      if (values.min >= 0 && values.max < divisor) return true;
    }
  }

  const Expr& var_;
  std::span<const Expr> inner_;
  const Bounds& bounds_;
  std::vector<Expr> known_;
};

}  // namespace

bool determines(std::span<const Expr> indices, const Expr& var, std::span<const Expr> inner, const Bounds& bounds) {
  Solver solver(var, inner, bounds);
  for (const Expr& index : indices) solver.learn(simplify(index, bounds));
  for (Expr number = solver.next_number(); number; number = solver.next_number()) {
    solver.add(number);
    solver.learn(number);
  }
  return solver.knows(var);
}

}  // namespace hone::schedule
