/// The schedule of attention, softmax(q · kᵀ) · v: a block of queries at a time, so that the scores of that block alone
/// exist, in the cache.
#pragma once

#include <cstdint>

#include "hone/codegen/target.h"
#include "hone/schedule/trace.h"

namespace hone::space {

/// What is computed at a time.
struct AttentionTile {
  std::int64_t queries = 24;                        ///< of a block
  std::int64_t rows = 6;                            ///< of the register tiles of both products
  std::int64_t key_vectors = 4, value_vectors = 4;  ///< columns of the two
};

/// What suits the target's caches and registers: an error if the program is no attention.
Result<AttentionTile> default_attention_tile(const schedule::Program& naive, const codegen::Target& target);

/// Schedules a program that computes scores as products of queries and keys, exponentials of a function of these, and
/// the product of those and values, with whatever stands element by element or row by row between them. Blocks of
/// queries of all heads run in parallel. An error if the program is of another kind.
Result<schedule::Schedule> schedule_attention(const schedule::Program& naive, const AttentionTile& tile,
                                              const codegen::Target& target);

}  // namespace hone::space
