/// What searches do with candidates, whatever the space: count, number, draw, change, cross, store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/space/space.h"
#include "hone/support/rng.h"

namespace hone::space {

/// How many candidates a sketch or a space has; the largest number there is if they are more.
std::uint64_t size_of(const Sketch& sketch);
std::uint64_t size_of(const Space& space);

/// The candidate with this number, counted through all sketches, the first knob of each changing fastest; and back.
Candidate candidate_at(const Space& space, std::uint64_t index);
std::uint64_t index_of(const Space& space, const Candidate& candidate);

/// The algorithm that the programs of a sketch follow.
std::string_view algorithm_of(const Sketch& sketch);
/// What a candidate of this sketch decides.
Decisions decisions_of(const Sketch& sketch, const std::vector<std::size_t>& choices);

/// One of all candidates; sketches are equally likely.
Candidate random_candidate(const Space& space, Rng& rng);

/// The candidate with one of its decisions made anew; the same if there is nothing to decide.
Candidate mutate(const Space& space, const Candidate& candidate, Rng& rng);

/// What a knob is about. Knobs of sketches are named "block.knob" and belong to the block; a copy of a block or its
/// partial sums, "block.rf", belong to it as well. A knob with no block is a stage by itself: which belong together is
/// not known.
std::string_view stage_of(const Knob& knob);

/// A candidate of the sketch of both with the decisions about each stage from one of them, both being as likely:
/// scorers rate whole programs, so which parent is the better one for a stage is not known. They must be of one sketch.
Candidate cross(const Space& space, const Candidate& a, const Candidate& b, Rng& rng);

/// The candidates that differ in one decision by at most `radius` places, nearer ones first, those beyond the ends left
/// out.
std::vector<Candidate> neighbours(const Space& space, const Candidate& candidate, std::size_t radius = 1);

/// A candidate by names and values, so that it keeps its meaning when a space grows, and can be carried over to other
/// shapes: {"space":"mapping","sketch":"direct","decisions":{"rows":[6],"vectors":[4]}}.
std::string to_json(const Space& space, const Candidate& candidate);
/// What stands in the JSON form, nothing looked up yet.
struct StoredCandidate {
  std::string space, sketch;
  Decisions decisions;
};
Result<StoredCandidate> read_candidate(std::string_view json);
/// Reads what to_json wrote. An error names the field, the value found and what is allowed.
Result<Candidate> parse_candidate(const Space& space, std::string_view json);
/// The same for a candidate of another task: each decision becomes the nearest one that there is. Nothing if the sketch
/// does not exist.
std::optional<Candidate> nearest_candidate(const Space& space, std::string_view json);

}  // namespace hone::space
