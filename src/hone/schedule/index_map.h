/// Index maps: another order for the elements of a buffer, written as "(k, n) -> (n // 16, k, n % 16)".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hone/ir/expr.h"
#include "hone/support/result.h"

namespace hone::schedule {

/// Numbers in a map, and the elements of a mapped tensor, stay below this, far from overflow.
inline constexpr std::int64_t kLargestMapNumber = std::int64_t{1} << 40;

/// Where an element goes: one variable per old axis, one expression over them per new axis.
struct IndexMap {
  std::vector<ir::Expr> vars;
  std::vector<ir::Expr> exprs;
};

/// Reads "(names) -> (expressions)": + - * // %, parentheses, whole numbers and the names; divisors are positive whole
/// numbers. An error names the column, what was found there and what is allowed.
Result<IndexMap> parse_index_map(std::string_view text);

/// The new indices of an element.
std::vector<ir::Expr> apply(const IndexMap& map, const std::vector<ir::Expr>& indices);

/// The smallest shape that holds every mapped element of a tensor of the old shape. An index that can be negative, a
/// wrong number of axes, or numbers too large are errors.
Result<std::vector<std::int64_t>> mapped_shape(const IndexMap& map, const std::vector<std::int64_t>& shape);

/// Whether no two elements of a tensor of this shape go to one place; false if that cannot be shown.
bool is_injective(const IndexMap& map, const std::vector<std::int64_t>& shape);

}  // namespace hone::schedule
