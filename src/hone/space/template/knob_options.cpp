#include "hone/space/template/knob_options.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>
#include <string>

namespace hone::space {
namespace {

using Places = std::vector<std::int64_t>;

/// More options than this are a mistake: nobody could search them.
constexpr std::size_t kMostListed = 200'000;

Factors factors_of_policy(std::int64_t extent, const SplitRule& rule) {
  Factors factors;
  if (rule.policy != SplitPolicy::PowersOfTwo) factors = divisors(extent);
  if (rule.policy != SplitPolicy::Divisors)
    for (std::int64_t power = 1; power <= extent; power *= 2) factors.push_back(power);
  std::erase_if(factors, [&](std::int64_t factor) { return factor > rule.max_factor; });
  std::sort(factors.begin(), factors.end());
  factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
  return factors;
}

/// Lists all options whose inner factors, outer to inner, end in `chosen`.
class SplitEnumeration {
 public:
  SplitEnumeration(std::int64_t extent, const SplitRule& rule)
      : extent_(extent),
        factors_(factors_of_policy(extent, rule)),
        parts_(rule.outputs - 1),
        has_tails_(rule.tails == Tails::ByPolicy ? rule.policy != SplitPolicy::Divisors
                                                 : rule.tails == Tails::Allowed) {}

  std::vector<Factors> run() {
    extend({}, 1);
    return std::move(found_);
  }

 private:
  void extend(const Factors& chosen, std::int64_t product) {  // NOLINT(misc-no-recursion): as deep as there are loops
    if (found_.size() > kMostListed) return;
    if (chosen.size() == parts_) {
      const bool is_exact = extent_ % product == 0;
      if (!is_exact && !(has_tails_ && product < extent_)) return;
      Factors option = {kRemaining};
      option.insert(option.end(), chosen.rbegin(), chosen.rend());
      found_.push_back(std::move(option));
      return;
    }
    for (const std::int64_t factor : factors_) {
      if (factor > extent_ / product) break;
      Factors longer = chosen;
      longer.push_back(factor);
      extend(longer, product * factor);
    }
  }

  std::int64_t extent_;
  Factors factors_;
  std::size_t parts_;
  bool has_tails_;
  std::vector<Factors> found_;
};

Result<void> check_permutation(const Places& places, std::size_t axes) {
  Places sorted = places;
  std::sort(sorted.begin(), sorted.end());
  Places all(axes);
  std::iota(all.begin(), all.end(), 0);
  if (sorted == all) return {};
  return error(ErrorCode::InvalidArgument, "reorder: {} is no order of the axes 0..{}", fmt::format("{}", places),
               static_cast<std::int64_t>(axes) - 1);
}

/// Merges chains into one: the next place is always taken from the chain with most left, the first one of equals.
Places merged(std::vector<Places> chains) {
  Places order;
  for (;;) {
    const auto longest = std::max_element(chains.begin(), chains.end(),
                                          [](const Places& a, const Places& b) { return a.size() < b.size(); });
    if (longest == chains.end() || longest->empty()) return order;
    order.push_back(longest->front());
    longest->erase(longest->begin());
  }
}

Result<Places> interleaved(const ReorderRule& rule) {
  std::vector<Places> outer, inner;
  Places last;
  for (const Places& chain : rule.spatial) {
    if (chain.empty()) return error(ErrorCode::InvalidArgument, "reorder: a spatial chain is empty");
    outer.emplace_back(chain.begin(), chain.end() - 1);
    inner.push_back({chain.back()});
    last.push_back(chain.back());
  }
  Places order = merged(std::move(outer));
  const auto append = [&](const Places& more) { order.insert(order.end(), more.begin(), more.end()); };
  if (rule.policy == ReorderPolicy::InterleaveCuda) {
    append(merged(rule.reduced));
    append(last);
  } else {
    inner.insert(inner.end(), rule.reduced.begin(), rule.reduced.end());
    append(merged(std::move(inner)));
  }
  return order;
}

/// All orders of the places in [begin, end), the others where they are.
Result<std::vector<Places>> permutations(std::size_t axes, std::size_t begin, std::size_t end) {
  constexpr std::size_t kMostPermuted = 8;
  if (begin > end || end > axes)
    return error(ErrorCode::InvalidArgument, "reorder: the interval {}..{} is not within the axes 0..{}", begin, end,
                 axes);
  if (end - begin > kMostPermuted)
    return error(ErrorCode::InvalidArgument, "reorder: {} axes have too many orders, allowed are at most {}",
                 end - begin, kMostPermuted);
  Places order(axes);
  std::iota(order.begin(), order.end(), 0);
  const auto from = order.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto to = order.begin() + static_cast<std::ptrdiff_t>(end);
  std::vector<Places> all;
  do all.push_back(order);
  while (std::next_permutation(from, to));
  return all;
}

constexpr std::int64_t number_of(Mark mark) { return static_cast<std::int64_t>(mark); }

/// The marks of a GPU's indices for so many loops; those before are fused with the next.
Result<std::vector<Places>> gpu_marks(std::size_t loops, bool has_virtual) {
  const Mark blocks[] = {Mark::BlockZ, Mark::BlockY, Mark::BlockX};
  const Mark threads[] = {Mark::ThreadZ, Mark::ThreadY, Mark::ThreadX};
  const std::size_t kinds = has_virtual ? 3 : 2;
  const std::size_t axes = std::min<std::size_t>(3, loops / kinds);
  if (axes == 0)
    return error(ErrorCode::InvalidArgument, "annotate: {} loops are too few for a GPU, needed are {}", loops, kinds);
  Places marks(loops - axes * kinds, number_of(Mark::Fuse));
  for (std::size_t i = 3 - axes; i < 3; ++i) marks.push_back(number_of(blocks[i]));
  if (has_virtual) marks.insert(marks.end(), axes, number_of(Mark::Virtual));
  for (std::size_t i = 3 - axes; i < 3; ++i) marks.push_back(number_of(threads[i]));
  return std::vector<Places>{marks};
}

Result<Places> marks_of(std::string_view policy) {
  Places marks;
  for (std::size_t begin = 0; begin <= policy.size();) {
    const std::size_t end = std::min(policy.find('_', begin), policy.size());
    const std::string_view word = policy.substr(begin, end - begin);
    if (word == "none" || word == "try") {
      marks.push_back(number_of(Mark::None));
    } else if (word == "unroll") {
      marks.push_back(number_of(Mark::Unroll));
    } else if (word == "vec") {
      marks.push_back(number_of(Mark::Vectorize));
    } else {
      return error(ErrorCode::InvalidArgument,
                   "annotate: '{}' of the policy '{}' is not known, allowed are bind_gpu, bind_gpu_virtual, or try, "
                   "none, unroll and vec joined by _",
                   word, policy);
    }
    begin = end + 1;
  }
  return marks;
}

}  // namespace

Result<std::vector<Factors>> split_options(std::int64_t extent, const SplitRule& rule) {
  if (extent < 1) return error(ErrorCode::InvalidArgument, "split: the extent {} is below 1", extent);
  if (rule.outputs < 1) return error(ErrorCode::InvalidArgument, "split: the number of outputs is 0, allowed is 1..");
  std::vector<Factors> options = rule.candidates;
  if (rule.policy != SplitPolicy::Candidates) options = SplitEnumeration(extent, rule).run();
  if (options.size() > kMostListed)
    return error(ErrorCode::InvalidArgument, "split: a loop of {} iterations has more than {} splits into {} loops",
                 extent, kMostListed, rule.outputs);
  for (const Factors& option : rule.candidates) {
    const bool is_whole = option.size() == rule.outputs && option[0] == kRemaining &&
                          std::all_of(option.begin() + 1, option.end(), [](std::int64_t f) { return f >= 1; });
    if (!is_whole)
      return error(ErrorCode::InvalidArgument, "split: candidate {} must be -1 and {} factors from 1 on",
                   fmt::format("{}", option), rule.outputs - 1);
  }
  if (rule.keep) std::erase_if(options, [&](const Factors& option) { return !rule.keep(option); });
  if (options.empty())
    return error(ErrorCode::InvalidArgument, "split: of a loop of {} iterations the rule leaves no split into {} loops",
                 extent, rule.outputs);
  return options;
}

std::size_t fallback_split(const std::vector<Factors>& options, const Factors& limits) {
  std::optional<std::size_t> best;
  const auto is_larger = [](const Factors& a, const Factors& b) {
    return std::lexicographical_compare(b.rbegin(), b.rend(), a.rbegin(), a.rend());
  };
  for (std::size_t i = 0; i < options.size(); ++i) {
    bool is_within = true;
    for (std::size_t k = 1; k < std::min(options[i].size(), limits.size()); ++k)
      is_within &= limits[k] == kRemaining || options[i][k] <= limits[k];
    if (is_within && (!best || is_larger(options[i], options[*best]))) best = i;
  }
  return best.value_or(0);
}

Result<std::vector<std::vector<std::int64_t>>> reorder_options(std::size_t axes, const ReorderRule& rule) {
  switch (rule.policy) {
    case ReorderPolicy::Identity:
      return permutations(axes, 0, 0);
    case ReorderPolicy::All:
      return permutations(axes, 0, axes);
    case ReorderPolicy::Interval:
      return permutations(axes, rule.interval.first, rule.interval.second);
    case ReorderPolicy::Candidates:
      if (rule.candidates.empty()) return error(ErrorCode::InvalidArgument, "reorder: no candidate is listed");
      for (const Places& order : rule.candidates) HONE_TRY(check_permutation(order, axes));
      return rule.candidates;
    case ReorderPolicy::Interleave:
    case ReorderPolicy::InterleaveCuda:
      break;
  }
  HONE_TRY(Places order, interleaved(rule));
  HONE_TRY(check_permutation(order, axes));
  return std::vector<Places>{std::move(order)};
}

Result<std::vector<std::vector<std::int64_t>>> annotate_options(std::size_t loops, std::string_view policy) {
  if (policy == "bind_gpu") return gpu_marks(loops, /*has_virtual=*/false);
  if (policy == "bind_gpu_virtual") return gpu_marks(loops, /*has_virtual=*/true);
  HONE_TRY(const Places marks, marks_of(policy));
  std::vector<Places> options = {{}};
  for (std::size_t loop = 0; loop < loops; ++loop) {
    std::vector<Places> longer;
    for (const Places& option : options)
      for (const std::int64_t mark : marks) {
        const bool is_second_vector =
            mark == number_of(Mark::Vectorize) && std::find(option.begin(), option.end(), mark) != option.end();
        if (is_second_vector) continue;
        longer.push_back(option);
        longer.back().push_back(mark);
      }
    if (longer.size() > kMostListed)
      return error(ErrorCode::InvalidArgument, "annotate: {} loops can be marked in more than {} ways", loops,
                   kMostListed);
    options = std::move(longer);
  }
  if (options.empty())
    return error(ErrorCode::InvalidArgument, "annotate: the policy '{}' leaves nothing for {} loops", policy, loops);
  return options;
}

Result<std::vector<std::vector<std::int64_t>>> locate_options(std::size_t loops, std::size_t anchors) {
  if (anchors > loops || loops > 30)
    return error(ErrorCode::InvalidArgument,
                 "locate: {} anchors at {} loops, allowed are as many as loops and 30 loops", anchors, loops);
  std::vector<bool> is_chosen(loops, false);
  std::fill(is_chosen.begin(), is_chosen.begin() + static_cast<std::ptrdiff_t>(anchors), true);
  std::vector<Places> options;
  do {
    Places places;
    for (std::size_t i = 0; i < loops; ++i)
      if (is_chosen[i]) places.push_back(static_cast<std::int64_t>(i));
    options.push_back(std::move(places));
  } while (options.size() <= kMostListed && std::prev_permutation(is_chosen.begin(), is_chosen.end()));
  return options;
}

}  // namespace hone::space
