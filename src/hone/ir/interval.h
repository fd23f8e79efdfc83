/// Interval analysis: which values an integer expression can take.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hone/ir/stmt.h"

namespace hone::ir {

/// All integers from `min` to `max`, both included. The extreme values of int64 stand for "no bound". Empty if min >
/// max.
struct Interval {
  static constexpr std::int64_t kNoMin = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kNoMax = std::numeric_limits<std::int64_t>::max();

  std::int64_t min = kNoMin, max = kNoMax;

  bool operator==(const Interval&) const = default;
  bool is_empty() const { return min > max; }
  bool is_single() const { return min == max; }
  bool is_bounded() const { return min != kNoMin && max != kNoMax; }
  bool contains(std::int64_t value) const { return min <= value && value <= max; }
};

/// The results of an operation on any value of `a` and any value of `b`. Bounds that do not fit into int64 become "no
/// bound". A divisor of zero gives no result, so it is left out.
Interval operator+(Interval a, Interval b);
Interval operator-(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval floor_div(Interval a, Interval b);
Interval floor_mod(Interval a, Interval b);
/// The quotient cut towards zero.
Interval truncated_div(Interval a, Interval b);
Interval min(Interval a, Interval b);
Interval max(Interval a, Interval b);
/// The smallest interval that contains both.
Interval unite(Interval a, Interval b);
/// The values in both.
Interval intersect(Interval a, Interval b);

/// What is known of variables: a short list, later entries first.
class Bounds {
 public:
  Bounds() = default;
  /// [0, extent) for a loop or iteration variable; nothing but "not negative" is learnt if the extent has no upper
  /// bound. The extent may depend on variables known already.
  void add_extent(const Expr& var, const Expr& extent);
  void add(const Expr& var, Interval values) { known_.emplace_back(var, values); }
  void remove_last() { known_.pop_back(); }
  Interval of(const Expr& var) const;
  bool has(const Expr& var) const;
  /// The entries in the order they were added.
  const std::vector<std::pair<Expr, Interval>>& entries() const { return known_; }

 private:
  std::vector<std::pair<Expr, Interval>> known_;
};

/// Values that contain every result of `e` (any lane) while the variables keep to `bounds`.
Interval bounds_of(const Expr& e, const Bounds& bounds);

}  // namespace hone::ir
