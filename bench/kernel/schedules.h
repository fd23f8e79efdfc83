/// The kernels that bench_kernel times: definitions, and schedules written with the public primitives alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/ir/stmt.h"
#include "hone/schedule/step.h"

namespace hone::bench {

/// A kernel to time: what it computes and the trace that makes it fast.
struct Case {
  std::string name;
  ir::Function naive;
  schedule::Trace trace;
  bool packs_ahead;      ///< whether an operand is packed before the kernel is timed
  double flops;          ///< useful floating-point operations, additions and multiplications counted apart
  double tolerance = 0;  ///< how far the result may be from the naive program's
};

/// Whether B is known ahead, like a weight, and packed before the kernel runs, or comes with each call. A streamed B is
/// constant, too large for the cache and used by few rows, so each block of it is fetched while the one before is used.
enum class OperandB { Constant, Streamed, Variable };

/// The tile sizes of a GEMM. The register tile is `rows` by `vectors` vectors of `lanes`.
struct GemmTile {
  std::int64_t rows, vectors, lanes;
  std::int64_t n_block, k_block;
  OperandB b;
};

/// C = A · B in f32, row-major. A variable B is packed into panels inside the kernel, so the time includes that.
Case gemm(std::int64_t m, std::int64_t n, std::int64_t k, const GemmTile& tile);

/// Convolution 3×3, padding 1, in blocked layout [C/16][H][W][16]; the padded copy of the input is part of the kernel.
Case conv3x3_blocked(std::int64_t channels, std::int64_t size, std::int64_t lanes);

/// Winograd convolution F(m, 3) of 3×3, padding 1, in and out in blocked layout [1][C/lanes][H][W][lanes], with weights
/// transformed ahead; floating-point operations are those of the direct convolution, so more than the peak is possible.
/// `tile` holds the fields of space::WinogradTile; empty: what the target suggests.
Case winograd(std::int64_t channels, std::int64_t size, std::int64_t m, const std::vector<std::int64_t>& tile,
              const codegen::Target& target);

}  // namespace hone::bench
