/// Comparing a scheduled program with the naive one: in the interpreter, and as machine code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/ir/array.h"
#include "hone/ir/stmt.h"

namespace hone::differential {

/// What a program computes from one set of random whole numbers.
struct Reference {
  std::vector<ir::Array> before, after;  ///< one array per parameter
  double tolerance;                      ///< 0 if every operation is exact on small whole numbers
};

/// Runs the naive program in the interpreter.
Result<Reference> make_reference(const ir::Function& naive, std::uint64_t seed);

/// What is wrong with the program in the interpreter; nothing if it computes what the reference says.
std::optional<std::string> wrong_in_interpreter(const ir::Function& program, const Reference& reference);

/// What is wrong with the program as machine code for this target, on one thread and on two. Arguments lie against
/// inaccessible pages.
std::optional<std::string> wrong_as_machine_code(const ir::Function& program, const Reference& reference,
                                                 const codegen::Target& target);

/// SSE4.2, AVX2 and AVX-512, as far as this machine has them.
const std::vector<codegen::Target>& runnable_targets();

}  // namespace hone::differential
