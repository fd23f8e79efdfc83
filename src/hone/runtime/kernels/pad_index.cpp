#include "hone/runtime/kernels/pad_index.h"

#include <algorithm>

namespace hone::runtime {
namespace {

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

}  // namespace

Result<PadMode> pad_mode_named(std::string_view name) {
  if (name == "constant") return PadMode::Constant;
  if (name == "edge") return PadMode::Edge;
  if (name == "reflect") return PadMode::Reflect;
  if (name == "wrap") return PadMode::Wrap;
  return error(ErrorCode::InvalidArgument, "mode '{}', allowed are constant, edge, reflect and wrap", name);
}

Result<void> check_pad(const Shape& shape, const Padding& padding, PadMode mode) {
  if (mode == PadMode::Constant) return {};
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 0 && padding.before[i] + padding.after[i] > 0)
      return error(ErrorCode::InvalidArgument, "axis {} has no elements to continue it with", i);
  return {};
}

std::int64_t pad_index(std::int64_t at, std::int64_t extent, PadMode mode) {
  if (at >= 0 && at < extent) return at;
  switch (mode) {
    case PadMode::Constant:
      return -1;
    case PadMode::Edge:
      return std::clamp<std::int64_t>(at, 0, extent - 1);
    case PadMode::Wrap:
      return floor_mod(at, extent);
    case PadMode::Reflect: {
      if (extent == 1) return 0;
      const std::int64_t folded = floor_mod(at, 2 * (extent - 1));
      return std::min(folded, 2 * (extent - 1) - folded);
    }
  }
  return -1;
}

}  // namespace hone::runtime
