/// Reductions over tensors in blocked layout, taken apart: what their schedules share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/space/layout.h"

namespace hone::space {

/// A reduction whose result has its channels in lanes.
struct ChannelParts {
  std::vector<NaiveLoop> spatial, reduced;
  Lanes lanes;
  std::vector<Read> reads;
  std::optional<NaiveLoop> row;  ///< the innermost axis of positions
  bool has_products = false;     ///< some operand is the same for all channels of the result
  /// How many neighbouring vectors of channels share such an operand: all, or those of one group of channels.
  std::int64_t sharing_vectors = 1;
};

/// Nothing if the loops are not the naive ones, or have no lanes.
std::optional<ChannelParts> channel_parts(const Program& program, const std::string& block);

/// Whether one vector holds what the lanes read.
bool is_vector_of(const Read& read, const ChannelParts& parts);

/// Computes what the block reads, such as a padded image, where it is read, if everything but constants is then read
/// lane by lane as it stands in memory; says whether it did. That pays where each element is used a few times only.
bool inline_padding(Schedule& draft, const std::string& block, std::span<const std::size_t> constants);

/// Lets what reads the result of a block element by element follow each iteration of `loop`, in vectors and written
/// out.
void attach_readers(Schedule& draft, const std::string& block, const std::string& loop);

}  // namespace hone::space
