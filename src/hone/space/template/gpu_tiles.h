/// What the templates for GPUs share: tiles of a product, as AutoTVM's templates for CUDA have them.
///
/// The last axes are tiled, each with an index of its own (x, y, z), all others are indices of blocks; the reduction is
/// cut into parts, whose operands all threads of a block copy to shared memory together.
#pragma once

#include <cstdint>
#include <string>

#include "hone/space/sketch/analysis.h"
#include "hone/space/template/template_space.h"

namespace hone::space {

/// What a template is for.
enum class GpuKind : std::uint8_t { Dense, BatchMatmul, Conv2d, Depthwise, Winograd };

/// A block that sums products, taken apart.
struct GpuProduct {
  std::string block;
  BlockParts parts;
  GpuKind kind = GpuKind::Dense;
};

/// The reduction with the most work, or why it is none that could be tiled.
Result<GpuProduct> find_gpu_product(const Program& program);

/// Lets the block read its operands through shared memory.
Result<void> share_operands(Schedule& draft, const GpuProduct& product);
/// Lets the block sum in registers, which an elementwise consumer reads, or a copy writes to memory.
Result<void> sum_in_registers(Schedule& draft, const GpuProduct& product);

/// Declares the knobs of a product whose operands are shared and whose sums are in registers, and tiles it as they say.
Result<void> tile_gpu_product(Config& config, Schedule& draft, const GpuProduct& product,
                              const codegen::Target& target);

}  // namespace hone::space
