#include "hone/space/candidate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace hone::space {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a > kMost - b ? kMost : a + b; }
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return b != 0 && a > kMost / b ? kMost : a * b; }

std::size_t draw(std::size_t count, Rng& rng) {
  return static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(count) - 1));
}

std::string names_of(const std::vector<Sketch>& sketches) {
  std::vector<std::string> names;
  for (const Sketch& sketch : sketches) names.push_back(sketch.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<std::size_t> find_sketch(const Space& space, const StoredCandidate& stored) {
  for (std::size_t i = 0; i < space.sketches().size(); ++i)
    if (space.name_of(i) == stored.space && space.sketches()[i].name == stored.sketch) return i;
  return std::nullopt;
}

/// How unlike two options are: factors count by their ratio.
double distance(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto size = [](std::int64_t v) { return std::log2(1 + std::fabs(static_cast<double>(v))); };
    sum += std::fabs(size(a[i]) - size(b[i])) + ((a[i] < 0) != (b[i] < 0) ? 1 : 0);
  }
  return sum;
}

}  // namespace

std::uint64_t size_of(const Sketch& sketch) {
  std::uint64_t size = 1;
  for (const Knob& knob : sketch.knobs) size = times(size, knob.options.size());
  return size;
}

std::uint64_t size_of(const Space& space) {
  std::uint64_t size = 0;
  for (const Sketch& sketch : space.sketches()) size = add(size, size_of(sketch));
  return size;
}

Candidate candidate_at(const Space& space, std::uint64_t index) {
  Candidate candidate;
  const std::vector<Sketch>& sketches = space.sketches();
  while (candidate.sketch + 1 < sketches.size() && index >= size_of(sketches[candidate.sketch]))
    index -= size_of(sketches[candidate.sketch++]);
  for (const Knob& knob : sketches[candidate.sketch].knobs) {
    candidate.choices.push_back(index % knob.options.size());
    index /= knob.options.size();
  }
  return candidate;
}

std::uint64_t index_of(const Space& space, const Candidate& candidate) {
  std::uint64_t index = 0;
  const std::vector<Knob>& knobs = space.sketches()[candidate.sketch].knobs;
  for (std::size_t i = knobs.size(); i-- > 0;) index = add(times(index, knobs[i].options.size()), candidate.choices[i]);
  for (std::size_t i = 0; i < candidate.sketch; ++i) index = add(index, size_of(space.sketches()[i]));
  return index;
}

std::string_view algorithm_of(const Sketch& sketch) {
  return std::string_view(sketch.name).substr(0, sketch.name.find(' '));
}

Decisions decisions_of(const Sketch& sketch, const std::vector<std::size_t>& choices) {
  Decisions decisions;
  for (std::size_t i = 0; i < sketch.knobs.size(); ++i)
    decisions.emplace(sketch.knobs[i].name, sketch.knobs[i].options[choices[i]]);
  return decisions;
}

Candidate random_candidate(const Space& space, Rng& rng) {
  Candidate candidate{.sketch = draw(space.sketches().size(), rng)};
  for (const Knob& knob : space.sketches()[candidate.sketch].knobs)
    candidate.choices.push_back(draw(knob.options.size(), rng));
  return candidate;
}

Candidate mutate(const Space& space, const Candidate& candidate, Rng& rng) {
  const std::vector<Knob>& knobs = space.sketches()[candidate.sketch].knobs;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    if (knobs[i].options.size() > 1) open.push_back(i);
  Candidate changed = candidate;
  if (open.empty()) return changed;
  const std::size_t knob = rng.choose(open);
  const std::size_t other = draw(knobs[knob].options.size() - 1, rng);
  changed.choices[knob] = other < candidate.choices[knob] ? other : other + 1;
  return changed;
}

std::string_view stage_of(const Knob& knob) { return std::string_view(knob.name).substr(0, knob.name.find('.')); }

Candidate cross(const Space& space, const Candidate& a, const Candidate& b, Rng& rng) {
  const std::vector<Knob>& knobs = space.sketches()[a.sketch].knobs;
  Candidate child = a;
  std::map<std::string_view, bool> is_from_b;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const auto [stage, is_new] = is_from_b.try_emplace(stage_of(knobs[i]));
    if (is_new) stage->second = rng.chance(0.5);
    if (stage->second) child.choices[i] = b.choices[i];
  }
  return child;
}

std::vector<Candidate> neighbours(const Space& space, const Candidate& candidate, std::size_t radius) {
  const std::vector<Knob>& knobs = space.sketches()[candidate.sketch].knobs;
  std::vector<Candidate> near;
  for (std::size_t step = 1; step <= radius; ++step)
    for (std::size_t i = 0; i < knobs.size(); ++i) {
      Candidate next = candidate;
      if (candidate.choices[i] >= step) {
        next.choices[i] = candidate.choices[i] - step;
        near.push_back(next);
      }
      if (candidate.choices[i] + step < knobs[i].options.size()) {
        next.choices[i] = candidate.choices[i] + step;
        near.push_back(next);
      }
    }
  return near;
}

std::string to_json(const Space& space, const Candidate& candidate) {
  const Sketch& sketch = space.sketches()[candidate.sketch];
  json decisions = json::object();
  for (const auto& [knob, values] : decisions_of(sketch, candidate.choices)) decisions[knob] = values;
  return json{{"space", space.name_of(candidate.sketch)}, {"sketch", sketch.name}, {"decisions", std::move(decisions)}}
      .dump();
}

Result<StoredCandidate> read_candidate(std::string_view text) {
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return error(ErrorCode::ParseError, "a candidate must be a JSON object, not '{}'", text);
  StoredCandidate stored;
  for (const auto& [field, into] : {std::pair{"space", &stored.space}, std::pair{"sketch", &stored.sketch}}) {
    const auto found = parsed.find(field);
    if (found == parsed.end() || !found->is_string())
      return error(ErrorCode::ParseError, "candidate: '{}' must be a string: {}", field, text);
    *into = found->get<std::string>();
  }
  const auto decisions = parsed.find("decisions");
  if (decisions == parsed.end() || !decisions->is_object())
    return error(ErrorCode::ParseError, "candidate: 'decisions' must be an object: {}", text);
  for (const auto& [name, values] : decisions->items()) {
    const bool is_list = values.is_array() &&
                         std::all_of(values.begin(), values.end(), [](const json& v) { return v.is_number_integer(); });
    if (!is_list)
      return error(ErrorCode::ParseError, "candidate: decision '{}' must be a list of whole numbers, not {}", name,
                   values.dump());
    stored.decisions.emplace(name, values.get<std::vector<std::int64_t>>());
  }
  return stored;
}

Result<Candidate> parse_candidate(const Space& space, std::string_view text) {
  HONE_TRY(const StoredCandidate stored, read_candidate(text));
  bool is_ours = false;
  for (std::size_t i = 0; i < space.sketches().size(); ++i) is_ours |= space.name_of(i) == stored.space;
  if (!is_ours)
    return error(ErrorCode::InvalidArgument, "candidate: it is of space '{}', not of '{}'", stored.space, space.name());
  const std::optional<std::size_t> sketch = find_sketch(space, stored);
  if (!sketch)
    return error(ErrorCode::InvalidArgument, "candidate: there is no sketch '{}', only: {}", stored.sketch,
                 names_of(space.sketches()));
  Candidate candidate{.sketch = *sketch};
  const std::vector<Knob>& knobs = space.sketches()[*sketch].knobs;
  if (stored.decisions.size() > knobs.size())
    return error(ErrorCode::InvalidArgument, "candidate: {} decisions, but sketch '{}' has {} knobs",
                 stored.decisions.size(), stored.sketch, knobs.size());
  for (const Knob& knob : knobs) {
    const auto decision = stored.decisions.find(knob.name);
    if (decision == stored.decisions.end())
      return error(ErrorCode::InvalidArgument, "candidate: nothing is decided for knob '{}'", knob.name);
    const std::vector<std::int64_t>& values = decision->second;
    const auto option = std::find(knob.options.begin(), knob.options.end(), values);
    if (option == knob.options.end())
      return error(ErrorCode::InvalidArgument, "candidate: knob '{}' has no option {}, only: {}", knob.name,
                   fmt::format("{}", values), fmt::format("{}", knob.options));
    candidate.choices.push_back(static_cast<std::size_t>(option - knob.options.begin()));
  }
  return candidate;
}

std::optional<Candidate> nearest_candidate(const Space& space, std::string_view text) {
  const Result<StoredCandidate> stored = read_candidate(text);
  if (!stored) return std::nullopt;
  const std::optional<std::size_t> sketch = find_sketch(space, *stored);
  if (!sketch) return std::nullopt;
  const Candidate first = space.first();
  Candidate candidate{.sketch = *sketch};
  const std::vector<Knob>& knobs = space.sketches()[*sketch].knobs;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    std::size_t choice = first.sketch == *sketch ? first.choices[i] : 0;
    if (const auto decision = stored->decisions.find(knobs[i].name); decision != stored->decisions.end()) {
      const std::vector<std::int64_t>& values = decision->second;
      const auto nearest =
          std::min_element(knobs[i].options.begin(), knobs[i].options.end(),
                           [&](const auto& a, const auto& b) { return distance(a, values) < distance(b, values); });
      if (std::isfinite(distance(*nearest, values)))
        choice = static_cast<std::size_t>(nearest - knobs[i].options.begin());
    }
    candidate.choices.push_back(choice);
  }
  return candidate;
}

std::optional<Candidate> Space::refit(std::span<const std::string> others) const {
  for (const std::string& other : others)
    if (const std::optional<Candidate> nearest = nearest_candidate(*this, other)) return nearest;
  return std::nullopt;
}

}  // namespace hone::space
