/// What every search remembers: which candidates were asked for, and what came of those that were told.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "hone/search/search.h"
#include "hone/support/rng.h"

namespace hone::search {

/// So often a child that is known already, or a partner of another sketch, is drawn again.
inline constexpr int kTries = 30;

/// Whether something else can be decided in the sketch of a candidate.
bool has_neighbours(const Space& space, const Candidate& candidate);

/// The candidates of one search.
class History {
 public:
  History(const Space& space, Canonical canonical, const std::vector<Trial>& known);

  /// Marks a candidate as asked for. False if it was before, or one with the same program.
  bool take(const Candidate& candidate);
  bool is_taken(const Candidate& candidate) const { return taken_.contains(candidate); }

  /// Takes a random candidate out of those that are left; nothing if there are none.
  std::optional<Candidate> take_random(Rng& rng);

  void tell(const Candidate& candidate, Outcome outcome);
  /// By candidate, so that nothing depends on the order in which they were told.
  const std::map<Candidate, Outcome>& told() const { return told_; }
  std::optional<Candidate> best() const;
  /// Those that ran, fastest first, at most `count`.
  std::vector<Trial> fastest(std::size_t count) const;

 private:
  bool is_valid(const Candidate& candidate) const;

  const Space& space_;
  Canonical canonical_;
  std::set<Candidate> taken_;  // not by number: in a large space numbers are not distinct
  std::set<std::uint64_t> programs_;
  std::map<Candidate, Outcome> told_;
  std::optional<std::vector<std::uint64_t>> rest_;  // what was left when drawing began to miss, in random order
};

/// A search with a history: first what it shall start with, then what it proposes.
class HistorySearch : public Search {
 public:
  HistorySearch(const Space& space, SearchSetup setup);

  std::vector<Candidate> ask(std::size_t count) final;
  void tell(const Candidate& candidate, Outcome outcome) override { history_.tell(candidate, std::move(outcome)); }
  std::optional<Candidate> best() const override { return history_.best(); }

 protected:
  /// Adds taken candidates to `batch` until there are `count` of them, or no more.
  virtual void propose(std::vector<Candidate>& batch, std::size_t count) = 0;
  /// Fills the batch up with random candidates.
  void propose_random(std::vector<Candidate>& batch, std::size_t count);
  /// What the scorer says; empty if it says nothing. An answer of another length is a mistake.
  std::vector<double> score(std::span<const Candidate> candidates) const;

  const Space& space_;
  const SearchSetup setup_;
  Rng rng_;
  History history_;
};

}  // namespace hone::search
