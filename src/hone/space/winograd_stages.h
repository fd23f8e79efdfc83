/// The blocks of a Winograd convolution, found in a naive program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/schedule/program.h"

namespace hone::space {

/// Names of the blocks of each stage (see tensor/winograd.cpp), and extents.
struct WinogradStages {
  std::string pad;  ///< what the tiles are read from; empty if that is a parameter
  std::string weight_rows, weight_points, input_rows, input_points, products, output_rows;
  std::string result;               ///< the last block, which writes the result
  std::vector<std::string> others;  ///< all further blocks, in their order
  ir::Expr weight;                  ///< the buffer that weights are read from

  std::int64_t tile = 0;                           ///< results of a tile along each axis
  std::int64_t images = 0, rows = 0, columns = 0;  ///< how many tiles there are
  std::int64_t in_channels = 0, out_channels = 0;
  int bits = 32;  ///< of an element of the products

  std::int64_t points() const { return (tile + 2) * (tile + 2); }
};

/// The stages, or nothing if the program has no Winograd convolution, or its result is not an output of the function
/// whose axes are batch, channel, y and x.
std::optional<WinogradStages> find_winograd_stages(const schedule::Program& naive);

}  // namespace hone::space
