/// The kernels that bench_kernel times: definitions, and schedules written with the public primitives alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/schedule/step.h"

namespace hone::bench {

/// A kernel to time: what it computes and the trace that makes it fast.
struct Case {
  std::string name;
  ir::Function naive;
  schedule::Trace trace;
  double flops;  ///< useful floating-point operations, additions and multiplications counted apart
};

/// The tile sizes of a GEMM. The register tile is `rows` by `vectors` vectors of `lanes`.
struct GemmTile {
  std::int64_t rows = 6, vectors = 4, lanes = 16;
  std::int64_t n_block = 256, k_block = 256;
  bool pack_a = false;  ///< pays where rows of A lie a multiple of 4 KiB apart
};

/// C = A · B in f32, row-major; the operands are packed inside the kernel, so the time includes the packing.
Case gemm(std::int64_t m, std::int64_t n, std::int64_t k, const GemmTile& tile);

/// Convolution 3×3, padding 1, in blocked layout [C/16][H][W][16]; the padded copy of the input is part of the kernel.
Case conv3x3_blocked(std::int64_t channels, std::int64_t size, std::int64_t lanes);

}  // namespace hone::bench
