/// How the lanes of a vector find the elements of a tensor in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/graph/kernel_reads.h"

namespace hone::graph {

/// Where neighbouring lanes read.
enum class LaneAccess : std::uint8_t {
  Same,    ///< all the same element
  Vector,  ///< neighbouring elements, in order
  Near,    ///< within the same few elements as a vector would, such as a group of channels for a few lanes each
  Apart,   ///< anything else: element by element
};

/// How `width` lanes along variable `lane` read, if the tensor of this shape is stored in blocks of `block` channels (0
/// is plain). Tried at a few places; what is not arithmetic is Apart.
LaneAccess lane_access(const std::vector<ir::Expr>& indices, std::span<const std::int64_t> shape, std::int64_t block,
                       const ir::Expr& lane, std::int64_t width, const KernelResult& result);

}  // namespace hone::graph
