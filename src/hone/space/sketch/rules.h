/// Rules that derive sketches: what each of them does with a block, and when (after Ansor, arXiv 2006.06762,
/// section 4.1).
///
/// A derivation starts with the naive program and visits its blocks from the last to the first. The first rules that
/// fit a block change the program for good (a block is inlined), or leave an action for later: what happens to the
/// block once a candidate's decisions are known.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/space/blocks.h"
#include "hone/space/space.h"

namespace hone::space {

/// A candidate's program while it is being built.
struct Building {
  schedule::Schedule schedule;
  const Decisions& decisions;
  /// For blocks that are tiled: the last loop of each level in which what they read may be computed, outermost first.
  std::map<std::string, std::vector<std::string>> levels;

  const schedule::Program& program() const { return schedule.program(); }
  Result<void> apply(const schedule::Step& step) { return schedule.apply(step); }
  const std::vector<std::int64_t>& decided(std::string_view knob) const { return decisions.find(knob)->second; }
};

/// What happens to one block when a candidate is built. Actions are applied in the order of the visits, consumers
/// before producers; `finish`, for marking loops, when all blocks are at their places.
struct Action {
  std::string block;
  std::string name;       ///< for the name of the sketch; may be empty
  bool has_tiles = true;  ///< whether one that has a name differs between the two families of tiles
  std::vector<Knob> knobs;
  std::vector<std::size_t> first;                ///< for each knob what to choose when nothing is known
  std::vector<std::vector<std::size_t>> others;  ///< the same, to be tried soon: by other rules of thumb
  double cost = 1;                               ///< what that may cost, to choose among sketches: 1 is best
  std::vector<LeftOut> left_out;                 ///< options that are not among those of the knobs
  std::function<Result<void>(Building&)> apply, finish;
};

/// Two families of tiles: factors that divide extents, or factors that fit the registers, with tails.
enum class Tiles : std::uint8_t { Divisor, Hardware };

struct Rule;

struct SketchOptions {
  std::vector<Rule> rules;  ///< tried before those of add_rule (sketch_space.h) and the built-in ones
  std::size_t most_sketches = 16;
  bool is_published = false;  ///< only what Ansor's publication has: tiles that divide, and the task's first algorithm
};

/// What rules may ask.
struct RuleContext {
  const Task& task;
  const codegen::Target& target;
  Tiles tiles;
  bool is_published = false;  ///< see SketchOptions

  bool is_constant(const schedule::Program& program, const ir::Expr& buffer) const;
};

/// A rule that was applied to a block, or for GPUs to an input.
struct Applied {
  std::string rule, block;
  bool operator==(const Applied&) const = default;
};

/// A sketch on its way.
struct Derivation {
  schedule::Schedule schedule;       ///< what is done for good, whatever will be decided; loops are the naive ones
  std::vector<std::string> pending;  ///< blocks to visit; the last is next
  std::vector<Action> actions;
  double cost = 1;                    ///< of what is done for good; see Action
  std::vector<Applied> applied = {};  ///< in the order of the visits

  const schedule::Program& program() const { return schedule.program(); }
};

/// The derivation with one block less to visit.
Derivation visited(const Derivation& derivation);

enum class Verdict : std::uint8_t { Skip, Apply, ApplyAndStop };

/// A rule is tried on a block: `test` says whether it fits and whether others may be tried as well, `apply` gives the
/// derivations that follow. These no longer have the block among the pending ones, unless it is to be visited again.
struct Rule {
  std::string name;
  std::function<Verdict(const Derivation&, const std::string& block, const RuleContext&)> test;
  std::function<std::vector<Derivation>(const Derivation&, const std::string& block, const RuleContext&)> apply;
};

/// The rules for CPUs in their order. Those for GPUs: gpu_rules.h.
std::vector<Rule> cpu_rules();

/// All derivations of a naive program by the rules for the target, at most `options.most_sketches`; `left_out` gets
/// those that would be more.
std::vector<Derivation> derive(const ir::Function& naive, const RuleContext& context, const SketchOptions& options,
                               std::vector<LeftOut>& left_out);

}  // namespace hone::space
