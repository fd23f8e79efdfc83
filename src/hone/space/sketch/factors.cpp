#include "hone/space/sketch/factors.h"

#include <algorithm>

namespace hone::space {
namespace {

void extend(Factors& chosen, std::int64_t rest, std::size_t parts, std::int64_t max_innermost,
            std::vector<Factors>& found) {
  if (chosen.size() == parts) {
    found.push_back(chosen);
    return;
  }
  for (const std::int64_t factor : divisors(rest)) {
    if (chosen.size() + 1 == parts && factor > max_innermost) break;
    chosen.push_back(factor);
    extend(chosen, rest / factor, parts, max_innermost, found);
    chosen.pop_back();
  }
}

}  // namespace

Factors divisors(std::int64_t number) {
  Factors small, large;
  for (std::int64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    small.push_back(i);
    if (i * i != number) large.push_back(number / i);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

std::vector<Factors> factorizations(std::int64_t extent, std::size_t parts, std::int64_t max_innermost) {
  std::vector<Factors> found;
  Factors chosen;
  extend(chosen, extent, parts, max_innermost, found);
  return found;
}

Factors block_sizes(std::int64_t count) {
  Factors sizes = divisors(count);
  for (std::int64_t power = 1; power <= count; power *= 2) sizes.push_back(power);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<Factors> thinned(std::vector<Factors> options, std::size_t most) {
  if (options.size() <= most) return options;
  std::vector<Factors> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(std::move(options[i * options.size() / most]));
  return kept;
}

}  // namespace hone::space
