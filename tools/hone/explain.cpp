// hone explain: shows which candidates there are for a task, what was kept out, and what is compiled.
#include "hone/explain.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.h"
#include "describe.h"
#include "model.h"

#include "hone/model_tasks.h"
#include "hone/space/candidate.h"

namespace hone::command {
namespace {

struct ExplainCommandOptions {
  ModelOptions model;
  std::string task;
  ExplainOptions explain;
  std::int64_t samples = kUsualSamples;
};

/// "1 candidate", "2 candidates".
std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void list_tasks(const std::vector<TaskUse>& tasks, const codegen::Target& target, Tuned& tuned) {
  Table table({"task", "calls", "FLOPs", "schedule", "key", "operators: shapes of the parameters"});
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const space::Task& task = *tasks[i].task;
    const measure::TaskKey key = measure::task_key(task.naive(), task.constants);
    table.add({fmt::format("{}", i + 1), fmt::format("{}", tasks[i].uses), task.flops > 0 ? count_text(task.flops) : "",
               target.is_gpu() ? "none" : std::string(to_string(tuned.choose(task, target).origin)),
               key.key.substr(0, kKeyDigits), fmt::format("{}: {}", tasks[i].name, shapes_text(key.shapes))});
  }
  fmt::print("{}", tasks.empty() ? "the model has no kernels\n" : table.text());
}

/// The first few options of a knob, and how many there are.
std::string options_text(const space::Knob& knob) {
  constexpr std::size_t kMostShown = 8;
  std::vector<std::string> options;
  for (std::size_t i = 0; i < std::min(kMostShown, knob.options.size()); ++i)
    options.push_back(fmt::format("{}", fmt::join(knob.options[i], ",")));
  return fmt::format("{}: {}{}", counted(knob.options.size(), "option"), fmt::join(options, " "),
                     knob.options.size() > kMostShown ? " …" : "");
}

void show_space(const TaskExplanation& explained) {
  const space::Space& space = *explained.space;
  const std::uint64_t size = space::size_of(space);
  fmt::print("space {}: {} in {} sketch{}\n", space.name(), counted(size, "candidate"), space.sketches().size(),
             space.sketches().size() == 1 ? "" : "es");
  const space::Candidate first = space.first();
  for (std::size_t i = 0; i < space.sketches().size(); ++i) {
    const space::Sketch& sketch = space.sketches()[i];
    fmt::print("  sketch {}: {}{}\n", sketch.name, counted(space::size_of(sketch), "candidate"),
               i == first.sketch ? ", where a search begins" : "");
    for (const space::Knob& knob : sketch.knobs) fmt::print("    {}: {}\n", knob.name, options_text(knob));
    if (sketch.knobs.empty()) fmt::print("    nothing is to be decided\n");
  }
  const space::Notes notes = space.notes();
  if (!notes.left_out.empty()) {
    fmt::print("left out\n");
    Table table({});
    for (const space::LeftOut& left_out : notes.left_out)
      table.add({fmt::format("  {}", left_out.count), fmt::format("{}: {}", left_out.what, left_out.reason)});
    fmt::print("{}", table.text());
  }
  fmt::print("fallback: {}\n", notes.is_fallback ? "yes, there is nothing but a program that always works" : "no");
  fmt::print("{}", explained.built.to_text());
}

void show_choice(const TaskExplanation& explained, const std::string& records) {
  if (!explained.chosen) {
    fmt::print("compiled: nothing, there is no code for GPUs yet\n");
    return;
  }
  const Chosen& chosen = *explained.chosen;
  if (!explained.refusal.empty()) fmt::print("what the records say cannot be built: {}\n", explained.refusal);
  if (chosen.origin == Origin::Exact)
    fmt::print("compiled: tuned for this task, {} us a call by {}\n", us_text(chosen.record->min_ns()), records);
  else if (chosen.origin == Origin::Compatible || chosen.origin == Origin::Nearest)
    fmt::print("compiled: tuned for the {} shapes {} (task {}), by {}\n", to_string(chosen.origin),
               shapes_text(chosen.record->task.shapes), chosen.record->task.key.substr(0, kKeyDigits), records);
  else
    fmt::print("compiled: the default, {}; {}\n",
               chosen.origin == Origin::Predicted ? "which a trained network predicts to be fastest" : "by rules",
               records.empty() ? "there are no records" : fmt::format("{} has nothing better", records));
  fmt::print("  {}\n", space::to_json(*chosen.space, chosen.candidate));
}

Result<void> run_explain(const ExplainCommandOptions& options) {
  ModelOptions model = options.model;
  HONE_TRY(const std::string file, readable_records(model));
  model.records = "none";  // tasks are the same with and without
  codegen::Target target = codegen::host_target();
  if (!model.target.empty()) { HONE_TRY(target, codegen::parse_target(model.target)); }
  if (target.is_gpu()) model.target.clear();  // no session compiles for GPUs: one for this machine says what inputs are
  HONE_TRY(const Session session, load_model(model, /*keeps_tasks=*/true));
  HONE_TRY(const std::vector<Value> inputs, make_inputs(session, model, Missing::Random));
  if (!target.is_gpu()) { HONE_TRY(target, codegen::parse_target(session.target())); }
  HONE_TRY(const std::vector<TaskUse> tasks,
           target.is_gpu() ? model_tasks(model.model, target, inputs) : session.tasks(inputs));
  Tuned tuned(file, session.first_choice());
  if (options.task.empty()) {
    list_tasks(tasks, target, tuned);
    return {};
  }
  HONE_TRY(const std::size_t place, find_task(tasks, options.task));
  const TaskUse& use = tasks[place];
  ExplainOptions explaining = options.explain;
  explaining.samples = static_cast<std::size_t>(options.samples);
  HONE_TRY(const TaskExplanation explained, explain(*use.task, target, tuned, explaining));
  fmt::print("task {}: {}, {}, {}FLOPs each\n", place + 1, use.name,
             counted(static_cast<std::uint64_t>(use.uses), "call"), count_text(use.task->flops));
  fmt::print("parameters {}, key {}\n", shapes_text(explained.key.shapes), explained.key.key.substr(0, kKeyDigits));
  show_space(explained);
  show_choice(explained, file);
  return {};
}

}  // namespace

Action add_explain(CLI::App& parser) {
  const auto options = std::make_shared<ExplainCommandOptions>();
  options->model.add_to(parser);
  add_text(parser, "task", options->task, "TASK",
           "the number of a task, its name, or the first digits of its key (all tasks are listed)");
  add_text(parser, "--space", options->explain.space, "auto|mapping|sketch|ansor|template",
           "whose candidates to explain (mapping; auto for GPUs)");
  constexpr std::int64_t kMostSamples = 1'000'000;
  add_number(parser, "--samples", options->samples, 1, kMostSamples,
             "how many candidates of a large space are built to see how many can be (500)");
  return [options] { return run_explain(*options); };
}

}  // namespace hone::command
