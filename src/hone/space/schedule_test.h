/// What tests of schedules share: the comparison of a scheduled program, compiled, with the naive one, interpreted.
#pragma once

#include <gtest/gtest.h>

#include "hone/codegen/compile.h"
#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/trace.h"
#include "hone/support/function_ref.h"

namespace hone::space {

/// Expects the last parameter to be the same after both programs ran on random numbers, which `change` may change.
inline void expect_same_result(
    const ir::Function& naive, const Result<schedule::Schedule>& made, const codegen::Target& target,
    double tolerance = 1e-5, FunctionRef<void(std::vector<ir::Array>&)> change = [](std::vector<ir::Array>&) {}) {
  ASSERT_TRUE(made) << made.error().message << "\n" << ir::to_text(naive);
  const ir::Function& program = made->program();
  ASSERT_TRUE(ir::verify(program)) << ir::to_text(program);
  Rng rng(/*seed=*/1);
  std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
  change(expected);
  std::vector<ir::Array> found = expected;
  ASSERT_TRUE(ir::interpret(naive, expected));
  codegen::CompileOptions options;
  options.runtime = {hone_parallel_for, hone_allocate, hone_release};
  const auto compiled = codegen::compile(ir::Module{{program}}, target, options);
  ASSERT_TRUE(compiled) << compiled.error().message;
  std::vector<void*> pointers;
  for (ir::Array& array : found) pointers.push_back(array.data());
  runtime::ThreadPool pool(2);
  ASSERT_TRUE((*compiled->find(program.name))(pointers, &pool));
  EXPECT_LE(ir::max_difference(found.back(), expected.back()), tolerance) << ir::to_text(program);
}

}  // namespace hone::space
