/// Searches: which candidates of a space to try next, given what the earlier ones took.
///
/// A search is asked for candidates and told what came of them. It measures nothing and knows no cost model, only a
/// function that ranks candidates. For one seed it asks for the same candidates however many cores there are; only
/// what was told between two asks counts, not in which order.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hone/search/options.h"
#include "hone/space/space.h"

namespace hone::search {

using space::Candidate;
using space::Space;

/// What came of a candidate.
struct Outcome {
  double seconds = std::numeric_limits<double>::infinity();  ///< the fastest sample; infinity if the trial failed
  std::vector<double> samples = {};                          ///< in seconds, untrimmed

  bool is_ok() const { return seconds < std::numeric_limits<double>::infinity(); }
};

/// A candidate with its outcome.
struct Trial {
  Candidate candidate;
  Outcome outcome;
};

/// A score for each candidate: higher looks faster, minus infinity cannot be built. An empty list means that nothing is
/// known yet, and the search does without. Called from one thread; equal questions must get equal answers between two
/// asks.
using Scorer = std::function<std::vector<double>(std::span<const Candidate>)>;

/// A number that candidates with equal programs share. Candidates without a program may share one as well: then only
/// one of them is tried.
using Canonical = std::function<std::uint64_t(const Candidate&)>;

/// What a search starts with.
struct SearchSetup {
  std::uint64_t seed = 1;
  Options options = {};
  Scorer scorer = {};                  ///< none: no cost model
  Canonical canonical = {};            ///< none: candidates are different if their decisions are
  std::vector<Trial> known = {};       ///< from earlier records: used, and never asked for
  std::vector<Candidate> starts = {};  ///< asked for before anything else; Droplet descends from the first
};

/// Decides where to look next.
class Search {
 public:
  virtual ~Search() = default;

  /// Candidates to try next, none of which was asked for before. Fewer than `count`: there are no others as long as
  /// nothing else is told. None although everything was told: the search is over.
  virtual std::vector<Candidate> ask(std::size_t count) = 0;
  /// What came of a candidate. Candidates may be told in any order, late, never, or without being asked for; a second
  /// outcome of a candidate replaces the first.
  virtual void tell(const Candidate& candidate, Outcome outcome) = 0;
  /// The fastest candidate so far, as far as the search can tell; nothing if none has run.
  virtual std::optional<Candidate> best() const = 0;
};

/// Whether the search of this name tries every candidate, sooner or later: "exhaustive" does, and "auto" where the
/// space is small.
bool tries_all(std::string_view name, const Space& space);

/// The names that make_search knows.
std::span<const std::string_view> search_names();

/// The search of this name. The space must outlive it.
Result<std::unique_ptr<Search>> make_search(std::string_view name, const Space& space, SearchSetup setup);
/// Asks `explore` for the given number of candidates, then descends from the best of them by Droplet Search. `setup` is
/// what `explore` was made with. The batch that ends the exploration may be smaller than asked for.
std::unique_ptr<Search> explore_then_exploit(std::unique_ptr<Search> explore, std::size_t trials, const Space& space,
                                             SearchSetup setup);

}  // namespace hone::search
