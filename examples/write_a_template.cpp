// A template of one's own: a schedule with knobs, of which every candidate is checked.
// docs/tutorial/05-write-a-template.md does the same in Python.
#include <fmt/core.h>
#include <string>

#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/schedule/primitives.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/space/template/template_space.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

using namespace hone;
using namespace hone::schedule;

namespace {

/// Rows by vectors of columns, the reduction around them. It fits what has a block `matmul` in loops i, j, k, and
/// declares its knobs in the same calls that give what a candidate decided.
Result<void> tile_rows_and_columns(space::Config& config, Schedule& schedule, const space::TemplateContext& context) {
  HONE_TRY(const Path matmul, find_block(schedule.program(), "matmul", "tiles"));
  const std::int64_t rows = ir::constant_value(matmul.block().iters[0].extent);
  const std::int64_t columns = ir::constant_value(matmul.block().iters[1].extent);
  const std::int64_t lanes = context.target.lanes(32), registers = context.target.vector_registers;

  const space::Factors i = config.split("rows", rows, {.policy = space::SplitPolicy::Verbose, .max_factor = 16});
  const space::Factors j = config.split("columns", columns,
                                        {.policy = space::SplitPolicy::Verbose,
                                         .keep = [=](const space::Factors& f) { return f[1] <= 4 * lanes; },
                                         .fallback = {space::kRemaining, lanes}});
  const std::vector<std::string> outer = config.reorder("order", {"i.0", "j.0"});
  config.keep_if([=](const space::Decisions& decided) {
    const std::int64_t vectors = (decided.find("columns")->second[1] + lanes - 1) / lanes;
    return decided.find("rows")->second[1] * vectors < registers;
  });

  HONE_TRY(schedule.apply(Split{"i", {i.begin(), i.end()}}));
  HONE_TRY(schedule.apply(Split{"j", {j.begin(), j.end()}}));
  HONE_TRY(schedule.apply(Reorder{{outer[0], outer[1], "k", "i.1", "j.1"}}));
  HONE_TRY(schedule.apply(Vectorize{"j.1"}));
  return schedule.apply(Unroll{"i.1"});
}

Result<void> example() {
  const tensor::Tensor a = tensor::placeholder("A", {20, 30}), b = tensor::placeholder("B", {30, 70});
  HONE_TRY(const tensor::Tensor c, tensor::matmul(a, b));
  const space::Task task{.algorithms = {{"direct", tensor::lower("product", {a, b}, {c})}}};
  HONE_TRY(const codegen::Target target, codegen::parse_target("x86-64 -mattr=+avx2 -threads=1"));

  space::add_template({"tiles", nullptr, tile_rows_and_columns});
  HONE_TRY(const std::unique_ptr<space::Space> space, space::make_space("template", task, target));
  const space::Sketch& sketch = space->sketches().front();
  fmt::print("'{}' has {} candidates:\n", sketch.name, space::size_of(sketch));
  for (const space::Knob& knob : sketch.knobs) fmt::print("  {} options for {}\n", knob.options.size(), knob.name);

  Rng rng(/*seed=*/1);
  std::vector<ir::Array> expected = ir::random_arguments(task.naive(), rng);
  const std::vector<ir::Array> arguments = expected;
  HONE_TRY(ir::interpret(task.naive(), expected));
  int built = 0, refused = 0, equal = 0;
  for (std::uint64_t i = 0; i < space::size_of(sketch); ++i) {
    const Result<Schedule> made = space->build(space::candidate_at(*space, i));
    (made ? built : refused)++;
    if (!made || i % 7 != 0) continue;  // the interpreter is slow
    std::vector<ir::Array> found = arguments;
    HONE_TRY(ir::interpret(made->program(), found));
    if (ir::max_difference(found.back(), expected.back()) > 1e-5)
      return error(ErrorCode::VerifyError, "{} computes something else",
                   space::to_json(*space, space::candidate_at(*space, i)));
    ++equal;
  }
  fmt::print("{} can be built, {} do not fit the registers, {} were run and compute the same\n", built, refused, equal);
  HONE_TRY(const Schedule first, space->build(space->starts().front()));
  fmt::print("what is tried first:\n");
  for (const Step& step : first.trace()) fmt::print("  {}\n", to_text(step));
  return {};
}

}  // namespace

int main() {
  const Result<void> done = example();
  if (!done) fmt::print(stderr, "write_a_template: {}\n", done.error().message);
  return done ? 0 : 1;
}
