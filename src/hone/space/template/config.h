/// Config: what a template declares and what a candidate decides, in one object, so that a template is one function.
///
///     const Factors rows = config.split("rows", 512, {.outputs = 3});
///     HONE_TRY(schedule.apply(schedule::Split{"i", {rows.begin(), rows.end()}}));
///
/// A template runs once to declare its knobs: each then takes its fallback. For a candidate it runs again, and the same
/// calls give what was decided.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/space/space.h"
#include "hone/space/template/knob_options.h"

namespace hone::space {

/// Whether a configuration is worth building.
using ConfigFilter = std::function<bool(const Decisions&)>;

/// What a template declared.
struct Declaration {
  std::vector<Knob> knobs;
  std::vector<std::size_t> fallback;  ///< for each knob what to choose when nothing is known
  std::vector<std::int64_t> extents;  ///< for each knob the extent of the loop that it splits; 0 if it splits none
  std::vector<ConfigFilter> filters;
};

class Config {
 public:
  /// For the run that declares.
  Config() = default;
  /// For a run with these decisions, which must outlive it.
  explicit Config(const Decisions& decided) : decided_(&decided) {}

  /// Factors for a loop of this extent, outermost first: schedule::kRest, then as many as the rule has inner loops.
  Factors split(std::string_view knob, std::int64_t extent, const SplitRule& rule = {});
  /// These loops in another order.
  std::vector<std::string> reorder(std::string_view knob, const std::vector<std::string>& loops,
                                   const ReorderRule& rule = {});
  /// How each of so many loops runs, by a policy of annotate_options.
  std::vector<Mark> annotate(std::string_view knob, std::size_t loops, std::string_view policy);
  /// Which of so many loops, from 0, something is placed at; as many as there are anchors.
  std::vector<std::size_t> locate(std::string_view knob, std::size_t loops, std::size_t anchors = 1);
  /// One of these numbers; the one at place `fallback` when nothing is known.
  std::int64_t choose(std::string_view knob, const std::vector<std::int64_t>& numbers, std::size_t fallback = 0);
  /// Leaves out configurations of which the filter says false. It is asked when a candidate is built, not before, and
  /// must keep no references to what the template has on its stack.
  void keep_if(ConfigFilter filter);

  const Declaration& declaration() const { return declaration_; }
  /// The first mistake in what was declared, or the first question that was not declared.
  const Result<void>& status() const { return status_; }

 private:
  using Options = std::vector<std::vector<std::int64_t>>;

  /// Adds a knob, or finds what was decided for it. Always a value: after a mistake one that does no harm.
  std::vector<std::int64_t> decide(std::string_view knob, Result<Options> options,
                                   const std::function<std::size_t(const Options&)>& fallback, std::int64_t extent,
                                   std::vector<std::int64_t> harmless);
  void note(Error problem);

  const Decisions* decided_ = nullptr;  ///< null: declares
  Declaration declaration_;
  Result<void> status_;
};

/// Lets loops, outermost first, run as they are marked. Loops marked Fuse become one with the next.
Result<void> mark_loops(schedule::Schedule& schedule, std::vector<std::string> loops, const std::vector<Mark>& marks);

}  // namespace hone::space
