/// The template space (after AutoTVM, arXiv 1805.08166): schedules written by people, with knobs where they were not
/// sure.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hone/space/space.h"
#include "hone/space/template/config.h"

namespace hone::space {

/// What a template may ask beside the program.
struct TemplateContext {
  std::span<const std::size_t> constants;  ///< parameters that never change between runs: they may be packed
  const codegen::Target& target;
};

/// A schedule with knobs for the tasks that it fits. It runs on several threads at once.
struct Template {
  std::string name;
  /// Steps that come before any decision; they are applied once for a task. None: there are no such steps.
  std::function<Result<void>(schedule::Schedule&, const TemplateContext&)> prepare;
  /// Declares knobs and applies steps. An error in the run that declares means that the template does not fit, but for
  /// InvalidArgument, which is a mistake in the template. An error with decisions means that there is no such
  /// candidate.
  std::function<Result<void>(Config&, schedule::Schedule&, const TemplateContext&)> apply;
};

/// Adds a template to those that spaces made from now on try, before the built-in ones; one of the same name, also a
/// built-in one, is replaced. Thread-safe.
void add_template(Template made);
/// Removes all that add_template added.
void clear_templates();
/// All templates for a target in the order in which they are tried: added ones, latest first, then the built-in ones.
std::vector<Template> all_templates(const codegen::Target& target);

/// The candidates of a task by templates: for each algorithm a sketch for each template that fits, and one, without
/// knobs, for the default schedule, which is the first candidate. What to try first are the fallbacks of the templates,
/// then the defaults. An error names a template that is wrong in itself.
Result<std::unique_ptr<Space>> make_template_space(const Task& task, const codegen::Target& target);
Result<std::unique_ptr<Space>> make_template_space(const Task& task, const codegen::Target& target,
                                                   const std::vector<Template>& templates);

}  // namespace hone::space
