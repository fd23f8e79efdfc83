/// A catalogue of programs, one or more of every definition at small random shapes: for tests, examples and benchmarks.
#pragma once

#include <string>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/support/rng.h"

namespace hone::tensor {

/// A naive program and what it computes, such as "matmul transpose_b i8".
struct NamedProgram {
  std::string name;
  ir::Function function;
};

/// How many entries the catalogue has; their names do not depend on the shapes drawn.
std::size_t catalogue_size();

/// One entry with shapes drawn from `rng`: primes, 1 and now and then 0. A run in the interpreter takes a few
/// milliseconds. All parameters but the outputs may hold what random_whole() gives: indices then lie inside their axes.
NamedProgram catalogue_entry(std::size_t index, Rng& rng);

/// Every entry once.
std::vector<NamedProgram> catalogue(Rng& rng);

}  // namespace hone::tensor
