// A rule of one's own for the space of sketches: what it gives stands beside what the built-in rules give, and every
// search, cost model and record works with it.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <string>

#include "hone/ir/interpret.h"
#include "hone/schedule/primitives.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/space/sketch/sketch_space.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

using namespace hone;
using namespace hone::schedule;

namespace {

/// Products: some rows by one vector of columns, the sum around them. The test says for which blocks, and that other
/// rules may be tried as well. Nothing is scheduled before a candidate has decided: the rule leaves an action with
/// knobs.
space::Rule row_blocks() {
  return {"row blocks",
          [](const space::Derivation& derivation, const std::string& block, const space::RuleContext&) {
            const bool fits = loops_of(derivation.program(), block) == std::vector<std::string>{"i", "j", "k"};
            return fits ? space::Verdict::Apply : space::Verdict::Skip;
          },
          [](const space::Derivation& derivation, const std::string& block, const space::RuleContext& context) {
            const std::string rows = block + ".rows";  // knobs are named after their block
            space::Action action{.block = block, .name = "row blocks", .has_tiles = false};
            action.knobs = {{rows, {{1}, {2}, {4}, {8}}}};
            action.first = {2};  // the third option, as long as nothing is measured
            action.apply = [=, lanes = context.target.lanes(32)](space::Building& building) -> Result<void> {
              HONE_TRY(building.apply(Split{"i", {kRest, building.decided(rows)[0]}}));
              HONE_TRY(building.apply(Split{"j", {kRest, lanes}}));
              HONE_TRY(building.apply(Reorder{{"i.0", "j.0", "k", "i.1", "j.1"}}));
              HONE_TRY(building.apply(Unroll{"i.1"}));
              return building.apply(Vectorize{"j.1"});
            };
            space::Derivation next = space::visited(derivation);
            next.actions.push_back(std::move(action));
            return std::vector<space::Derivation>{std::move(next)};
          }};
}

Result<void> example() {
  const tensor::Tensor a = tensor::placeholder("A", {20, 30}), b = tensor::placeholder("B", {30, 70});
  HONE_TRY(const tensor::Tensor c, tensor::matmul(a, b));
  const space::Task task{.algorithms = {{"direct", tensor::lower("product", {a, b}, {c})}}};
  HONE_TRY(const codegen::Target target, codegen::parse_target("x86-64 -mattr=+avx2 -threads=1"));

  space::add_rule(row_blocks());
  HONE_TRY(const std::unique_ptr<space::Space> space, space::make_space("sketch", task, target));
  for (const space::Sketch& sketch : space->sketches())
    fmt::print("'{}' has {} candidates\n", sketch.name, space::size_of(sketch));

  Rng rng(/*seed=*/1);
  std::vector<ir::Array> expected = ir::random_arguments(task.naive(), rng);
  const std::vector<ir::Array> arguments = expected;
  HONE_TRY(ir::interpret(task.naive(), expected));
  for (std::size_t i = 0; i < space->sketches().front().knobs.front().options.size(); ++i) {
    const space::Candidate candidate{.sketch = 0, .choices = {i}};
    HONE_TRY(const Schedule made, space->build(candidate));
    std::vector<ir::Array> found = arguments;
    HONE_TRY(ir::interpret(made.program(), found));
    if (ir::max_difference(found.back(), expected.back()) > 1e-5)
      return error(ErrorCode::VerifyError, "{} computes something else", space::to_json(*space, candidate));
  }
  HONE_TRY(const Schedule first, space->build({.sketch = 0, .choices = {2}}));
  for (const Step& step : first.trace()) fmt::print("  {}\n", to_text(step));
  return {};
}

}  // namespace

int main() {
  const Result<void> done = example();
  if (!done) fmt::print(stderr, "write_a_rule: {}\n", done.error().message);
  return done ? 0 : 1;
}
