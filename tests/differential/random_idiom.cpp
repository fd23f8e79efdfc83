/// Steps that belong together, as people and searches write them.
#include <algorithm>
#include <array>

#include "random_step.h"

#include "hone/schedule/primitives.h"
#include "hone/schedule/trace.h"

namespace hone::differential {

using namespace schedule;

namespace {

using Steps = std::vector<Step>;

/// Tiles all loops of a block: outer loops outside, inner loops inside; then marks some.
Steps tile(Draw& d) {
  const std::vector<std::string> loops = loops_of(d.program, d.block());
  Steps steps;
  Names outer, inner;
  for (const std::string& loop : loops) {
    steps.push_back(Split{loop, {kRest, d.factor(d.extent_of(loop))}});
    outer.push_back(loop + ".0");
    inner.push_back(loop + ".1");
  }
  if (loops.empty()) return steps;
  Names order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  steps.push_back(Reorder{order});
  if (d.rng.chance(0.5)) steps.push_back(Parallel{outer[0]});
  if (d.rng.chance(0.5)) steps.push_back(Vectorize{d.rng.choose(inner)});
  if (d.rng.chance(0.5)) steps.push_back(Unroll{d.rng.choose(inner)});
  return steps;
}

/// A split by factors that were decided before.
Steps sampled_split(Draw& d) {
  const std::string loop = d.loop(), name = d.decision_name();
  const std::int64_t parts = d.rng.uniform(1, 3);
  Numbers factors;
  for (std::int64_t i = 0; i < parts; ++i) factors.push_back(Number::from(name, i));
  if (d.rng.chance(0.05)) factors.push_back(Number::from(name, parts));
  return {SampleTile{name, loop, parts, 8, {}}, Split{loop, factors}};
}

Steps chosen_split(Draw& d) {
  const std::string name = d.decision_name();
  return {SampleChoice{name, {1, 2, 3, 4, 5}, {}}, Split{d.loop(), {kRest, Number::from(name, 0)}}};
}

Steps sampled_location(Draw& d) {
  const std::string block = d.block(), name = d.decision_name();
  return {SampleLocation{name, block, {}}, ComputeAt{block, "$" + name}};
}

/// A block that accumulates in a copy of its tile, written back tile by tile.
Steps write_through_tile(Draw& d) {
  const std::string block = d.block();
  const std::string loop = d.loop_around(block);
  Steps steps = {CacheWrite{block, d.scope()}};
  const bool is_tiled = d.rng.chance(0.6);
  if (is_tiled) steps.push_back(Split{loop, {kRest, d.factor(d.extent_of(loop))}});
  steps.push_back(ReverseComputeAt{block + ".write", is_tiled ? loop + ".0" : loop});
  return steps;
}

/// A copy of an input, made under a loop, and then overlapped with the computation or given two turns.
Steps staged_input(Draw& d) {
  const std::string block = d.block();
  const Result<Path> path = find_block(d.program, block, "idiom");
  if (!path) return {};
  const std::vector<ir::Expr> read = read_buffers(path->block());
  if (read.empty()) return {};
  const std::string loop = d.loop_around(block), buffer = ir::name_of(d.rng.choose(read));
  const ir::Scope scope = d.scope();
  const std::string copy = buffer + "." + std::string(ir::to_string(scope));
  Steps steps = {CacheRead{block, buffer, scope}, ComputeAt{copy, loop}};
  switch (d.rng.uniform(0, 3)) {
    case 0:
      steps.push_back(SoftwarePipeline{loop});
      break;
    case 1:
      steps.push_back(DoubleBuffer{copy, loop});
      break;
    case 2:
      steps.push_back(StorageAlign{copy, 0, d.rng.uniform(1, 8), 1});
      break;
    default:
      break;
  }
  return steps;
}

/// A nest of products brought into the form of a tensor intrinsic: no tails, lanes innermost, the init outside.
Steps intrinsic(Draw& d) {
  const std::string block = d.one_of(d.reductions);
  const std::vector<std::string> loops = loops_of(d.program, block);
  const Result<Path> path = find_block(d.program, block, "idiom");
  if (!path || path->block().iters.size() != loops.size() || loops.size() < 2) return {};
  const ir::Expr last_read = read_buffers(path->block()).back();
  const ir::DType type = last_read.type();
  const std::int64_t group = type == ir::kI8 ? 4 : type == ir::kBF16 ? 2 : 1, width = d.rng.chance(0.7) ? 4 : 8;
  const std::string lanes = loops[loops.size() - 2], sum = loops.back(), inner = lanes + ".1";

  Numbers multiples(loops.size(), 1);
  multiples[loops.size() - 2] = width;
  multiples.back() = group;
  Steps steps;
  if (group > 1 && d.rng.chance(0.5)) steps.push_back(TransformLayout{ir::name_of(last_read), "(a, b) -> (b, a)"});
  if (d.rng.chance(0.7)) steps.push_back(Pad{block, multiples});
  steps.push_back(Split{lanes, {kRest, width}});
  if (group == 1) {
    steps.push_back(Reorder{{lanes + ".0", sum, inner}});
    steps.push_back(DecomposeReduction{block, d.rng.chance(0.5) ? sum : loops[0]});
    steps.push_back(Tensorize{inner, "fma_f32x" + std::to_string(width)});
  } else {
    steps.push_back(Split{sum, {kRest, group}});
    steps.push_back(Reorder{{lanes + ".0", sum + ".0", inner, sum + ".1"}});
    steps.push_back(DecomposeReduction{block, sum + ".0"});
    steps.push_back(Tensorize{inner, (group == 4 ? "dot4_i8i8i32x" : "dot2_bf16f32x") + std::to_string(width)});
  }
  return steps;
}

/// Partial sums in lanes: the reduction is split, factored, and the factored loop moved and marked.
Steps factored_reduction(Draw& d) {
  const std::string block = d.one_of(d.reductions);
  const std::vector<std::string> loops = loops_of(d.program, block);
  if (loops.empty()) return {};
  const std::string sum = loops.back();
  Steps steps = {Split{sum, {kRest, d.factor(d.extent_of(sum))}},
                 Rfactor{block, sum + (d.rng.chance(0.5) ? ".1" : ".0")}};
  if (d.rng.chance(0.5)) steps.push_back(ComputeAt{block + ".rf", loops[0]});
  return steps;
}

constexpr auto kIdioms =
    std::to_array<Steps (*)(Draw&)>({tile, tile, sampled_split, chosen_split, sampled_location, write_through_tile,
                                     staged_input, intrinsic, factored_reduction});

}  // namespace

std::vector<Step> random_idiom(Rng& rng, const Program& program) {
  Draw draw(rng, program);
  return rng.choose(kIdioms)(draw);
}

}  // namespace hone::differential
