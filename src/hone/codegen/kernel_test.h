/// What the tests of generated code share: the targets this machine can run, and the comparison with the interpreter.
#pragma once

#include <gtest/gtest.h>
#include <vector>

#include "hone/codegen/compile.h"
#include "hone/ir/array.h"
#include "hone/ir/interpret.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"

namespace hone::codegen {

inline CompileOptions test_options() {
  return {.runtime = {.parallel_for = hone_parallel_for, .allocate = hone_allocate, .release = hone_release}};
}

/// SSE4.2, AVX2, AVX-512 and the host itself, as far as this machine has them.
inline std::vector<Target> runnable_targets() {
  std::vector<Target> targets;
  for (const char* text : {"x86-64 -mattr=+sse4.2", "x86-64 -mattr=+avx2", "x86-64 -mattr=+avx512", "cpu"}) {
    const Target target = parse_target(text).value();
    if (compile(ir::Module{}, target)) targets.push_back(target);
  }
  return targets;
}

inline ir::Expr flat_buffer(const char* name, ir::DType type, std::int64_t size) {
  return ir::buffer(name, type, std::vector<std::int64_t>{size});
}

inline ir::Expr ramp(const ir::Expr& base, int lanes, std::int64_t stride = 1) {
  return ir::make(ir::Ramp{base, ir::imm(stride)}, lanes);
}

inline ir::Stmt loop(const ir::Expr& var, std::int64_t extent, const ir::Stmt& body,
                     ir::ForKind how = ir::ForKind::Serial) {
  return ir::make(ir::For{.var = var, .extent = ir::imm(extent), .how = how, .body = body});
}

/// Runs a kernel on arrays.
inline Result<void> run(const CompiledModule& module, std::string_view name, std::vector<ir::Array>& arrays,
                        void* pool = nullptr) {
  std::vector<void*> args;
  for (ir::Array& array : arrays) args.push_back(array.data());
  HONE_TRY(const Kernel kernel, module.find(name));
  return kernel(args, pool);
}

/// Runs each function compiled and interpreted on the same arrays (drawn by `draw(function)`), and expects every array
/// to agree within `tolerance` afterwards.
template <typename Draw>
void expect_as_interpreted(const ir::Module& module, const Target& target, Draw draw, double tolerance = 0,
                           void* pool = nullptr) {
  const Result<CompiledModule> compiled = compile(module, target, test_options());
  ASSERT_TRUE(compiled) << compiled.error().message;
  for (const ir::Function& function : module.functions) {
    std::vector<ir::Array> expected = draw(function), actual = expected;
    const Result<void> interpreted = ir::interpret(function, expected);
    ASSERT_TRUE(interpreted) << function.name << ": " << interpreted.error().message;
    const Result<void> ran = run(*compiled, function.name, actual, pool);
    ASSERT_TRUE(ran) << function.name << ": " << ran.error().message;
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(ir::max_difference(actual[i], expected[i]), tolerance)
          << function.name << ", argument " << i << ", target " << to_string(target);
  }
}

/// Arrays of random values, one a parameter; all from one seed.
inline std::vector<ir::Array> draw_values(const ir::Function& function) {
  Rng rng(/*seed=*/7);
  std::vector<ir::Array> arrays;
  for (const ir::Expr& param : function.params)
    arrays.push_back(ir::random_values(rng, param.type(), {ir::constant_value(param.get<ir::Buffer>().shape[0])}));
  return arrays;
}

}  // namespace hone::codegen
