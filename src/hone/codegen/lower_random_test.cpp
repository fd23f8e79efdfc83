#include <algorithm>
#include <gtest/gtest.h>

#include "hone/codegen/kernel_test.h"
#include "hone/codegen/pass_test.h"
#include "hone/schedule/primitives.h"
#include "hone/tensor/catalogue.h"

namespace hone::codegen {
namespace {

using schedule::Program;

/// One random step, most of them legal; an illegal one leaves the program as it was.
Program random_step(const Program& program, Rng& rng) {
  const std::vector<schedule::Path> blocks = schedule::blocks(program);
  if (blocks.empty()) return program;
  const std::string block = rng.choose(blocks).block().name;
  const std::vector<std::string> loops = schedule::loops_of(program, block);
  if (loops.empty()) return program;
  const std::string loop = rng.choose(loops), other = rng.choose(loops);
  const auto next = std::find(loops.begin(), loops.end(), loop) + 1;
  const std::vector<std::string> pair = {loop, next == loops.end() ? other : *next};
  const std::int64_t factors[] = {schedule::kRest, rng.uniform(1, 9)};
  const schedule::Path found = schedule::find_block(program, block, "test").value();
  const std::vector<ir::Expr> inputs = schedule::read_buffers(found.block());
  const std::vector<ir::Expr> outputs = schedule::written_buffers(found.block());
  const std::string input = ir::name_of(inputs.empty() ? rng.choose(outputs) : rng.choose(inputs));
  const ir::Scope scope = rng.chance(0.5) ? ir::Scope::Local : ir::Scope::Global;
  const auto step = [&]() -> Result<Program> {
    switch (rng.uniform(0, 16)) {
      case 0:
      case 1:
      case 2:
        return schedule::split(program, loop, factors);
      case 3:
        return schedule::fuse(program, pair);
      case 4:
        return schedule::reorder(program, std::vector<std::string>{other, loop});
      case 5:
        return schedule::vectorize(program, loops.back());
      case 6:
        return schedule::unroll(program, loop);
      case 7:
        return schedule::parallel(program, loop);
      case 8:
        return schedule::compute_at(program, rng.choose(blocks).block().name, loop);
      case 9:
        return schedule::reverse_compute_at(program, rng.choose(blocks).block().name, loop);
      case 10:
        return schedule::compute_inline(program, block);
      case 11:
        return schedule::cache_read(program, block, input, scope);
      case 12:
        return schedule::cache_write(program, block, scope);
      case 13:
        return schedule::rfactor(program, block, loop);
      case 14:
        return schedule::decompose_reduction(program, block, loop);
      case 15:
        return schedule::storage_align(program, input, 0, 8, 3);
      default:
        return schedule::annotate(program, loop, "unroll", "16");
    }
  };
  return step().value_or(program);
}

std::vector<ir::Array> draw_whole(const ir::Function& f) {
  Rng rng(/*seed=*/1);
  return ir::random_arguments(f, rng);
}

TEST(LowerRandom, SchedulesOfEveryDefinitionKeepTheirValuesThroughEveryPass) {
  const int rounds = std::getenv("HONE_SHORT_TESTS") ? 1 : 5;
  for (std::size_t entry = 0; entry < tensor::catalogue_size(); ++entry)
    for (int round = 0; round < rounds; ++round) {
      Rng rng(entry * 1000 + 17 + static_cast<std::uint64_t>(round));
      const tensor::NamedProgram naive = tensor::catalogue_entry(entry, rng);
      Program program = naive.function;
      for (int i = 0; i < 6 * round; ++i) program = random_step(program, rng);
      const int vector_bits = rng.chance(0.5) ? 512 : 128;
      expect_lowered(checked_lower(program, vector_bits));
      if (round == rounds - 1)
        expect_as_interpreted({{program}}, host_target(), draw_whole, 1e-2);  // a wrong element is a whole number off
      ASSERT_FALSE(testing::Test::HasFailure()) << naive.name << ", entry " << entry << ", round " << round << "\n"
                                                << ir::to_text(program);
    }
}

}  // namespace
}  // namespace hone::codegen
