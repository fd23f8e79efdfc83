// Loads, stores, masks and scratch memory of generated code.

#include <array>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hone/codegen/kernel_test.h"
#include "hone/runtime/thread_pool.h"

namespace hone::codegen {
namespace {

using namespace ir;

constexpr std::int64_t kElements = 64;

Expr masked_load(const Expr& buffer, const Expr& at, const Expr& mask) {
  return make(Load{.buffer = buffer, .indices = {at}, .mask = mask});
}

Stmt masked_store(const Expr& buffer, const Expr& at, const Expr& value, const Expr& mask) {
  return make(Store{.buffer = buffer, .indices = {at}, .value = value, .mask = mask});
}

Expr splat(const Expr& scalar, int lanes) { return make(Broadcast{scalar}, lanes); }

/// One function per way to address memory, on elements of `type`.
Module addressing(DType type, int lanes) {
  const Expr a = flat_buffer("a", type, kElements), out = flat_buffer("out", type, kElements), i = var("i");
  const Expr here = ramp(i * lanes, lanes), even = ramp(i * (2 * lanes), lanes, 2),
             back = ramp(imm(kElements - 1) - i * lanes, lanes, -1);
  const Expr wild = floor_mod(here * 7, constant(here.type(), kElements));
  const std::int64_t steps = kElements / lanes;
  Module module;
  const auto add = [&](const char* name, std::int64_t count, const Stmt& body) {
    module.functions.push_back({name, {a, out}, loop(i, count, body)});
  };
  add("contiguous", steps, store(out, {here}, load(a, {here})));
  add("sum_of_ramp", steps, store(out, {here}, load(a, {splat(i * lanes, lanes) + ramp(imm(0), lanes)})));
  add("strided_load", steps / 2, store(out, {here}, load(a, {even})));
  add("strided_store", steps / 2, store(out, {even + 1}, load(a, {here})));
  add("reversed_load", steps, store(out, {here}, load(a, {back})));
  add("reversed_store", steps, store(out, {back}, load(a, {here})));
  add("gather", steps, store(out, {here}, load(a, {wild})));
  // Four lanes at each place; the last vector ends where the buffer does, though its load could reach further.
  const Expr lane = ramp(imm(0), lanes), four = floor_div(lane, 4), some_step = eq(floor_mod(i, 2), 0);
  const Expr stepped = splat(i * lanes + 3, lanes) + four * 4, far = four * lanes + splat(i, lanes);
  add("stepped_load", steps, store(out, {here}, load(a, {stepped})));
  add("stepped_load_of_neighbours", steps,
      store(out, {here}, load(a, {four + splat(i * lanes, lanes) - splat(i, lanes)})));
  add("stepped_load_with_a_rest", steps, store(out, {here}, load(a, {floor_div(lane, 3) * 2 + splat(i, lanes)})));
  add("stepped_load_too_far_apart", 4, store(out, {here}, load(a, {far})));
  add("stepped_load_if", steps, store(out, {here}, masked_load(a, stepped, splat(some_step, lanes))));
  add("scatter", steps, store(out, {wild}, load(a, {here})));
  add("scatter_the_last_lane_wins", steps, store(out, {splat(i, lanes)}, load(a, {here})));
  add("broadcast_load", steps, store(out, {here}, load(a, {splat(i, lanes)})));
  const Expr tail = here < splat(imm(kElements - 5), lanes), spread = eq(floor_mod(here, 3), 1);
  const Expr some = eq(floor_mod(i, 2), 0);
  add("tail_load", steps, store(out, {here}, masked_load(a, here, tail)));
  add("tail_at_most", steps, store(out, {here}, masked_load(a, here, here <= splat(imm(kElements - 5), lanes))));
  add("tail_store", steps, masked_store(out, here, load(a, {here}), tail));
  add("spread_load", steps, store(out, {here}, masked_load(a, here, spread)));
  add("spread_store", steps, masked_store(out, here, load(a, {here}), spread));
  add("masked_gather", steps, store(out, {here}, masked_load(a, wild, spread)));
  add("masked_scatter", steps, masked_store(out, wild, load(a, {here}), spread));
  add("masked_reversed", steps, store(out, {here}, masked_load(a, back, spread)));
  add("masked_broadcast", steps, store(out, {here}, masked_load(a, splat(i, lanes), spread)));
  add("uniform_mask_load", steps, store(out, {here}, masked_load(a, here, splat(some, lanes))));
  add("uniform_mask_store", steps, masked_store(out, here, load(a, {here}), splat(some, lanes)));
  add("uniform_mask_gather", steps, store(out, {here}, masked_load(a, wild, splat(some, lanes))));
  add("scalar_load", kElements, store(out, {i}, masked_load(a, i + 1, i < kElements - 1)));
  add("scalar_store", kElements, masked_store(out, i + 1, load(a, {i}), i < kElements - 1));
  add("all_true", steps, store(out, {here}, masked_load(a, here, constant(kBool.with_lanes(lanes), std::int64_t{1}))));
  return module;
}

TEST(Memory, EveryWayToAddressAgreesWithTheInterpreter) {
  for (const Target& target : runnable_targets())
    for (const DType type : {kBool, kI8, kF16, kF32, kF64}) {
      expect_as_interpreted(addressing(type, 16), target, draw_values);
      if (type == kF32) expect_as_interpreted(addressing(type, 4), target, draw_values);
    }
}

/// Two pages, the second of which must not be touched.
class GuardedPage {
 public:
  GuardedPage() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ =
        static_cast<std::byte*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page_, page_, PROT_NONE);
  }
  ~GuardedPage() { munmap(memory_, 2 * page_); }
  /// The last `bytes` bytes before the guard.
  void* last(std::size_t bytes) { return memory_ + page_ - bytes; }

 private:
  std::size_t page_;
  std::byte* memory_;
};

TEST(Memory, MaskedAccessesAtTheEndOfAPageDoNotFault) {
  for (const Target& target : runnable_targets())
    for (const DType type : {kI8, kF32, kF64}) {
      const std::int64_t size = 21;
      const int lanes = 16;
      const Expr a = flat_buffer("a", type, size), out = flat_buffer("out", type, size), i = var("i");
      const Expr at = ramp(i * lanes, lanes), inside = at < splat(imm(size), lanes);
      const Function function = {
          "copy", {a, out}, loop(i, 3, masked_store(out, at, masked_load(a, at, inside), inside))};
      const Result<CompiledModule> module = compile(Module{{function}}, target, test_options());
      ASSERT_TRUE(module) << module.error().message;
      const std::size_t bytes = static_cast<std::size_t>(size * type.bytes());
      GuardedPage in_page, out_page;
      std::memset(in_page.last(bytes), 3, bytes);
      const std::array<void*, 2> args = {in_page.last(bytes), out_page.last(bytes)};
      ASSERT_TRUE(module->find("copy").value()(args));
      EXPECT_EQ(std::memcmp(in_page.last(bytes), out_page.last(bytes), bytes), 0) << to_string(target);
    }
}

TEST(Memory, ScratchBuffersOfEveryScopeAndSizeHoldTheirValues) {
  Module module;
  const Expr a = flat_buffer("a", kF32, kElements), out = flat_buffer("out", kF32, kElements);
  int number = 0;
  for (const Scope scope : {Scope::Global, Scope::Local, Scope::Register})
    for (const std::int64_t size : {std::int64_t{64}, std::int64_t{1} << 17}) {
      if (scope == Scope::Register && size > 64) continue;
      const Expr scratch = buffer("scratch", kF32, std::vector<std::int64_t>{size}, scope), i = var("i"), j = var("j");
      const std::int64_t offset = size - kElements;
      const Stmt fill = loop(i, kElements, store(scratch, {i + offset}, load(a, {i}) * constant(kF32, 2.0)));
      const Stmt drain = loop(j, kElements, store(out, {j}, load(scratch, {imm(size - 1) - j})));
      module.functions.push_back(
          {"scratch" + std::to_string(number++), {a, out}, make(Allocate{scratch, seq({fill, drain})})});
    }
  for (const Target& target : runnable_targets()) expect_as_interpreted(module, target, draw_values);
}

TEST(Memory, AFailedAllocationIsAnErrorAndTheBodyDoesNotRun) {
  const Expr out = flat_buffer("out", kF32, 1), scratch = flat_buffer("scratch", kF32, 1 << 20), i = var("i");
  const Stmt body = make(Allocate{
      scratch, seq({store(scratch, {imm(0)}, constant(kF32, 1.0)), store(out, {imm(0)}, load(scratch, {imm(0)}))})});
  for (const ForKind how : {ForKind::Serial, ForKind::Parallel}) {
    CompileOptions options = test_options();
    options.runtime.allocate = [](std::int64_t) -> void* { return nullptr; };
    const auto module = compile(Module{{{"f", {out}, loop(i, 3, body, how)}}}, host_target(), options);
    ASSERT_TRUE(module) << module.error().message;
    std::vector<Array> arrays = {Array(kF32, {1})};
    const Result<void> ran = run(*module, "f", arrays);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ErrorCode::OutOfMemory);
    EXPECT_EQ(ran.error().message, "kernel 'f' could not allocate its scratch memory");
    EXPECT_EQ(arrays[0].float_at(0), 0);
  }
}

/// Nested loops, a captured variable, scratch on the stack and on the heap, inside a parallel loop.
Function parallel_function(ForKind inner) {
  const std::int64_t rows = 13, columns = 7;
  const Expr a = flat_buffer("a", kF32, rows * columns), out = flat_buffer("out", kF32, rows * columns);
  const Expr outer_scratch = flat_buffer("outer_scratch", kF32, rows * columns);
  const Expr large = flat_buffer("large", kF32, 1 << 16), small = flat_buffer("small", kF32, columns);
  const Expr row = var("row"), column = var("column"), scale = var("scale", kF32), begin = var("begin"), k = var("k");
  const Expr at = begin + column;
  Stmt body = seq({store(small, {column}, load(a, {at}) * scale), store(large, {column * 100}, load(small, {column})),
                   store(outer_scratch, {at}, load(large, {column * 100}))});
  body = make(Allocate{large, make(Allocate{small, loop(column, columns, body, inner)})});
  body = loop(row, rows, make(Let{begin, row * columns, body}), ForKind::Parallel);
  const Stmt copy = loop(k, rows * columns, store(out, {k}, load(outer_scratch, {k})), ForKind::Parallel);
  body = make(Let{scale, load(a, {imm(0)}), make(Allocate{outer_scratch, seq({body, copy})})});
  return {"parallel", {a, out}, body};
}

TEST(Parallel, LoopsComputeTheSameOnAnyNumberOfThreads) {
  for (const Target& target : runnable_targets())
    for (const int threads : {1, 2}) {
      runtime::ThreadPool pool(threads);
      Module module{{parallel_function(ForKind::Serial)}};
      expect_as_interpreted(module, target, draw_values, 0, &pool);
      expect_as_interpreted(module, target, draw_values, 0, nullptr);
    }
}

TEST(Parallel, NestedParallelLoopsComputeTheSame) {
  runtime::ThreadPool pool(2);
  // The inner loop's scratch is private to an outer iteration; its iterations write different places.
  const std::int64_t rows = 5, columns = 11;
  const Expr a = flat_buffer("a", kI32, rows * columns), out = flat_buffer("out", kI32, rows * columns);
  const Expr row = var("row"), column = var("column");
  const Stmt body = store(out, {row * columns + column}, load(a, {row * columns + column}) + 1);
  const Function nested = {
      "nested", {a, out}, loop(row, rows, loop(column, columns, body, ForKind::Parallel), ForKind::Parallel)};
  expect_as_interpreted(Module{{nested}}, host_target(), draw_values, 0, &pool);
}

TEST(Loops, EmptyAndSingleLoopsAndBranchesAgreeWithTheInterpreter) {
  const Expr a = flat_buffer("a", kI32, 8), out = flat_buffer("out", kI32, 8), i = var("i");
  Module module;
  for (const ForKind how : {ForKind::Serial, ForKind::Parallel})
    for (const std::int64_t extent : {0, 1, 7}) {
      const Stmt then = store(out, {i}, load(a, {i}) * 3), otherwise = store(out, {i}, load(a, {i}));
      const Stmt branch = make(If{eq(floor_mod(i, 2), 0), then, otherwise});
      const Stmt bare = make(If{i < 2, store(out, {i + 1}, load(a, {imm(0)}))});
      module.functions.push_back({"loop_" + std::string(to_string(how)) + std::to_string(extent),
                                  {a, out},
                                  loop(i, extent, seq({branch, bare, make(Barrier{})}))});
    }
  const Expr n = var("n");
  const Stmt inner = loop(i, 1, store(out, {n}, load(a, {n})));
  module.functions.push_back({"variable_extent",
                              {a, out},
                              loop(n, 8, make(For{.var = i, .extent = n, .body = store(out, {i}, load(a, {n}))}))});
  module.functions.push_back({"nothing", {a, out}, seq({})});
  module.functions.push_back(
      {"prefetch",
       {a, out},
       loop(n, 8, seq({make(Evaluate{call(Intrinsic::Prefetch, {load(a, {n + 100})})}), inner}))});
  expect_as_interpreted(module, host_target(), draw_values);
}

}  // namespace
}  // namespace hone::codegen
