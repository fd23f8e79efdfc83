#include "hone/space/explain.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "hone/ir/equal.h"
#include "hone/space/candidate.h"

namespace hone::space {
namespace {

/// An error without what differs from one candidate to the next.
std::string reason_of(const std::string& message) {
  std::string reason;
  bool is_quoted = false, is_number = false;
  for (const char c : message) {
    if (c == '\'') {
      is_quoted = !is_quoted;
      if (is_quoted) reason += "'…'";
      continue;
    }
    if (is_quoted) continue;
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && !is_number) reason += '#';
    if (!is_digit) reason += c;
    is_number = is_digit;
  }
  return reason;
}

}  // namespace

Explanation explain(const Space& space, std::size_t count, Rng& rng) {
  Explanation explanation;
  const std::uint64_t size = size_of(space);
  explanation.is_all = size <= count;
  if (explanation.is_all) count = size;
  std::set<ir::Hash128> programs;
  for (; explanation.drawn < count; ++explanation.drawn) {
    const Candidate candidate =
        explanation.is_all ? candidate_at(space, explanation.drawn) : random_candidate(space, rng);
    const Result<schedule::Schedule> built = space.build(candidate);
    if (built) {
      ++explanation.built;
      programs.insert(ir::structural_hash(built->program()));
    } else {
      ++explanation.rejected[reason_of(built.error().message)];
    }
  }
  explanation.programs = programs.size();
  return explanation;
}

std::string Explanation::to_text() const {
  std::vector<std::pair<std::size_t, std::string>> reasons;
  for (const auto& [reason, count] : rejected) reasons.emplace_back(count, reason);
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = fmt::format("{} of {} candidates {} can be built, and are {} different programs\n", built, drawn,
                                 is_all ? "in all" : "drawn at random", programs);
  for (const auto& [count, reason] : reasons) text += fmt::format("{:>8}  {}\n", count, reason);
  return text;
}

}  // namespace hone::space
