#include "hone/ir/linear.h"

#include <algorithm>

#include "hone/ir/order.h"

namespace hone::ir {

namespace {

/// Whether `a` stands before `b` in the canonical order.
bool stands_before(const Term& a, const Term& b) {
  if ((a.coefficient > 0) != (b.coefficient > 0)) return a.coefficient > 0;
  if (a.coefficient != b.coefficient)
    return a.coefficient > 0 ? a.coefficient > b.coefficient : a.coefficient < b.coefficient;
  return compare(a.atom, b.atom) == Order::Before;
}

/// Insertion sort: stable, and sums are short.
void sort(std::vector<Term>& terms) {
  for (std::size_t i = 1; i < terms.size(); ++i)
    for (std::size_t j = i; j > 0 && stands_before(terms[j], terms[j - 1]); --j) std::swap(terms[j], terms[j - 1]);
}

Expr times(const Expr& atom, std::int64_t coefficient) {
  return coefficient == 1 ? atom : make(Mul{atom, imm(coefficient)});
}

}  // namespace

std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

void Linear::add(const Expr& atom, std::int64_t scale) {
  if (scale == 0) return;
  for (Term& term : terms)
    if (same(term.atom, atom)) {
      term.coefficient = wrapping_add(term.coefficient, scale);
      return;
    }
  if (terms.empty()) terms.reserve(4);
  terms.push_back({atom, scale});
}

void Linear::add(const Linear& other, std::int64_t scale) {
  for (const Term& term : other.terms) add(term.atom, wrapping_mul(term.coefficient, scale));
  add_constant(wrapping_mul(other.constant, scale));
}

void Linear::add_sum(const Expr& e, std::int64_t scale) {
  if (const IntImm* number = e.as<IntImm>()) {
    add_constant(wrapping_mul(number->value, scale));
  } else if (const Add* sum = e.as<Add>()) {
    add_sum(sum->a, scale);
    add_sum(sum->b, scale);
  } else if (const Sub* difference = e.as<Sub>()) {
    add_sum(difference->a, scale);
    add_sum(difference->b, wrapping_mul(scale, -1));
  } else if (const Mul* product = e.as<Mul>(); product && product->b.as<IntImm>()) {
    add_sum(product->a, wrapping_mul(scale, product->b.get<IntImm>().value));
  } else if (product && product->a.as<IntImm>()) {
    add_sum(product->b, wrapping_mul(scale, product->a.get<IntImm>().value));
  } else {
    add(e, scale);
  }
}

void Linear::add_constant(std::int64_t scale) { constant = wrapping_add(constant, scale); }

void Linear::drop_zeros() {
  std::erase_if(terms, [](const Term& term) { return term.coefficient == 0; });
}

bool Linear::is_constant() const {
  return std::all_of(terms.begin(), terms.end(), [](const Term& term) { return term.coefficient == 0; });
}

Linear linear_of(const Expr& e) {
  Linear form;
  form.add_sum(e, 1);
  return form;
}

Expr to_expr(Linear form) {
  form.drop_zeros();
  sort(form.terms);
  if (form.terms.empty()) return imm(form.constant);

  Expr sum;
  for (const Term& term : form.terms) {
    const bool is_difference = term.coefficient < 0 && term.coefficient != Interval::kNoMin;
    if (!sum && is_difference && form.constant != 0) sum = imm(std::exchange(form.constant, 0));
    if (!sum) {
      sum = times(term.atom, term.coefficient);
    } else if (is_difference) {
      sum = make(Sub{std::move(sum), times(term.atom, -term.coefficient)});
    } else {
      sum = make(Add{std::move(sum), times(term.atom, term.coefficient)});
    }
  }
  if (form.constant > 0 || form.constant == Interval::kNoMin) return make(Add{std::move(sum), imm(form.constant)});
  return form.constant == 0 ? sum : make(Sub{std::move(sum), imm(-form.constant)});
}

Interval bounds_of(const Linear& form, const Bounds& bounds) {
  Interval total{form.constant, form.constant};
  for (const Term& term : form.terms)
    if (term.coefficient != 0)
      total = total + bounds_of(term.atom, bounds) * Interval{term.coefficient, term.coefficient};
  return total;
}

}  // namespace hone::ir
