#include "hone/space/template/template_space.h"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <numeric>

#include "hone/space/candidate.h"
#include "hone/space/default_program.h"
#include "hone/space/template/templates.h"
#include "hone/support/log.h"

namespace hone::space {
namespace {

/// What add_template added.
struct AddedTemplates {
  std::mutex mutex;
  std::vector<Template> list;
};
AddedTemplates& added_templates() {
  static AddedTemplates* const added = new AddedTemplates;  // NOLINT: what was added may not outlive an interpreter
  return *added;
}

/// A template of one algorithm of the task, or, without `apply`, the default schedule of it.
struct Fitting {
  const ir::Function* naive = nullptr;
  schedule::Schedule prepared;
  Template made;
  Declaration declared;
};

class TemplateSpace : public Space {
 public:
  TemplateSpace(Task task, codegen::Target target) : task_(std::move(task)), target_(std::move(target)) {}

  Result<void> declare(const std::vector<Template>& templates) {
    for (const Algorithm& algorithm : task_.algorithms) {
      for (const Template& made : templates) HONE_TRY(declare(algorithm, made));
      if (&algorithm == &task_.algorithms[std::min(task_.likely, task_.algorithms.size() - 1)])
        first_.sketch = sketches_.size();
      sketches_.push_back({fmt::format("{} default", algorithm.name), {}});
      fitting_.push_back({&algorithm.naive, schedule::Schedule(algorithm.naive), {}, {}});
    }
    notes_.is_fallback = sketches_.size() == 1;
    return {};
  }

  std::string_view name() const override { return "template"; }
  const std::vector<Sketch>& sketches() const override { return sketches_; }
  Candidate first() const override { return first_; }

  std::vector<Candidate> starts() const override {
    std::vector<Candidate> starts;
    for (const bool is_default : {false, true})
      for (std::size_t i = 0; i < sketches_.size(); ++i)
        if (!fitting_[i].made.apply == is_default) starts.push_back({i, fitting_[i].declared.fallback});
    return starts;
  }

  Result<schedule::Schedule> build(const Candidate& candidate) const override {
    const Fitting& fitting = fitting_[candidate.sketch];
    if (!fitting.made.apply) return default_schedule(*fitting.naive, task_.constants, target_);
    const Decisions decisions = decisions_of(sketches_[candidate.sketch], candidate.choices);
    for (const ConfigFilter& filter : fitting.declared.filters)
      if (!filter(decisions))
        return error(ErrorCode::IllegalStep, "template: the filter of '{}' leaves this candidate out",
                     fitting.made.name);
    Config config(decisions);
    schedule::Schedule schedule = fitting.prepared;
    HONE_TRY(fitting.made.apply(config, schedule, context()));
    HONE_TRY(config.status());
    return schedule;
  }

  Notes notes() const override { return notes_; }

  /// The rule of AutoTVM's reference logs: the configuration whose factors divide most of what this task's loops can be
  /// divided by is the model; its factors are limits for those that divide this task's loops, its other decisions are
  /// taken over.
  std::optional<Candidate> refit(std::span<const std::string> others) const override {
    std::optional<Candidate> best;
    double best_score = -1;
    for (const std::string& other : others) {
      std::optional<Candidate> candidate = nearest_candidate(*this, other);
      if (!candidate) continue;
      const Decisions decisions = read_candidate(other)->decisions;
      const double score = fit_splits(decisions, *candidate);
      if (score <= best_score) continue;
      best_score = score;
      best = std::move(candidate);
    }
    return best;
  }

 private:
  TemplateContext context() const { return {task_.constants, target_}; }

  /// Adds a sketch if the template fits.
  Result<void> declare(const Algorithm& algorithm, const Template& made) {
    Fitting fitting{&algorithm.naive, schedule::Schedule(algorithm.naive), made, {}};
    const std::string name = fmt::format("{} {}", algorithm.name, made.name);
    const auto refuse = [&](const Error& reason) -> Result<void> {
      if (reason.code == ErrorCode::InvalidArgument)
        return error(ErrorCode::InvalidArgument, "template '{}': {}", made.name, reason.message);
      log::debug("template", "'{}' does not fit: {}", name, reason.message);
      notes_.left_out.push_back({.what = fmt::format("template '{}'", name), .reason = reason.message});
      return {};
    };
    if (made.prepare)
      if (const Result<void> prepared = made.prepare(fitting.prepared, context()); !prepared)
        return refuse(prepared.error());
    Config config;
    schedule::Schedule trial = fitting.prepared;
    const Result<void> applied = made.apply(config, trial, context());
    if (!config.status()) return refuse(config.status().error());
    if (!applied) return refuse(applied.error());
    fitting.declared = config.declaration();
    Sketch sketch{name, std::move(fitting.declared.knobs)};
    const Decisions fallback = decisions_of(sketch, fitting.declared.fallback);
    for (const ConfigFilter& filter : fitting.declared.filters)
      if (!filter(fallback))
        return error(ErrorCode::InvalidArgument, "template '{}': its filter leaves its own fallback out", made.name);
    sketches_.push_back(std::move(sketch));
    fitting_.push_back(std::move(fitting));
    return {};
  }

  /// Chooses the splits of a candidate within those of another task; says how many divisors they share.
  double fit_splits(const Decisions& decisions, Candidate& candidate) const {
    const std::vector<Knob>& knobs = sketches_[candidate.sketch].knobs;
    const std::vector<std::int64_t>& extents = fitting_[candidate.sketch].declared.extents;
    double score = 0;
    for (std::size_t i = 0; i < knobs.size(); ++i) {
      const auto other = decisions.find(knobs[i].name);
      if (extents[i] == 0 || other == decisions.end() || other->second.size() != knobs[i].options[0].size()) continue;
      candidate.choices[i] = fallback_split(knobs[i].options, other->second);
      std::int64_t product = 1;
      for (const std::int64_t factor : other->second) product *= factor == kRemaining ? 1 : factor;
      const Factors own = divisors(extents[i]);
      const auto common = std::count_if(own.begin(), own.end(), [&](std::int64_t d) { return product % d == 0; });
      score += static_cast<double>(common) / static_cast<double>(own.size());
    }
    return score;
  }

  Task task_;
  codegen::Target target_;
  std::vector<Sketch> sketches_;
  std::vector<Fitting> fitting_;  ///< for each sketch
  Candidate first_;
  Notes notes_;
};

}  // namespace

void add_template(Template made) {
  AddedTemplates& added = added_templates();
  const std::scoped_lock lock(added.mutex);
  std::erase_if(added.list, [&](const Template& other) { return other.name == made.name; });
  added.list.insert(added.list.begin(), std::move(made));
}

void clear_templates() {
  AddedTemplates& added = added_templates();
  const std::scoped_lock lock(added.mutex);
  added.list.clear();
}

std::vector<Template> all_templates(const codegen::Target& target) {
  AddedTemplates& added = added_templates();
  const std::scoped_lock lock(added.mutex);
  std::vector<Template> all = added.list;
  const std::size_t count = all.size();
  for (Template& made : target.is_gpu() ? gpu_templates() : cpu_templates()) {
    const bool is_replaced = std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                                         [&](const Template& other) { return other.name == made.name; });
    if (!is_replaced) all.push_back(std::move(made));
  }
  return all;
}

Result<std::unique_ptr<Space>> make_template_space(const Task& task, const codegen::Target& target,
                                                   const std::vector<Template>& templates) {
  if (task.algorithms.empty()) return error(ErrorCode::InvalidArgument, "template space: the task has no algorithm");
  auto space = std::make_unique<TemplateSpace>(task, target);
  HONE_TRY(space->declare(templates));
  return std::unique_ptr<Space>(std::move(space));
}

Result<std::unique_ptr<Space>> make_template_space(const Task& task, const codegen::Target& target) {
  return make_template_space(task, target, all_templates(target));
}

}  // namespace hone::space
