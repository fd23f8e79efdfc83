/// What can be decided about the tiles of a reduction.
#pragma once

#include <cstdint>

namespace hone::space {

/// Decisions about one reduction; 0 leaves a decision to the rules.
struct TileChoice {
  enum Order : std::int64_t { ColumnsOutside = 1, RowsOutside = 2 };

  std::int64_t rows = 0, vectors = 0;  ///< accumulators: rows (or positions) times vectors of columns (or channels)
  std::int64_t order = 0;              ///< which of both the outer loops run over
  std::int64_t kept_steps = 0;  ///< steps of the outer reduction loop whose operands stay in the cache while all rows
                                ///< use them; -1: all steps
  std::int64_t unroll = 0;      ///< steps of the innermost reduction loop that are written out
};

}  // namespace hone::space
