/// The blocks of an attention, found in a naive program.
#pragma once

#include <cstdint>
#include <string>

#include "hone/schedule/program.h"
#include "hone/support/result.h"

namespace hone::space {

/// Names of the blocks of each stage, and extents.
struct AttentionStages {
  std::string scores;           ///< the products of queries and keys
  std::string attended;         ///< the products of exponentials and values
  std::string parts, combined;  ///< what is kept of blocks of keys, and the sum of it (tensor/key_blocks.h), or empty
  std::string result;           ///< the last block, which writes the result
  std::string key;              ///< the buffer that the scores read along their columns
  std::int64_t heads = 0;       ///< of all batches
  std::int64_t queries = 0, keys = 0, columns = 0;
  std::int64_t key_block = 0;                                ///< keys at a time; all of them if there are no parts
  bool has_swapped_key = false, has_swapped_result = false;  ///< whether they have positions before heads
  bool has_f32_scores = false;

  bool has_key_blocks() const { return !parts.empty(); }
};

/// The stages; an error if the program is of another kind.
Result<AttentionStages> find_attention_stages(const schedule::Program& naive);

}  // namespace hone::space
