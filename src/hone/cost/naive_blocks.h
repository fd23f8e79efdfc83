/// The blocks of a naive program as sentences need them: axes with their extents and strides, looked at once per task.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/support/result.h"

namespace hone::cost {

/// A loop of a naive program, and the variable of the block below it that it moves.
struct NaiveAxis {
  /// How far an access moves with the loop, in elements; 0: not at all. The store first, then up to three loads.
  static constexpr std::size_t kAccesses = 4;

  std::string loop, variable;
  std::int64_t extent = 1;
  bool is_reduction = false;
  std::array<std::int64_t, kAccesses> strides = {};
};

struct NaiveBlock {
  std::string name;
  std::vector<NaiveAxis> axes;        ///< outermost first
  std::vector<std::string> buffers;   ///< what it stores to, then what it loads from
  std::vector<std::string> accessed;  ///< the buffers of NaiveAxis::strides, in their order
  std::size_t loads = 0;              ///< in its update
  double points = 1, operations = 0;  ///< of its domain, and of floats at each point
  bool is_reduction = false;
};

struct NaiveBlocks {
  std::vector<NaiveBlock> blocks;   ///< in the order of the program
  std::size_t main = 0;             ///< the reduction with the most points, or else the block with the most
  std::vector<std::string> params;  ///< names of the parameters

  std::size_t find_block(std::string_view name) const;  ///< its place, or the number of blocks
};

/// An error if there is no block, or an extent is not constant.
Result<NaiveBlocks> naive_blocks(const ir::Function& naive);

}  // namespace hone::cost
