/// The schedule of attention, softmax(q · kᵀ) · v: a block of queries at a time, so that the scores of that block alone
/// exist, in the cache; where keys are many, a block of keys at a time as well.
#pragma once

#include <cstdint>
#include <optional>

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

/// How an attention may be computed by blocks of keys (tensor/key_blocks.h).
struct KeyBlock {
  std::int64_t keys = 0;   ///< of a block
  bool is_likely = false;  ///< whether that should be faster than all keys at a time
};

/// The blocks that suit the target's caches; none if the program is no attention of 32-bit floats, or has few keys.
std::optional<KeyBlock> key_block_of(const schedule::Program& naive, const codegen::Target& target);

/// Schedules a program that computes scores as products of queries and keys, exponentials of a function of these, and
/// the product of those and values, with whatever stands element by element or row by row between them, for all keys or
/// for blocks of them. Blocks of queries of all heads run in parallel. An error if the program is of another kind.
Result<schedule::Schedule> schedule_attention(const schedule::Program& naive, const AttentionTile& tile,
                                              const codegen::Target& target);

}  // namespace hone::space
