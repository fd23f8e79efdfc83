#include "hone/schedule/index_map.h"

#include <algorithm>

#include "hone/ir/interval.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Maps that are not sums of digits are tried out on tensors of at most this many elements.
constexpr std::int64_t kMostTried = 1 << 16;
/// scale · ((var // lower) % extent): some digits of a variable, at some place of a sum.
struct MapDigit {
  std::size_t var;
  std::int64_t lower, extent, scale;
};

/// Reads expressions as sums of digits.
class DigitReader {
 public:
  DigitReader(const IndexMap& map, const std::vector<std::int64_t>& shape) : map_(map), shape_(shape) {}

  /// Appends the digits of `e`, which is multiplied by `scale`; false if it is no sum of digits.
  bool read(const Expr& e, std::int64_t scale, std::vector<MapDigit>& digits) const {
    if (e.as<IntImm>()) return true;
    if (e.as<Var>()) {
      const std::size_t place = place_of(e);
      digits.push_back({place, 1, shape_[place], scale});
      return true;
    }
    if (const Add* node = e.as<Add>()) return read(node->a, scale, digits) && read(node->b, scale, digits);
    if (const Mul* node = e.as<Mul>()) {
      const bool is_left = node->a.as<IntImm>() != nullptr;
      const std::optional<std::int64_t> by = as_int(is_left ? node->a : node->b);
      if (!by || *by < 1 || *by > kLargestMapNumber / scale) return false;
      return read(is_left ? node->b : node->a, scale * *by, digits);
    }
    if (const FloorDiv* node = e.as<FloorDiv>())
      return read_part(node->a, constant_value(node->b), true, scale, digits);
    if (const FloorMod* node = e.as<FloorMod>())
      return read_part(node->a, constant_value(node->b), false, scale, digits);
    return false;
  }

 private:
  std::size_t place_of(const Expr& variable) const {
    const auto found =
        std::find_if(map_.vars.begin(), map_.vars.end(), [&](const Expr& known) { return known.is(variable); });
    return static_cast<std::size_t>(found - map_.vars.begin());
  }

  /// The upper (e // by) or lower (e % by) part of a single digit.
  bool read_part(const Expr& e, std::int64_t by, bool upper, std::int64_t scale, std::vector<MapDigit>& digits) const {
    std::vector<MapDigit> inner;
    const bool is_digit = e.as<Var>() || e.as<FloorDiv>() || e.as<FloorMod>();
    if (!is_digit || !read(e, 1, inner)) return false;
    MapDigit digit = inner[0];
    digit.scale = scale;
    const bool is_topmost = digit.lower * digit.extent >= shape_[digit.var];
    if (!is_topmost && digit.extent % by != 0 && by < digit.extent) return false;
    if (upper) digit.lower *= by;
    digit.extent = upper ? (digit.extent + by - 1) / by : std::min(digit.extent, by);
    digits.push_back(digit);
    return true;
  }

  const IndexMap& map_;
  const std::vector<std::int64_t>& shape_;
};

/// Whether the sum tells each of its digits.
bool can_tell_apart(std::vector<MapDigit> digits) {
  std::sort(digits.begin(), digits.end(), [](const MapDigit& a, const MapDigit& b) { return a.scale < b.scale; });
  std::int64_t reach = 0;  // the largest value of the digits so far
  for (const MapDigit& digit : digits) {
    if (digit.extent == 1) continue;
    if (digit.scale <= reach) return false;
    if (digit.extent > kLargestMapNumber / digit.scale) return false;
    reach += digit.scale * (digit.extent - 1);
  }
  return true;
}

/// Whether the digits of a variable, all told, give the variable.
bool cover(const std::vector<MapDigit>& digits, std::size_t variable, std::int64_t extent) {
  std::int64_t known = 1;  // the variable is known modulo this
  while (known < extent) {
    std::int64_t best = 1;
    for (const MapDigit& digit : digits)
      if (digit.var == variable && digit.lower == known) best = std::max(best, digit.extent);
    if (best == 1) return false;
    known *= best;
  }
  return true;
}

std::int64_t evaluate(const Expr& e, const IndexMap& map, const std::vector<std::int64_t>& values) {
  const auto binary = [&](const auto& node) {
    return std::pair(evaluate(node.a, map, values), evaluate(node.b, map, values));
  };
  if (const IntImm* node = e.as<IntImm>()) return node->value;
  if (const Add* node = e.as<Add>()) {
    const auto [a, b] = binary(*node);
    return a + b;
  }
  if (const Sub* node = e.as<Sub>()) {
    const auto [a, b] = binary(*node);
    return a - b;
  }
  if (const Mul* node = e.as<Mul>()) {
    const auto [a, b] = binary(*node);
    return a * b;
  }
  if (const FloorDiv* node = e.as<FloorDiv>()) {
    const auto [a, b] = binary(*node);
    return (a - ((a % b) + b) % b) / b;
  }
  if (const FloorMod* node = e.as<FloorMod>()) {
    const auto [a, b] = binary(*node);
    return ((a % b) + b) % b;
  }
  for (std::size_t i = 0; i < map.vars.size(); ++i)
    if (map.vars[i].is(e)) return values[i];
  HONE_CHECK(false, "{} in an index map", to_string(e.kind()));
  return 0;
}

/// Maps every element of a small tensor.
bool is_injective_by_trial(const IndexMap& map, const std::vector<std::int64_t>& shape,
                           const std::vector<std::int64_t>& mapped) {
  std::vector<std::int64_t> places;
  std::vector<std::int64_t> element(shape.size(), 0);
  for (bool is_done = false; !is_done;) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < mapped.size(); ++i) place = place * mapped[i] + evaluate(map.exprs[i], map, element);
    places.push_back(place);
    std::size_t axis = shape.size();
    while (axis > 0 && ++element[axis - 1] == shape[axis - 1]) element[--axis] = 0;
    is_done = axis == 0;
  }
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end();
}

}  // namespace

std::vector<Expr> apply(const IndexMap& map, const std::vector<Expr>& indices) {
  Substitution values;
  for (std::size_t i = 0; i < map.vars.size(); ++i) values.emplace_back(map.vars[i], indices[i]);
  std::vector<Expr> mapped;
  for (const Expr& e : map.exprs) mapped.push_back(substitute(e, values));
  return mapped;
}

Result<std::vector<std::int64_t>> mapped_shape(const IndexMap& map, const std::vector<std::int64_t>& shape) {
  if (map.vars.size() != shape.size())
    return error(ErrorCode::IllegalStep, "the index map has {} variables, allowed are {}, one per axis",
                 map.vars.size(), shape.size());
  Bounds bounds;
  for (std::size_t i = 0; i < shape.size(); ++i) bounds.add(map.vars[i], {0, std::max<std::int64_t>(shape[i], 1) - 1});
  std::vector<std::int64_t> mapped;
  std::int64_t size = 1;
  for (const Expr& e : map.exprs) {
    bool is_small = true;
    walk(e, [&](const Expr& part) {
      const Interval values = bounds_of(part, bounds);
      is_small = is_small && values.min >= -kLargestMapNumber && values.max <= kLargestMapNumber;
    });
    const Interval values = bounds_of(e, bounds);
    if (!is_small || values.max + 1 > kLargestMapNumber / size)
      return error(ErrorCode::IllegalStep, "'{}' in the index map is too large, allowed are {} elements", to_text(e),
                   kLargestMapNumber);
    if (values.min < 0)
      return error(ErrorCode::IllegalStep, "'{}' in the index map can be {}, allowed are indices from 0", to_text(e),
                   values.min);
    mapped.push_back(values.max + 1);
    size *= mapped.back();
  }
  return mapped;
}

bool is_injective(const IndexMap& map, const std::vector<std::int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  const DigitReader reader(map, shape);
  std::vector<MapDigit> told;
  for (const Expr& e : map.exprs) {
    std::vector<MapDigit> digits;
    if (reader.read(e, 1, digits) && can_tell_apart(digits)) told.insert(told.end(), digits.begin(), digits.end());
  }
  bool is_covered = true;
  for (std::size_t i = 0; i < shape.size(); ++i) is_covered = is_covered && cover(told, i, shape[i]);
  if (is_covered) return true;

  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size = extent > kMostTried / size ? kMostTried + 1 : size * extent;
  const Result<std::vector<std::int64_t>> mapped = mapped_shape(map, shape);
  return mapped && size <= kMostTried && is_injective_by_trial(map, shape, *mapped);
}

}  // namespace hone::schedule
