/// Attention over blocks of keys: sums of exponentials that need the scores of one block at a time.
///
/// Each block has exponentials relative to its own largest score, m. What is kept of it are their sum, their product
/// with the values, and m; blocks are added with the weights exp(m - base), whatever the base of the whole row turns
/// out to be (Milakov and Gimelshein, arXiv 1805.02867; flash attention, arXiv 2205.14135, splits rows the same way).
#pragma once

#include "hone/tensor/tensor.h"

namespace hone::tensor {

/// The block that writes what is kept: [batch, head, query, block of keys, columns + 2], the products first, then the
/// sum, then the largest score.
inline constexpr const char* kKeyBlockParts = "key_block_parts";
/// The block that adds the products of all blocks of keys: [batch, head, query, column].
inline constexpr const char* kKeyBlockSums = "key_block_sums";

class KeyBlocks {
 public:
  /// The value of a column at a key, for one row of scores [batch, head, query].
  using Value = FunctionRef<ir::Expr(const Indices& row, const ir::Expr& key, const ir::Expr& column)>;

  /// `scores`: floats [batch, head, query, key]; `block`: keys at a time, the last block may have fewer. Scores of
  /// minus infinity weigh nothing, also where a block has no others.
  KeyBlocks(const Tensor& scores, std::int64_t block, std::int64_t columns, Value value);

  /// The largest score of each row: [batch, head, query, 1].
  const Tensor& largest() const { return largest_; }

  /// exp(score - base) summed over the keys, [batch, head, query, 1], and times the values, [batch, head, query,
  /// column]. `base`: [batch, head, query, 1].
  struct Sums {
    Tensor total, attended;
  };
  Sums sums(const Tensor& base) const;

 private:
  Shape rows_;  ///< batch, head, query
  std::int64_t blocks_, columns_;
  Tensor parts_, largest_;
};

}  // namespace hone::tensor
