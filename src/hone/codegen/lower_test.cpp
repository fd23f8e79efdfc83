#include "hone/codegen/lower.h"

#include "hone/codegen/pass_test.h"

namespace hone::codegen {
namespace {

using namespace ir;

void expect_lowers(std::string_view text) {
  const Function f = program(text);
  for (const int vector_bits : {128, 512}) {
    expect_lowered(checked_lower(f, vector_bits));
    if (testing::Test::HasFailure()) FAIL() << text;
  }
}

TEST(Lower, KeepsANaiveMatmul) {
  expect_lowers(R"(func matmul(A: f32[5, 7], B: f32[7, 3], C: f32[5, 3]) {
  for i in 0..5 {
    for j in 0..3 {
      for k in 0..7 {
        block C {
          vi: spatial(5) = i
          vj: spatial(3) = j
          vk: reduce(7) = k
          init {
            C[vi, vj] = 0f32
          }
          C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        }
      }
    }
  }
}
)");
}

constexpr std::string_view kTiledMatmul = R"(func matmul(A: f32[37, 20], B: f32[20, 70], C: f32[37, 70]) {
  for i.0 in 0..5 parallel {
    for j.0 in 0..3 {
      for k.0 in 0..3 {
        for k.1 in 0..8 {
          for i.1 in 0..8 unrolled {
            for j.1 in 0..32 vectorized {
              block C {
                vi: spatial(37) = i.0 * 8 + i.1
                vj: spatial(70) = j.0 * 32 + j.1
                vk: reduce(20) = k.0 * 8 + k.1
                where i.0 * 8 + i.1 < 37 and j.0 * 32 + j.1 < 70 and k.0 * 8 + k.1 < 20
                init {
                  C[vi, vj] = 0f32
                }
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
              }
            }
          }
        }
      }
    }
  }
}
)";

TEST(Lower, KeepsATiledMatmulWithTailsOnAllSides) { expect_lowers(kTiledMatmul); }

TEST(Lower, KeepsPackedPanelsAndAccumulators) {
  expect_lowers(R"(func matmul(A: f32[32, 24], B: f32[24, 64], C: f32[32, 64]) {
  alloc Bp: f32[24, 64]
  alloc Cl: f32[32, 64] in local
  for j.0 in 0..2 parallel {
    for k.0 in 0..24 {
      for j.1 in 0..32 vectorized {
        block Bp {
          vk: spatial(24) = k.0
          vj: spatial(64) = j.0 * 32 + j.1
          Bp[vk, vj] = B[vk, vj]
        }
      }
    }
    for i.0 in 0..4 {
      for k in 0..24 {
        for i.1 in 0..8 unrolled {
          for j.2 in 0..32 vectorized {
            block Cl {
              vi: spatial(32) = i.0 * 8 + i.1
              vj: spatial(64) = j.0 * 32 + j.2
              vk: reduce(24) = k
              init {
                Cl[vi, vj] = 0f32
              }
              Cl[vi, vj] = Cl[vi, vj] + A[vi, vk] * Bp[vk, vj]
            }
          }
        }
      }
      for i.2 in 0..8 unrolled {
        for j.3 in 0..32 vectorized {
          block C {
            vi: spatial(32) = i.0 * 8 + i.2
            vj: spatial(64) = j.0 * 32 + j.3
            C[vi, vj] = max(Cl[vi, vj], 0f32)
          }
        }
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace hone::codegen
