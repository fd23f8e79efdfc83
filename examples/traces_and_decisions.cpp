// The program of docs/tutorial/02-traces-and-decisions.md: what a search does with a schedule.
#include <fmt/core.h>
#include <string>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/trace.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

using namespace hone;
using namespace hone::schedule;

namespace {

/// relu(x) · w, with `rows` rows: loops i, j around block relu, then loops i_1, j_1, k around block matmul.
Result<Program> layer(std::int64_t rows) {
  const tensor::Tensor x = tensor::placeholder("X", {rows, 32}), w = tensor::placeholder("W", {32, 40});
  HONE_TRY(const tensor::Tensor y, tensor::matmul(tensor::relu(x), w));
  return tensor::lower("layer", {x, w}, {y});
}

/// A schedule with three open decisions.
Trace sketch() {
  return {
      SampleTile{.name = "rows", .loop = "i_1", .parts = 2, .max_innermost = 8},
      Split{"i_1", {Number::from("rows", 0), Number::from("rows", 1)}},
      SampleChoice{.name = "lanes", .options = {4, 8, 16}},
      Split{"j_1", {kRest, Number::from("lanes", 0)}},
      Reorder{{"i_1.0", "j_1.0", "k", "i_1.1", "j_1.1"}},
      Vectorize{"j_1.1"},
      SampleLocation{.name = "where", .block = "relu"},
      ComputeAt{"relu", "$where"},
  };
}

Result<void> tutorial() {
  HONE_TRY(const Program naive, layer(48));
  Rng rng(/*seed=*/1);
  Schedule schedule(naive);
  for (const Step& step : sketch()) HONE_TRY(schedule.apply(step, rng));
  fmt::print("== drawn\n");
  for (const Step& step : schedule.trace()) fmt::print("{}\n", to_text(step));

  HONE_TRY(schedule.decide(0, {12, 4}));
  HONE_TRY(schedule.decide(6, {1}));
  fmt::print("\n== decided\n{}", ir::to_text(schedule.program()));

  const Result<void> refused = schedule.decide(0, {6, 4});
  fmt::print("\n== refused\n{}\n", refused.error().message);

  const std::string json = to_json(schedule.trace());
  HONE_TRY(const Trace read_back, parse_trace(json));
  HONE_TRY(const Program replayed, replay(naive, read_back));
  fmt::print("\n== replayed\n{}\nequal programs: {}\n", json, ir::equal(replayed, schedule.program()));

  HONE_TRY(const Program taller, layer(96));
  const Result<Program> elsewhere = replay(taller, read_back);
  fmt::print("\n== elsewhere\n{}\n", elsewhere.error().message);

  const Result<Trace> misspelt = parse_trace(R"([{"step": "spilt", "loop": "i", "factors": [0, 8]}])");
  fmt::print("\n== misspelt\n{}\n", misspelt.error().message);
  return {};
}

}  // namespace

int main() {
  const Result<void> done = tutorial();
  if (!done) fmt::print(stderr, "traces_and_decisions: {}\n", done.error().message);
  return done ? 0 : 1;
}
