/// Layouts: which values between kernels are stored with their channels in blocks.
#pragma once

#include <span>
#include <vector>

#include "hone/graph/partition.h"

namespace hone::graph {

/// How many channels stand side by side in memory, for each value of a graph; 0 where the layout is plain. A value of
/// shape [N, C, H, W] and block B is stored as [N, C / B, H, W, B]: a convolution then reads and writes whole vectors.
using ChannelBlocks = std::vector<std::int64_t>;

/// Chooses the blocks: for what convolutions make and for what is computed from that channel by channel, as far as only
/// kernels touch it. `programs` are the naive programs of the Kernel groups, in order. A block is `lanes`, or a half or
/// a quarter of it, whichever divides the channels first.
ChannelBlocks choose_channel_blocks(const Stage& stage, std::span<const Group> groups,
                                    std::span<const ir::Function> programs, std::int64_t lanes);

/// The shape as it is stored.
Shape blocked_shape(const Shape& shape, std::int64_t block);

}  // namespace hone::graph
