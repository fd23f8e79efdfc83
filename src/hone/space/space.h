/// Spaces: which candidates exist for a task, and the program of each.
///
/// A candidate is a sketch and a decision for each of its knobs. Everything a search does with candidates (draw,
/// change, cross, compare, store; see candidate.h) is written once for all spaces, and needs nothing but the lists
/// below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/ir/stmt.h"
#include "hone/schedule/trace.h"

namespace hone::space {

/// A way to compute a task: its naive program by one algorithm.
struct Algorithm {
  std::string name;  ///< "direct", "winograd4"
  ir::Function naive;
};

/// What is to be computed.
struct Task {
  std::vector<Algorithm> algorithms;   ///< all with the same parameters; the first is "direct" and says what is meant
  std::vector<std::size_t> constants;  ///< parameters that never change between runs: they may be packed
  double flops = 0;                    ///< of the direct algorithm
  std::size_t likely = 0;              ///< the algorithm that should be fastest by a count of operations and bytes

  const ir::Function& naive() const { return algorithms.front().naive; }
};

/// One thing to decide: one of these lists of numbers, such as the factors of a loop or a single yes or no. Options
/// that are alike stand beside each other.
struct Knob {
  std::string name;
  std::vector<std::vector<std::int64_t>> options;
};

/// A structure of programs that differ in decisions.
struct Sketch {
  std::string name;  ///< its first word is the name of the algorithm
  std::vector<Knob> knobs;
};

/// What a candidate decided, by the names of the knobs.
using Decisions = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

/// A point of a space: `choices[i]` is a place among the options of knob i of the sketch.
struct Candidate {
  std::size_t sketch = 0;
  std::vector<std::size_t> choices;

  bool operator==(const Candidate&) const = default;
  auto operator<=>(const Candidate&) const = default;
};

/// What a rule or a limit kept out of a space while it was made.
struct LeftOut {
  std::uint64_t count = 1;  ///< how many of them
  std::string what;         ///< "register tiles of 'direct'"
  std::string reason;       ///< "they need more than the 32 vector registers"
};

/// How a space came to have the candidates that it has, for people.
struct Notes {
  bool is_fallback = false;  ///< nothing is to be decided about the task: one program, which always works, is left
  std::vector<LeftOut> left_out = {};
};

/// The candidates of one task on one target.
class Space {
 public:
  virtual ~Space() = default;

  /// "mapping", "sketch", "template": see make_space.h.
  virtual std::string_view name() const = 0;
  /// What candidates of this sketch are stored under: another name only where a space is made of several.
  virtual std::string_view name_of(std::size_t) const { return name(); }
  /// At least one; each knob has at least one option.
  virtual const std::vector<Sketch>& sketches() const = 0;
  /// The candidate to run as long as nothing is measured. It can always be built.
  virtual Candidate first() const = 0;
  /// Candidates to try before all others.
  virtual std::vector<Candidate> starts() const { return {first()}; }
  /// The program of a candidate and the trace that makes it, or why there is none: a step is illegal, or the target's
  /// registers or caches are too small.
  virtual Result<schedule::Schedule> build(const Candidate& candidate) const = 0;
  /// The candidate that is most like those of other tasks, given as JSON (see candidate.h), the likest task first;
  /// nothing if this space has no sketch of theirs.
  virtual std::optional<Candidate> refit(std::span<const std::string> others) const;
  /// What is not among the candidates, and why; see explain.h for those that cannot be built.
  virtual Notes notes() const { return {}; }
};

}  // namespace hone::space
