#include "hone/space/sketch/sketch_space.h"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>

#include "hone/space/candidate.h"
#include "hone/space/gpu_limits.h"
#include "hone/space/gpu_steps.h"

namespace hone::space {
namespace {

/// What add_rule added, the latest first.
struct AddedRules {
  std::mutex mutex;
  std::vector<Rule> list;
};
AddedRules& added_rules() {
  static AddedRules* const added = new AddedRules;  // NOLINT: never destroyed, as what was added for templates
  return *added;
}

/// What an algorithm costs that does more work than another.
constexpr double kUnlikely = 100;

/// A sketch with what builds its candidates.
struct Derived {
  Derivation derivation;
  std::vector<std::size_t> first;
  std::vector<std::vector<std::size_t>> others = {};  ///< to be tried soon
  double cost = 1;                                    ///< estimated, of the first candidate
};

class SketchSpace : public Space {
 public:
  SketchSpace(const Task& task, const codegen::Target& target, const SketchOptions& options)
      : name_(options.is_published ? "ansor" : "sketch"), target_(target) {
    for (const Algorithm& algorithm : task.algorithms) {
      if (options.is_published && &algorithm != task.algorithms.data()) continue;
      const bool is_likely = &algorithm == &task.algorithms[std::min(task.likely, task.algorithms.size() - 1)];
      for (const Tiles tiles : {Tiles::Hardware, Tiles::Divisor}) {
        if (options.is_published && tiles == Tiles::Hardware) continue;
        for (Derivation& derivation :
             derive(algorithm.naive, {task, target, tiles, options.is_published}, options, notes_.left_out)) {
          if (!is_likely) derivation.cost *= kUnlikely;
          add(algorithm, tiles, std::move(derivation));
        }
      }
    }
    notes_.is_fallback = sketches_.empty();
    if (sketches_.empty()) {
      sketches_.push_back({target.is_gpu() ? "plain" : "untouched", {}});
      derived_.push_back(
          {Derivation{
               target.is_gpu() ? gpu_default_schedule(task.naive(), target) : schedule::Schedule(task.naive()), {}, {}},
           {}});
    }
  }

  std::string_view name() const override { return name_; }
  const std::vector<Sketch>& sketches() const override { return sketches_; }
  Notes notes() const override { return notes_; }
  Candidate first() const override {
    const auto best = std::min_element(derived_.begin(), derived_.end(),
                                       [](const Derived& a, const Derived& b) { return a.cost < b.cost; });
    return {static_cast<std::size_t>(best - derived_.begin()), best->first};
  }

  std::vector<Candidate> starts() const override {
    const Candidate first = this->first();
    std::vector<Candidate> starts = {first};
    for (const std::vector<std::size_t>& other : derived_[first.sketch].others) {
      const Candidate start{first.sketch, other};
      if (build(start)) starts.push_back(start);
    }
    return starts;
  }

  Result<schedule::Schedule> build(const Candidate& candidate) const override {
    return build(sketches_[candidate.sketch], derived_[candidate.sketch], candidate.choices);
  }

 private:
  Result<schedule::Schedule> build(const Sketch& sketch, const Derived& derived,
                                   const std::vector<std::size_t>& choices) const {
    const Decisions decisions = decisions_of(sketch, choices);
    Building building{derived.derivation.schedule, decisions, {}};
    for (const Action& action : derived.derivation.actions)
      if (action.apply) HONE_TRY(action.apply(building));
    for (const Action& action : derived.derivation.actions)
      if (action.finish) HONE_TRY(action.finish(building));
    if (target_.is_gpu()) HONE_TRY(check_gpu_limits(building.program(), target_));
    return std::move(building.schedule);
  }

  /// Keeps a sketch if its first candidate can be built and it differs from the others.
  void add(const Algorithm& algorithm, Tiles tiles, Derivation derivation) {
    Derived derived{std::move(derivation), {}};
    derived.cost = derived.derivation.cost;
    Sketch sketch{algorithm.name, {}};
    bool is_tiled = false;
    for (Action& action : derived.derivation.actions) {
      is_tiled |= !action.name.empty() && action.has_tiles;
      derived.cost *= action.cost;
      if (!action.name.empty()) sketch.name += " " + action.name;
      sketch.knobs.insert(sketch.knobs.end(), action.knobs.begin(), action.knobs.end());
      derived.first.insert(derived.first.end(), action.first.begin(), action.first.end());
    }
    std::ptrdiff_t begin = 0;
    for (const Action& action : derived.derivation.actions) {
      for (const std::vector<std::size_t>& other : action.others) {
        derived.others.push_back(derived.first);
        std::copy(other.begin(), other.end(), derived.others.back().begin() + begin);
      }
      begin += static_cast<std::ptrdiff_t>(action.first.size());
    }
    if (is_tiled) sketch.name += tiles == Tiles::Hardware ? " hardware" : " divisor";
    Result<schedule::Schedule> first = build(sketch, derived, derived.first);
    for (std::size_t i = derived.others.size(); !first && i-- > 0;) {
      std::swap(derived.first, derived.others[i]);
      first = build(sketch, derived, derived.first);
    }
    if (!first) {
      notes_.left_out.push_back({1, fmt::format("sketch '{}'", sketch.name), first.error().message});
      return;
    }
    for (std::size_t copies = 1, i = 0; i < sketches_.size(); ++i)
      if (sketches_[i].name == sketch.name) {
        if (!is_tiled) return;  // the families differ in tiles alone
        sketch.name += fmt::format(" {}", ++copies);
      }
    for (const Action& action : derived.derivation.actions)
      for (const LeftOut& left_out : action.left_out)
        notes_.left_out.push_back(
            {left_out.count, fmt::format("options of {} in '{}'", left_out.what, sketch.name), left_out.reason});
    sketches_.push_back(std::move(sketch));
    derived_.push_back(std::move(derived));
  }

  std::string_view name_;
  codegen::Target target_;
  std::vector<Sketch> sketches_;
  std::vector<Derived> derived_;
  Notes notes_;
};

}  // namespace

void add_rule(Rule rule) {
  AddedRules& added = added_rules();
  const std::scoped_lock lock(added.mutex);
  std::erase_if(added.list, [&](const Rule& other) { return other.name == rule.name; });
  added.list.insert(added.list.begin(), std::move(rule));
}

void clear_rules() {
  AddedRules& added = added_rules();
  const std::scoped_lock lock(added.mutex);
  added.list.clear();
}

Result<std::unique_ptr<Space>> make_sketch_space(const Task& task, const codegen::Target& target,
                                                 const SketchOptions& options) {
  if (task.algorithms.empty()) return error(ErrorCode::InvalidArgument, "sketch space: the task has no algorithm");
  for (const std::size_t constant : task.constants)
    if (constant >= task.naive().params.size())
      return error(ErrorCode::InvalidArgument, "sketch space: constant {} is outside the parameters 0..{}", constant,
                   static_cast<std::int64_t>(task.naive().params.size()) - 1);
  SketchOptions all = options;
  {
    AddedRules& added = added_rules();
    const std::scoped_lock lock(added.mutex);
    all.rules.insert(all.rules.end(), added.list.begin(), added.list.end());
  }
  return std::unique_ptr<Space>(std::make_unique<SketchSpace>(task, target, all));
}

}  // namespace hone::space
