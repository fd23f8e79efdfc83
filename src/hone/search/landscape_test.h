/// Spaces and landscapes to try searches on; only tests include this.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "hone/search/search.h"
#include "hone/space/candidate.h"

namespace hone::search {

/// A space of nothing but knobs.
class Knobs : public Space {
 public:
  explicit Knobs(std::vector<space::Sketch> sketches) : sketches_(std::move(sketches)) {}

  std::string_view name() const override { return "knobs"; }
  const std::vector<space::Sketch>& sketches() const override { return sketches_; }
  Candidate first() const override { return {0, std::vector<std::size_t>(sketches_[0].knobs.size(), 0)}; }
  Result<schedule::Schedule> build(const Candidate&) const override {
    return error(ErrorCode::Unsupported, "there are no programs here");
  }

 private:
  std::vector<space::Sketch> sketches_;
};

/// A sketch whose knobs have so many options, each one number.
inline space::Sketch sketch_of(std::string name, const std::vector<std::size_t>& dims) {
  space::Sketch sketch{.name = std::move(name)};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    space::Knob knob{.name = "k" + std::to_string(i)};
    for (std::size_t option = 0; option < dims[i]; ++option)
      knob.options.push_back({static_cast<std::int64_t>(option)});
    sketch.knobs.push_back(std::move(knob));
  }
  return sketch;
}

inline Knobs knobs_of(const std::vector<std::size_t>& dims) { return Knobs({sketch_of("only", dims)}); }

using Landscape = std::function<double(const Candidate&)>;  // seconds

/// A bowl: the distance from `lowest` in each knob counts by itself.
inline Landscape bowl(const std::vector<std::size_t>& lowest) {
  return [lowest](const Candidate& candidate) {
    double seconds = 1;
    for (std::size_t i = 0; i < lowest.size(); ++i) {
      const double distance = static_cast<double>(candidate.choices[i]) - static_cast<double>(lowest[i]);
      seconds += distance * distance;
    }
    return seconds * 1e-3;
  };
}

/// Three samples that scatter very little.
inline Outcome outcome_of(double seconds) {
  if (std::isinf(seconds)) return {};
  return {seconds, {seconds * 0.999, seconds, seconds * 1.001}};
}

/// Runs a search for so many trials in batches; everything that was asked for, in order.
inline std::vector<Candidate> run(Search& search, const Landscape& landscape, std::size_t trials,
                                  std::size_t batch = 16) {
  std::vector<Candidate> asked;
  while (asked.size() < trials) {
    const std::vector<Candidate> next = search.ask(std::min(batch, trials - asked.size()));
    if (next.empty()) break;
    for (const Candidate& candidate : next) search.tell(candidate, outcome_of(landscape(candidate)));
    asked.insert(asked.end(), next.begin(), next.end());
  }
  return asked;
}

inline std::unique_ptr<Search> make(std::string_view name, const Space& space, SearchSetup setup = {}) {
  Result<std::unique_ptr<Search>> search = make_search(name, space, std::move(setup));
  HONE_CHECK(search.has_value(), "{}", search.error().message);
  return *std::move(search);
}

}  // namespace hone::search
