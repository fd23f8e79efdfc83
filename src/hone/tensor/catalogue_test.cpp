#include "hone/tensor/catalogue.h"

#include <gtest/gtest.h>
#include <set>

#include "hone/ir/equal.h"
#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"

namespace hone::tensor {
namespace {

/// Runs a program on small whole numbers.
Result<void> run(const ir::Function& function, Rng& rng) {
  std::vector<ir::Array> arrays = ir::random_arguments(function, rng);
  return ir::interpret(function, arrays);
}

TEST(Catalogue, EveryProgramVerifiesAndRunsOnWholeNumbers) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    for (const NamedProgram& program : catalogue(rng)) {
      const Result<void> verified = ir::verify(program.function);
      ASSERT_TRUE(verified) << program.name << ", seed " << seed << ": " << verified.error().message;
      const Result<void> done = run(program.function, rng);
      ASSERT_TRUE(done) << program.name << ", seed " << seed << ": " << done.error().message;
    }
  }
}

TEST(Catalogue, EveryProgramPrintsAndParsesBack) {
  Rng rng(1);
  for (const NamedProgram& program : catalogue(rng)) {
    const std::string text = to_text(program.function);
    const Result<ir::Function> parsed = ir::parse_function(text);
    ASSERT_TRUE(parsed) << program.name << ": " << parsed.error().message << "\n" << text;
    EXPECT_TRUE(equal(*parsed, program.function)) << text;
  }
}

TEST(Catalogue, TheSameSeedGivesTheSamePrograms) {
  Rng first(3), second(3);
  const std::vector<NamedProgram> a = catalogue(first), b = catalogue(second);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(to_text(a[i].function), to_text(b[i].function)) << a[i].name;
}

TEST(Catalogue, NamesAreUnique) {
  Rng rng(1);
  std::set<std::string> names;
  for (const NamedProgram& program : catalogue(rng)) EXPECT_TRUE(names.insert(program.name).second) << program.name;
  EXPECT_EQ(names.size(), catalogue_size());
}

}  // namespace
}  // namespace hone::tensor
