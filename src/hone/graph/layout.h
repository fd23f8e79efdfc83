/// Layouts: which values between kernels are stored with their channels in blocks.
#pragma once

#include <span>
#include <vector>

#include "hone/graph/layout_cost.h"
#include "hone/graph/partition.h"

namespace hone::graph {

/// How many channels stand side by side in memory, for each value of a graph; 0 where the layout is plain. A value of
/// shape [N, C, H, W] and block B is stored as [N, C / B, H, W, B]: a convolution then reads and writes whole vectors.
using ChannelBlocks = std::vector<std::int64_t>;

/// The kernel of a group, as far as layouts matter.
struct LayoutKernel {
  ir::Function program;      ///< naive, all values plain
  bool is_winograd = false;  ///< whether its convolution is likely computed by Winograd's algorithm
};

/// The blocks in which each value may be stored, 0 (plain) first, then the largest.
using LayoutOptions = std::vector<std::vector<std::int64_t>>;

/// What may be chosen. Blocks are `lanes` or half as many channels, where these divide the channels of floats of three
/// to five axes that only kernels touch; and that are images: convolutions or pooling read or make them, or they are
/// made, channel by channel, of an image, or an image of them. `kernels` are those of the Kernel groups, in order.
LayoutOptions layout_options(const Stage& stage, std::span<const Group> groups, std::span<const LayoutKernel> kernels,
                             std::int64_t lanes);

/// Chooses the layouts of all values together, so that the kernels are expected to take the least time in all
/// (layout_cost.h). The topic "layout" of the log tells what was chosen.
ChannelBlocks choose_channel_blocks(const Stage& stage, std::span<const Group> groups,
                                    std::span<const LayoutKernel> kernels, const LayoutMachine& machine);

/// About how many cycles the kernel of a group takes if values are stored like this.
double layout_cost(const Stage& stage, const Group& group, const LayoutKernel& kernel, const ChannelBlocks& blocks,
                   const LayoutMachine& machine);

/// The shape as it is stored.
Shape blocked_shape(const Shape& shape, std::int64_t block);

}  // namespace hone::graph
