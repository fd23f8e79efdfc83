/// Programs for the tests of cost models.
#pragma once

#include <fmt/core.h>

#include "hone/ir/text.h"
#include "hone/schedule/trace.h"

namespace hone::cost {

/// C[i, j] = Σ_k A[i, k] · B[k, j], naive.
inline schedule::Program matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  return ir::parse_function(fmt::format(R"(
func matmul(A: f32[{0}, {2}], B: f32[{2}, {1}], C: f32[{0}, {1}]) {{
  for i in 0..{0} {{
    for j in 0..{1} {{
      for k in 0..{2} {{
        block C {{
          vi: spatial({0}) = i
          vj: spatial({1}) = j
          vk: reduce({2}) = k
          init {{ C[vi, vj] = 0f32 }}
          C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        }}
      }}
    }}
  }}
}})",
                                        m, n, k))
      .value();
}

/// D = relu(A + 1) · 2 in two blocks, T and D.
inline schedule::Program chain(std::int64_t m, std::int64_t n) {
  return ir::parse_function(fmt::format(R"(
func chain(A: f32[{0}, {1}], D: f32[{0}, {1}]) {{
  alloc T: f32[{0}, {1}]
  for i in 0..{0} {{
    for j in 0..{1} {{
      block T {{
        vi: spatial({0}) = i
        vj: spatial({1}) = j
        T[vi, vj] = max(A[vi, vj] + 1f32, 0f32)
      }}
    }}
  }}
  for p in 0..{0} {{
    for q in 0..{1} {{
      block D {{
        vp: spatial({0}) = p
        vq: spatial({1}) = q
        D[vp, vq] = T[vp, vq] * 2f32
      }}
    }}
  }}
}})",
                                        m, n))
      .value();
}

}  // namespace hone::cost
