/// What the tests of the passes share: programs from text, and the comparison with the interpreter.
#pragma once

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "hone/codegen/lower.h"
#include "hone/codegen/mask_loads.h"
#include "hone/ir/interpret.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/support/rng.h"

namespace hone::codegen {

/// The program that the text describes; the test fails if it describes none.
inline ir::Function program(std::string_view text) {
  ir::Function parsed = ir::parse_function(text).value();
  const Result<void> verified = ir::verify(parsed);
  EXPECT_TRUE(verified) << verified.error().message;
  return parsed;
}

inline std::vector<std::int64_t> shape_of(const ir::Expr& buffer) {
  std::vector<std::int64_t> shape;
  for (const ir::Expr& extent : buffer.get<ir::Buffer>().shape) shape.push_back(ir::constant_value(extent));
  return shape;
}

/// The contents of all parameters after a run on random whole numbers, or the error.
inline Result<std::vector<ir::Array>> run(const ir::Function& f, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<ir::Array> arrays = ir::random_arguments(f, rng);
  HONE_TRY(ir::interpret(f, arrays));
  return arrays;
}

/// Whether both programs compute the same values, bit for bit; the second may have flat buffers.
inline testing::AssertionResult same_values(const ir::Function& expected, const ir::Function& found,
                                            std::uint64_t seed = 1) {
  const auto a = run(expected, seed), b = run(found, seed);
  if (!a) return testing::AssertionFailure() << "before: " << a.error().message << "\n" << ir::to_text(expected);
  if (!b) return testing::AssertionFailure() << "after: " << b.error().message << "\n" << ir::to_text(found);
  for (std::size_t i = 0; i < a->size(); ++i)
    for (std::int64_t e = 0; e < (*a)[i].size(); ++e)
      if ((*a)[i].float_at(e) != (*b)[i].float_at(e) &&
          !(std::isnan((*a)[i].float_at(e)) && std::isnan((*b)[i].float_at(e))))
        return testing::AssertionFailure() << "parameter " << i << ", element " << e << ": " << (*a)[i].float_at(e)
                                           << " before, " << (*b)[i].float_at(e) << " after\n"
                                           << ir::to_text(found);
  return testing::AssertionSuccess();
}

/// Lowers the program for vectors of `vector_bits` bits, verifying and running it after each pass.
inline ir::Function checked_lower(const ir::Function& f, int vector_bits = 512) {
  Target target;
  target.vector_bits = vector_bits;
  PassOptions options{.verify = true};
  options.after_pass = [&](std::string_view pass, const ir::Function& program, std::int64_t) {
    EXPECT_TRUE(same_values(f, program)) << "after " << pass;
  };
  const Result<ir::Function> lowered = lower(f, target, options);
  EXPECT_TRUE(lowered) << lowered.error().message;
  return lowered ? *lowered : f;
}

inline int count_unmasked_loads(const ir::Function& f) {
  int count = 0;
  ir::walk(
      f.body, [](const ir::Stmt&) {}, [&](const ir::Expr& e) { count += e.as<ir::Load>() && !e.get<ir::Load>().mask; });
  return count;
}

/// Expects what lower() promises of its result.
inline void expect_lowered(const ir::Function& f) {
  using namespace ir;
  walk(f.body, [&](const Stmt& s) {
    const For* loop = s.as<For>();
    const Allocate* allocation = s.as<Allocate>();
    EXPECT_FALSE(s.as<Block>());
    EXPECT_TRUE(!loop || loop->how == ForKind::Serial || loop->how == ForKind::Parallel) << name_of(loop->var);
    EXPECT_TRUE(!allocation || allocation->buffer.get<Buffer>().shape.size() == 1) << name_of(allocation->buffer);
  });
  EXPECT_EQ(count_unmasked_loads(f), count_unmasked_loads(mask_loads(f))) << "a load in a Select is open\n"
                                                                          << to_text(f);
}

}  // namespace hone::codegen
