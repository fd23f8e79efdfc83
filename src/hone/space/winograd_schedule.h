/// The schedule of a Winograd convolution: a few tiles at a time from input to result, their values at the points in
/// the cache meanwhile.
#pragma once

#include <cstdint>

#include "hone/codegen/target.h"
#include "hone/schedule/trace.h"

namespace hone::space {

/// What is computed at a time, and how the matrix products are tiled.
struct WinogradTile {
  std::int64_t images = 1, rows = 1, columns = 1;  ///< the tiles of a block: their number is the product
  std::int64_t channels = 64;                      ///< out channels whose products stand in the cache at once
  std::int64_t gemm_rows = 6, gemm_vectors = 4;    ///< accumulators of the products: tiles by vectors of out channels
  bool fetches_weights = false;                    ///< whether weights are fetched while those before them are used
  bool fetches_tensors = false;  ///< whether what the next block reads and writes is fetched while this one is computed
};

/// Whether the program is that of tensor::winograd_conv, perhaps with other blocks before and after it.
bool is_winograd(const schedule::Program& naive);

/// The buffer that the weights of a program that is_winograd are read from.
ir::Expr winograd_weight(const schedule::Program& naive);

/// Decisions about a Winograd convolution; 0 leaves a decision to the rules.
struct WinogradChoice {
  std::int64_t tiles = 0;                        ///< about how many tiles a block has
  std::int64_t gemm_rows = 0, gemm_vectors = 0;  ///< see WinogradTile
  std::int64_t channels = 0;
};

/// What suits the target's caches, registers and threads. The program must be one that is_winograd.
WinogradTile default_winograd_tile(const schedule::Program& naive, const codegen::Target& target,
                                   const WinogradChoice& choice = {});

/// Schedules a program that is_winograd: elementwise blocks around the convolution become part of its transforms.
/// Vectors run along channels, whatever the layout of the parameters. The transformed weight is a block annotated
/// `prepack` if `packs_weight`, for split_prepack to run ahead of time. Blocks of tiles run in parallel, or out
/// channels if there is one block only. An error if something else than elementwise blocks stands around the
/// convolution.
Result<schedule::Schedule> schedule_winograd(const schedule::Program& naive, bool packs_weight,
                                             const WinogradTile& tile, const codegen::Target& target);

}  // namespace hone::space
