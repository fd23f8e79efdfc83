#include "random_step.h"

#include <algorithm>
#include <initializer_list>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/trace.h"

namespace hone::differential {

using namespace schedule;

namespace {

template <typename T>
T choose(Rng& rng, std::initializer_list<T> items) {
  return items.begin()[rng.uniform(0, static_cast<std::int64_t>(items.size()) - 1)];
}

std::size_t shuffled_index(Rng& rng, std::size_t last) {
  return static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(last)));
}

template <typename T>
void shuffle(Rng& rng, std::vector<T>& items) {
  for (std::size_t i = items.size(); i-- > 1;) std::swap(items[i], items[shuffled_index(rng, i)]);
}

}  // namespace

Draw::Draw(Rng& random, const Program& scheduled) : rng(random), program(scheduled) {
  for (const ir::Expr& param : program.params) buffers.push_back(ir::name_of(param));
  ir::walk(program.body, [&](const ir::Stmt& s) {
    if (const ir::For* loop = s.as<ir::For>()) loops.push_back(ir::name_of(loop->var));
    if (const ir::Block* block = s.as<ir::Block>()) {
      blocks.push_back(block->name);
      if (is_reduction(*block)) reductions.push_back(block->name);
    }
    if (const ir::Allocate* allocate = s.as<ir::Allocate>()) {
      buffers.push_back(ir::name_of(allocate->buffer));
      allocated.push_back(ir::name_of(allocate->buffer));
    }
  });
}

std::string Draw::one_of(const std::vector<std::string>& names) {
  if (names.empty() || rng.chance(0.01)) return rng.chance(0.5) ? "missing" : "";
  return rng.choose(names);
}

std::string Draw::loop_around(const std::string& block) { return one_of(loops_of(program, block)); }

std::int64_t Draw::extent_of(const std::string& loop) const {
  const Result<Path> path = find_loop(program, loop, "extent_of");
  return path ? ir::as_int(path->loop().extent).value_or(1) : 1;
}

std::int64_t Draw::factor(std::int64_t extent) {
  if (rng.chance(0.02)) return choose<std::int64_t>(rng, {-1, -7, 0, 1'000'003, INT64_MAX, INT64_MIN});
  if (rng.chance(0.1)) return extent + rng.uniform(0, 2);
  return choose<std::int64_t>(rng, {1, 2, 2, 3, 4, 4, 5, 7, 8});
}

ir::Scope Draw::scope() {
  return choose(rng, {ir::Scope::Global, ir::Scope::Local, ir::Scope::Local, ir::Scope::Register, ir::Scope::Shared});
}

std::string Draw::decision_name() { return rng.chance(0.02) ? "d" : "d" + std::to_string(rng.uniform(0, 1'000'000)); }

namespace {

Step draw_split(Draw& d) {
  const std::string loop = d.loop();
  const std::int64_t extent = d.extent_of(loop);
  Numbers factors;
  const std::int64_t parts = d.rng.chance(0.7) ? 2 : d.rng.uniform(0, 4);
  for (std::int64_t i = 0; i < parts; ++i) factors.push_back(d.factor(extent));
  if (!factors.empty() && d.rng.chance(0.9)) d.rng.choose(factors) = kRest;
  return Split{loop, factors};
}

Step draw_fuse(Draw& d) {
  const std::string block = d.block();
  const std::vector<std::string> around = loops_of(d.program, block);
  if (around.size() < 2 || d.rng.chance(0.05)) return Fuse{{d.loop(), d.loop()}};
  const std::size_t first = shuffled_index(d.rng, around.size() - 2);
  const std::size_t count = 2 + (first + 2 < around.size() && d.rng.chance(0.2) ? 1 : 0);
  Names names(around.begin() + static_cast<std::ptrdiff_t>(first),
              around.begin() + static_cast<std::ptrdiff_t>(first + count));
  if (d.rng.chance(0.03)) std::reverse(names.begin(), names.end());
  return Fuse{names};
}

Step draw_reorder(Draw& d) {
  Names names;
  for (const std::string& loop : loops_of(d.program, d.block()))
    if (d.rng.chance(0.6)) names.push_back(loop);
  shuffle(d.rng, names);
  if (d.rng.chance(0.03)) names.push_back(d.loop());
  return Reorder{names};
}

Step draw_parallel(Draw& d) { return Parallel{d.loop()}; }
Step draw_vectorize(Draw& d) {
  const std::vector<std::string> around = loops_of(d.program, d.block());
  return Vectorize{around.empty() || d.rng.chance(0.2) ? d.loop() : around.back()};
}
Step draw_unroll(Draw& d) { return Unroll{d.loop()}; }

Step draw_bind(Draw& d) {
  using enum ir::ForKind;
  return Bind{d.loop(), choose(d.rng, {BlockX, BlockY, ThreadX, ThreadY, ThreadZ, VThread, Parallel})};
}

Step draw_annotate(Draw& d) {
  const std::string target = d.rng.chance(0.5) ? d.loop() : d.block();
  if (d.rng.chance(0.3)) return Annotate{target, "unroll", "16"};  // which code generation reads
  return Annotate{target, choose<std::string>(d.rng, {"note", "other", ""}), "a \"b\"\n\\"};
}

Step draw_compute_at(Draw& d) {
  const std::string block = d.block();
  const std::vector<std::string> places = locations(d.program, block);
  return ComputeAt{block, places.empty() || d.rng.chance(0.1) ? d.loop() : d.rng.choose(places)};
}

Step draw_reverse_compute_at(Draw& d) {
  const std::string block = d.block();
  return ReverseComputeAt{block, d.rng.chance(0.5) ? d.loop() : d.loop_around(d.block())};
}

Step draw_compute_inline(Draw& d) { return ComputeInline{d.block()}; }
Step draw_reverse_compute_inline(Draw& d) { return ReverseComputeInline{d.block()}; }

Step draw_cache_read(Draw& d) {
  const std::string block = d.block();
  std::vector<std::string> read;
  if (const Result<Path> path = find_block(d.program, block, "draw"))
    for (const ir::Expr& buffer : read_buffers(path->block())) read.push_back(ir::name_of(buffer));
  return CacheRead{block, d.rng.chance(0.9) ? d.one_of(read) : d.buffer(), d.scope()};
}

Step draw_cache_write(Draw& d) { return CacheWrite{d.block(), d.scope()}; }

Step draw_rfactor(Draw& d) {
  const std::string block = d.one_of(d.rng.chance(0.9) ? d.reductions : d.blocks);
  return Rfactor{block, d.loop_around(block)};
}

Step draw_decompose_reduction(Draw& d) {
  const std::string block = d.one_of(d.rng.chance(0.9) ? d.reductions : d.blocks);
  return DecomposeReduction{block, d.loop_around(block)};
}

Step draw_set_scope(Draw& d) { return SetScope{d.storage(), d.scope()}; }

Step draw_storage_align(Draw& d) {
  const std::int64_t factor = d.factor(16);
  return StorageAlign{d.storage(), d.rng.uniform(0, d.rng.chance(0.1) ? 4 : 1), factor, d.rng.uniform(0, 2)};
}

/// Tiles, permutes, shifts and joins axes of a buffer with extents `shape`.
std::string draw_map(Draw& d, const std::vector<std::int64_t>& shape) {
  if (d.rng.chance(0.03))
    return choose<std::string>(d.rng, {"", "(a) -> (a, )", "(a, b) -> (a)", "(a) -> (a // 0)", "(a, b) -> (a + b)",
                                       "(a) -> (a - 5)", "(a, a) -> (a)"});
  std::string names;
  std::vector<std::string> terms;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::string name = "d" + std::to_string(axis);
    names += (axis == 0 ? "" : ", ") + name;
    const std::string factor = std::to_string(d.rng.uniform(2, 5));
    if (d.rng.chance(0.4)) {
      terms.push_back(name + " // " + factor);
      terms.push_back(name + " % " + factor);
    } else if (d.rng.chance(0.15)) {
      terms.push_back(name + " + " + factor);
    } else if (!terms.empty() && d.rng.chance(0.15)) {
      terms.back() = "(" + terms.back() + ") * " + std::to_string(shape[axis]) + " + " + name;
    } else {
      terms.push_back(name);
    }
  }
  if (d.rng.chance(0.7)) shuffle(d.rng, terms);
  std::string places;
  for (const std::string& term : terms) places += (places.empty() ? "" : ", ") + term;
  return "(" + names + ") -> (" + places + ")";
}

Step draw_transform_layout(Draw& d) {
  const std::string name = d.buffer();
  std::vector<std::int64_t> shape;
  if (const Result<ir::Expr> buffer = find_buffer(d.program, name, "draw"))
    for (const ir::Expr& extent : buffer->get<ir::Buffer>().shape) shape.push_back(ir::as_int(extent).value_or(1));
  return TransformLayout{name, draw_map(d, shape)};
}

Step draw_pad(Draw& d) {
  const std::string block = d.block();
  Numbers multiples;
  if (const Result<Path> path = find_block(d.program, block, "draw"))
    for (std::size_t i = 0; i < path->block().iters.size(); ++i)
      multiples.push_back(d.rng.chance(0.5) ? 1 : d.factor(4));
  if (d.rng.chance(0.03)) multiples.push_back(2);
  return Pad{block, multiples};
}

/// Mostly a divisor of the variable's extent.
Step draw_split_variable(Draw& d) {
  const std::string block = d.block();
  const Result<Path> path = find_block(d.program, block, "draw");
  if (!path || path->block().iters.empty() || d.rng.chance(0.05)) return SplitVariable{block, "vi", d.factor(4)};
  const ir::Iter& iter = d.rng.choose(path->block().iters);
  const std::int64_t extent = ir::as_int(iter.extent).value_or(1);
  std::vector<std::int64_t> divisors = {2};
  for (std::int64_t i = 1; i <= extent && i <= 16; ++i)
    if (extent % i == 0) divisors.push_back(i);
  return SplitVariable{block, ir::name_of(iter.var), d.rng.choose(divisors)};
}

Step draw_double_buffer(Draw& d) { return DoubleBuffer{d.storage(), d.loop()}; }
Step draw_software_pipeline(Draw& d) { return SoftwarePipeline{d.loop()}; }
Step draw_prefetch(Draw& d) { return Prefetch{d.buffer(), d.loop(), d.rng.uniform(d.rng.chance(0.1) ? -1 : 1, 4)}; }
/// Mostly two nested loops, and a buffer that the block inside them reads.
Step draw_spread_prefetch(Draw& d) {
  const std::string block = d.block();
  const std::vector<std::string> loops = loops_of(d.program, block);
  const Result<Path> path = find_block(d.program, block, "draw");
  const std::int64_t distance = d.rng.uniform(d.rng.chance(0.1) ? -1 : 1, 4);
  if (!path || loops.size() < 2 || d.rng.chance(0.1)) return SpreadPrefetch{d.buffer(), d.loop(), d.loop(), distance};
  const std::int64_t outer = d.rng.uniform(0, static_cast<std::int64_t>(loops.size()) - 2);
  const std::int64_t inner = d.rng.uniform(outer + 1, static_cast<std::int64_t>(loops.size()) - 1);
  const std::vector<ir::Expr> read = read_buffers(path->block());
  const std::string buffer = read.empty() ? d.buffer() : ir::name_of(d.rng.choose(read));
  return SpreadPrefetch{buffer, loops[static_cast<std::size_t>(outer)], loops[static_cast<std::size_t>(inner)],
                        distance};
}

Step draw_tensorize(Draw& d) {
  return Tensorize{d.loop(), choose<std::string>(d.rng, {"fma_f32x4", "fma_f32x8", "dot4_i8i8i32x4", "dot4_u8i8i32x4",
                                                         "dot2_bf16f32x4", "no_such_thing"})};
}

Step draw_sample_tile(Draw& d) {
  return SampleTile{d.decision_name(), d.loop(), d.rng.uniform(d.rng.chance(0.05) ? 0 : 1, 4), d.rng.uniform(1, 8), {}};
}
Step draw_sample_choice(Draw& d) {
  std::vector<std::int64_t> options;
  for (std::int64_t i = d.rng.uniform(0, 4); i > 0; --i) options.push_back(d.rng.uniform(1, 8));
  return SampleChoice{d.decision_name(), options, {}};
}
Step draw_sample_location(Draw& d) {
  return SampleLocation{d.decision_name(), d.rng.chance(0.03) ? "no_such_block" : d.block(), {}};
}

/// How often each kind is drawn, and how.
struct Kind {
  int weight;
  Step (*draw)(Draw&);
};
constexpr Kind kKinds[] = {
    {14, draw_split},
    {8, draw_fuse},
    {8, draw_reorder},
    {5, draw_parallel},
    {6, draw_vectorize},
    {5, draw_unroll},
    {4, draw_bind},
    {3, draw_annotate},
    {10, draw_compute_at},
    {8, draw_reverse_compute_at},
    {5, draw_compute_inline},
    {6, draw_reverse_compute_inline},
    {8, draw_cache_read},
    {8, draw_cache_write},
    {6, draw_rfactor},
    {6, draw_decompose_reduction},
    {4, draw_set_scope},
    {4, draw_storage_align},
    {8, draw_transform_layout},
    {5, draw_pad},
    {5, draw_split_variable},
    {5, draw_double_buffer},
    {5, draw_software_pipeline},
    {4, draw_prefetch},
    {4, draw_spread_prefetch},
    {2, draw_tensorize},
    {2, draw_sample_tile},
    {2, draw_sample_choice},
    {2, draw_sample_location},
};
static_assert(std::size(kKinds) == std::variant_size_v<Step>, "each kind of step has a line");

}  // namespace

Step random_step(Rng& rng, const Program& program) {
  Draw draw(rng, program);
  int total = 0;
  for (const Kind& kind : kKinds) total += kind.weight;
  std::int64_t drawn = rng.uniform(0, total - 1);
  for (const Kind& kind : kKinds) {
    drawn -= kind.weight;
    if (drawn < 0) return kind.draw(draw);
  }
  fail_check("drawn < 0", "the weights do not add up", std::source_location::current());
}

}  // namespace hone::differential
