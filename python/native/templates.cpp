#include "templates.h"

#include <algorithm>
#include <memory>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"

#include "hone/ir/text.h"
#include "hone/schedule/trace.h"
#include "hone/space/blocks.h"
#include "hone/space/default_program.h"
#include "hone/space/loop_steps.h"
#include "hone/space/template/template_space.h"

namespace hone::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

using Lists = std::vector<std::vector<std::int64_t>>;

void check(const Result<void>& result) {
  if (!result) raise(result.error());
}

/// Something of C++ that a template may use while it runs, and not any longer.
template <typename T>
class Lent {
 public:
  explicit Lent(T& thing) : thing_(&thing) {}
  void take_back() { thing_ = nullptr; }
  T& operator*() const {
    if (!thing_) raise(ErrorCode::InvalidArgument, "this can be used only while the template runs");
    return *thing_;
  }
  T* operator->() const { return &**this; }

 private:
  T* thing_;
};

using LentConfig = Lent<space::Config>;

/// The program with what is known about its task.
struct LentSchedule {
  Lent<schedule::Schedule> schedule;
  Lent<const space::TemplateContext> context;

  const schedule::Program& program() const { return schedule->program(); }
};

/// A Python function that C++ copies and destroys on any thread.
using SharedFunction = std::shared_ptr<nb::callable>;

SharedFunction share(nb::callable function) {
  return {new nb::callable(std::move(function)), [](nb::callable* shared) {
            if (!Py_IsInitialized()) return;  // at the end of the process nothing is left to release
            const nb::gil_scoped_acquire gil;
            delete shared;
          }};
}

/// What a Python function raised: hone's errors about programs are refusals, all others mistakes in the template.
Error refusal_of(const nb::python_error& raised) {
  if (!is_hone_error(raised)) return error(ErrorCode::InvalidArgument, "{}", raised.what());
  const std::string code = nb::cast<std::string>(nb::getattr(raised.value(), "code", nb::str("")));
  const bool is_mistake = code == to_string(ErrorCode::InvalidArgument) || code == to_string(ErrorCode::ParseError);
  return error(is_mistake ? ErrorCode::InvalidArgument : ErrorCode::Unsupported, "{}", nb::str(raised.value()).c_str());
}

/// Runs a Python function on a schedule.
Result<void> run_template(const SharedFunction& function, space::Config& config, schedule::Schedule& schedule,
                          const space::TemplateContext& context) {
  const nb::gil_scoped_acquire gil;
  const nb::object lent_config = nb::cast(LentConfig(config));
  const nb::object lent_schedule = nb::cast(LentSchedule{Lent(schedule), Lent(context)});
  Result<void> result;
  try {
    (*function)(lent_config, lent_schedule);
  } catch (const nb::python_error& raised) { result = refusal_of(raised); }
  nb::cast<LentConfig&>(lent_config).take_back();
  LentSchedule& view = nb::cast<LentSchedule&>(lent_schedule);
  view.schedule.take_back();
  view.context.take_back();
  return result;
}

space::ConfigFilter filter_of(nb::callable predicate) {
  return [shared = share(std::move(predicate))](const space::Decisions& decisions) {
    const nb::gil_scoped_acquire gil;
    nb::dict decided;
    for (const auto& [knob, values] : decisions) decided[knob.c_str()] = values;
    try {
      return nb::cast<bool>((*shared)(decided));
    } catch (const nb::python_error& raised) {
      nb::python_error again = raised;
      again.discard_as_unraisable("the filter of a template");
      return false;
    }
  };
}

template <typename Policy>
Policy find_policy(std::initializer_list<std::pair<const char*, Policy>> policies, const std::string& name) {
  std::string names;
  for (const auto& [known, policy] : policies) {
    if (name == known) return policy;
    names += names.empty() ? known : std::string(", ") + known;
  }
  raise(ErrorCode::InvalidArgument, "there is no policy '" + name + "', only: " + names);
}

space::Factors split(const LentConfig& config, const std::string& knob, std::int64_t extent, std::size_t outputs,
                     const std::string& policy, std::optional<std::int64_t> max_factor, std::optional<bool> tails,
                     std::optional<Lists> candidates, std::optional<nb::callable> keep,
                     std::optional<space::Factors> fallback) {
  using enum space::SplitPolicy;
  space::SplitRule rule{.outputs = outputs};
  rule.policy = find_policy<space::SplitPolicy>(
      {{"factors", Divisors}, {"power2", PowersOfTwo}, {"verbose", Verbose}, {"candidate", Candidates}}, policy);
  if (max_factor) rule.max_factor = *max_factor;
  if (tails) rule.tails = *tails ? space::Tails::Allowed : space::Tails::Never;
  if (candidates) rule.candidates = *std::move(candidates);
  if (keep) rule.keep = [&](const space::Factors& factors) { return nb::cast<bool>((*keep)(nb::cast(factors))); };
  if (fallback) rule.fallback = *std::move(fallback);
  space::Factors factors = config->split(knob, extent, rule);
  check(config->status());
  return factors;
}

std::vector<std::string> reorder(const LentConfig& config, const std::string& knob,
                                 const std::vector<std::string>& loops, const std::string& policy,
                                 std::pair<std::size_t, std::size_t> interval, Lists candidates, Lists spatial,
                                 Lists reduced, std::size_t fallback) {
  using enum space::ReorderPolicy;
  const space::ReorderRule rule{.policy = find_policy<space::ReorderPolicy>({{"identity", Identity},
                                                                             {"all", All},
                                                                             {"interval_all", Interval},
                                                                             {"candidate", Candidates},
                                                                             {"interleave", Interleave},
                                                                             {"interleave_cuda", InterleaveCuda}},
                                                                            policy),
                                .interval = interval,
                                .candidates = std::move(candidates),
                                .spatial = std::move(spatial),
                                .reduced = std::move(reduced),
                                .fallback = fallback};
  std::vector<std::string> ordered = config->reorder(knob, loops, rule);
  check(config->status());
  return ordered;
}

std::vector<std::int64_t> annotate(const LentConfig& config, const std::string& knob, std::size_t loops,
                                   const std::string& policy) {
  std::vector<std::int64_t> numbers;
  for (const space::Mark mark : config->annotate(knob, loops, policy))
    numbers.push_back(static_cast<std::int64_t>(mark));
  check(config->status());
  return numbers;
}

void mark_loops(const LentSchedule& view, const std::vector<std::string>& loops,
                const std::vector<std::int64_t>& marks) {
  std::vector<space::Mark> known;
  for (const std::int64_t mark : marks) known.push_back(static_cast<space::Mark>(mark));
  check(space::mark_loops(*view.schedule, loops, known));
}

void apply_step(const LentSchedule& view, const std::string& step) {
  const schedule::Trace trace = unwrap(schedule::parse_trace("[" + step + "]"));
  for (const schedule::Step& one : trace) check(view.schedule->apply(one));
}

std::vector<std::string> names_of_blocks(const LentSchedule& view) {
  std::vector<std::string> names;
  for (const schedule::Path& path : schedule::blocks(view.program())) names.push_back(path.block().name);
  return names;
}

std::vector<std::string> names_of_loops(const LentSchedule& view, const std::string& block) {
  unwrap(schedule::find_block(view.program(), block, "loops"));
  return schedule::loops_of(view.program(), block);
}

std::int64_t extent_of(const LentSchedule& view, const std::string& loop) {
  return ir::as_int(unwrap(schedule::find_loop(view.program(), loop, "extent")).loop().extent).value_or(0);
}

/// The names of the constants among the parameters.
std::vector<std::string> constants_of(const LentSchedule& view) {
  std::vector<std::string> names;
  for (const std::size_t i : view.context->constants) names.push_back(ir::name_of(view.program().params[i]));
  return names;
}

std::vector<std::string> reads_of(const LentSchedule& view, const std::string& block) {
  const schedule::Path path = unwrap(schedule::find_block(view.program(), block, "reads"));
  std::vector<std::string> names;
  for (const space::Read& read : space::reads_of(path.block())) {
    const std::string name = ir::name_of(read.buffer);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// The blocks that read what a block writes.
std::vector<std::string> readers_of(const LentSchedule& view, const std::string& block) {
  const schedule::Path path = unwrap(schedule::find_block(view.program(), block, "readers"));
  std::vector<std::string> names;
  for (const ir::Expr& buffer : schedule::written_buffers(path.block()))
    for (const schedule::Path& reader : schedule::readers(view.program(), buffer)) names.push_back(reader.block().name);
  return names;
}

void add_template(const std::string& name, nb::callable function) {
  space::add_template({name, nullptr,
                       [shared = share(std::move(function))](space::Config& config, schedule::Schedule& schedule,
                                                             const space::TemplateContext& context) {
                         return run_template(shared, config, schedule, context);
                       }});
}

}  // namespace

void define_templates(nb::module_& m) {
  nb::class_<LentConfig>(m, "Config", "What a template declares, and what a candidate decides.")
      .def("split", split, "knob"_a, "extent"_a, "outputs"_a, "policy"_a, "max_factor"_a.none(), "tails"_a.none(),
           "candidates"_a.none(), "keep"_a.none(), "fallback"_a.none())
      .def("reorder", reorder, "knob"_a, "loops"_a, "policy"_a, "interval"_a, "candidates"_a, "spatial"_a, "reduced"_a,
           "fallback"_a)
      .def("annotate", annotate, "knob"_a, "loops"_a, "policy"_a)
      .def(
          "locate",
          [](const LentConfig& config, const std::string& knob, std::size_t loops, std::size_t anchors) {
            std::vector<std::size_t> places = config->locate(knob, loops, anchors);
            check(config->status());
            return places;
          },
          "knob"_a, "loops"_a, "anchors"_a)
      .def(
          "choose",
          [](const LentConfig& config, const std::string& knob, const std::vector<std::int64_t>& numbers,
             std::size_t fallback) {
            const std::int64_t number = config->choose(knob, numbers, fallback);
            check(config->status());
            return number;
          },
          "knob"_a, "numbers"_a, "fallback"_a)
      .def(
          "keep_if", [](const LentConfig& config, nb::callable keep) { config->keep_if(filter_of(std::move(keep))); },
          "predicate"_a);

  nb::class_<LentSchedule>(m, "Schedule", "A program under schedule.")
      .def("apply", apply_step, "step"_a, "Applies one step, given as JSON.")
      .def("mark", mark_loops, "loops"_a, "marks"_a)
      .def("blocks", names_of_blocks)
      .def("loops", names_of_loops, "block"_a)
      .def("extent", extent_of, "loop"_a)
      .def("reads", reads_of, "block"_a)
      .def("readers", readers_of, "block"_a)
      .def("constants", constants_of)
      .def("text", [](const LentSchedule& view) { return ir::to_text(view.program()); })
      .def("main_reduction", [](const LentSchedule& view) { return space::main_reduction(view.program()); })
      .def("inline_blocks",
           [](const LentSchedule& view) { space::inline_blocks(*view.schedule, {}, view.context->target); })
      .def(
          "schedule_other_blocks",
          [](const LentSchedule& view, const std::string& done) {
            space::schedule_other_blocks(*view.schedule, done, view.context->constants, view.context->target);
          },
          "done"_a)
      .def(
          "store_in_reading_order",
          [](const LentSchedule& view, const std::string& block, const std::string& buffer) {
            check(space::store_in_reading_order(*view.schedule, block, buffer));
          },
          "block"_a, "buffer"_a)
      .def_prop_ro("lanes", [](const LentSchedule& view) { return view.context->target.lanes(32); })
      .def_prop_ro("registers", [](const LentSchedule& view) { return view.context->target.vector_registers; })
      .def_prop_ro("threads", [](const LentSchedule& view) { return view.context->target.threads; });

  m.def("add_template", add_template, "name"_a, "function"_a,
        "Adds a template to those that the template space tries first.");
  m.def("clear_templates", space::clear_templates, "Forgets all that were added.");
}

}  // namespace hone::python
