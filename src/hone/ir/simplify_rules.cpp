#include <vector>

#include "hone/ir/pattern.h"
#include "hone/ir/simplify.h"

namespace hone::ir {

namespace {

Expr both(const Expr& a, const Expr& b) { return logical_and(a, b); }
Expr both(const Expr& a, const Expr& b, const Expr& c) { return both(both(a, b), c); }
Expr divides(const Expr& divisor, const Expr& number) { return eq(floor_mod(number, divisor), 0); }
/// Small enough that the product of two such constants does not overflow.
Expr is_small(const Expr& c) { return both(imm(-(std::int64_t{1} << 31)) <= c, c < std::int64_t{1} << 31); }
/// 0 <= value < limit
Expr is_digit(const Expr& value, const Expr& limit) { return both(imm(0) <= value, value < limit); }

/// Divisions whose numerator is a number in mixed radix.
void add_division_rules(std::vector<Rule>& rules, const PatternVars& v) {
  const auto& [x, y, z, any, other, n, p, q, c0, c1, c2, c3] = v;
  const Expr one = imm(1), zero = imm(0);
  rules.insert(rules.end(),
               {
                   {"div_of_sum", floor_div(x * c0 + y, c1), x * floor_div(c0, c1) + floor_div(y, c1), divides(c1, c0)},
                   {"div_drops_low_digits", floor_div(x * c0 + y, c1), floor_div(x, floor_div(c1, c0)),
                    both(zero < c1, both(one < c0, divides(c0, c1)), is_digit(y, c0))},
                   {"div_of_div", floor_div(floor_div(x, c0), c1), floor_div(x, c0 * c1),
                    both(both(zero < c0, zero < c1), is_small(c0), is_small(c1))},
                   {"div_of_mod", floor_div(floor_mod(x, c0), c1), floor_mod(floor_div(x, c1), floor_div(c0, c1)),
                    both(zero < c0, zero < c1, divides(c1, c0))},
                   {"div_by_minus_one", floor_div(x, imm(-1)), x * imm(-1)},
                   {"div_of_product", floor_div(x * y, y), x, logical_or(zero < y, y < zero)},

                   {"mod_of_sum", floor_mod(x * c0 + y, c1), floor_mod(y, c1), divides(c1, c0)},
                   {"mod_keeps_low_digits", floor_mod(x * c0 + y, c1), floor_mod(x, floor_div(c1, c0)) * c0 + y,
                    both(zero < c1, both(one < c0, divides(c0, c1)), is_digit(y, c0))},
                   {"mod_of_mod", floor_mod(floor_mod(x, c0) * c2 + y, c1), floor_mod(x * c2 + y, c1),
                    both(both(ne(c0, zero), is_small(c0)), is_small(c2), divides(c1, c0 * c2))},
                   {"mod_by_minus_one", floor_mod(x, imm(-1)), zero},
                   {"mod_of_product", floor_mod(x * y, y), zero, logical_or(zero < y, y < zero)},

                   {"div_rounds_down", x / y, floor_div(x, y), both(zero <= x, zero < y)},
               });
}

void add_min_max_rules(std::vector<Rule>& rules, const PatternVars& v) {
  const auto& [x, y, z, any, other, n, p, q, c0, c1, c2, c3] = v;
  rules.insert(rules.end(), {
                                {"min_is_left", min(x, y), x, x <= y},
                                {"min_is_right", min(x, y), y, y <= x},
                                {"min_of_min", min(min(x, y), y), min(x, y)},
                                {"min_of_max", min(max(x, y), y), y},
                                {"min_gathers_constants", min(min(x, c0), c1), min(x, min(c0, c1))},
                                {"min_of_same", min(n, n), n},
                                {"max_is_left", max(x, y), x, y <= x},
                                {"max_is_right", max(x, y), y, x <= y},
                                {"max_of_max", max(max(x, y), y), max(x, y)},
                                {"max_of_min", max(min(x, y), y), y},
                                {"max_gathers_constants", max(max(x, c0), c1), max(x, max(c0, c1))},
                                {"max_of_same", max(n, n), n},
                            });
}

void add_comparison_rules(std::vector<Rule>& rules, const PatternVars& v) {
  const auto& [x, y, z, any, other, n, p, q, c0, c1, c2, c3] = v;
  const Expr one = imm(1);
  const Expr is_coarse = both(one < c0, divides(c0, c1), is_digit(y, c0));
  rules.insert(rules.end(), {
                                {"lt_drops_low_digits", x * c0 + y < c1, x < floor_div(c1, c0), is_coarse},
                                {"le_drops_low_digits", c1 <= x * c0 + y, floor_div(c1, c0) <= x, is_coarse},
                                {"eq_of_same", eq(n, n), boolean(true)},
                                {"ne_of_same", ne(n, n), boolean(false)},
                                {"lt_of_same", n < n, boolean(false)},
                                {"le_of_same", n <= n, boolean(true)},
                            });
}

void add_logic_rules(std::vector<Rule>& rules, const PatternVars& vars) {
  const auto& [x, y, z, v, w, n, p, q, c0, c1, c2, c3] = vars;
  const Expr yes = boolean(true), no = boolean(false);
  rules.insert(rules.end(), {
                                {"and_true", logical_and(p, yes), p},
                                {"and_false", logical_and(p, no), no},
                                {"and_of_same", logical_and(p, p), p},
                                {"and_of_opposite", logical_and(p, logical_not(p)), no},
                                {"and_of_and", logical_and(logical_and(p, q), q), logical_and(p, q)},
                                {"and_of_upper_bounds", logical_and(x < c0, x < c1), x < min(c0, c1)},
                                {"and_of_lower_bounds", logical_and(c0 <= x, c1 <= x), max(c0, c1) <= x},
                                {"or_true", logical_or(p, yes), yes},
                                {"or_false", logical_or(p, no), p},
                                {"or_of_same", logical_or(p, p), p},
                                {"or_of_opposite", logical_or(p, logical_not(p)), yes},
                                {"or_of_or", logical_or(logical_or(p, q), q), logical_or(p, q)},
                                {"or_of_upper_bounds", logical_or(x < c0, x < c1), x < max(c0, c1)},
                                {"or_of_lower_bounds", logical_or(c0 <= x, c1 <= x), min(c0, c1) <= x},
                                {"not_not", logical_not(logical_not(p)), p},
                                {"not_lt", logical_not(x < y), y <= x},
                                {"not_le", logical_not(x <= y), y < x},
                                {"not_eq", logical_not(eq(v, w)), ne(v, w)},
                                {"not_ne", logical_not(ne(v, w)), eq(v, w)},
                                {"select_true", select(yes, v, w), v},
                                {"select_false", select(no, v, w), w},
                                {"select_of_same", select(p, v, v), v},
                                {"select_on_not", select(logical_not(p), v, w), select(p, w, v)},
                                {"select_is_condition", select(p, yes, no), p},
                                {"select_is_opposite", select(p, no, yes), logical_not(p)},
                            });
}

/// Identities of every type: integers wrap, floats keep signed zeros and NaN.
void add_identity_rules(std::vector<Rule>& rules, const PatternVars& vars) {
  const auto& [x, y, z, v, w, n, p, q, c0, c1, c2, c3] = vars;
  const Expr zero = imm(0), one = imm(1);
  rules.insert(rules.end(), {
                                {"add_zero", n + zero, n},
                                {"sub_zero", v - zero, v},
                                {"sub_of_same", n - n, zero},
                                {"mul_one", v * one, v},
                                {"mul_zero", n * zero, zero},
                                {"div_one", v / one, v},
                                {"floor_div_one", floor_div(n, one), n},
                                {"floor_mod_one", floor_mod(n, one), zero},
                            });
}

}  // namespace

std::span<const Rule> simplify_rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    add_division_rules(all, pattern_vars());
    add_min_max_rules(all, pattern_vars());
    add_comparison_rules(all, pattern_vars());
    add_logic_rules(all, pattern_vars());
    add_identity_rules(all, pattern_vars());
    return all;
  }();
  return rules;
}

}  // namespace hone::ir
