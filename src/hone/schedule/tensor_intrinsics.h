/// Tensor intrinsics: small computations that a processor does with one vector instruction.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hone/ir/stmt.h"

namespace hone::schedule {

/// What tensorize puts in place of a loop nest. The description is a function of three buffers, A, B and C, with one
/// nest of loops around one block without init, which stores C = C + …. Each loop is a group of vector lanes: an access
/// gets lanes for the loops of the description it depends on, outermost first.
struct TensorIntrinsic {
  std::string name;
  std::string doc;
  ir::Function description;
  /// The new value of C's lanes from the elements of A, B and C; a scalar where the description has no loop for it.
  ir::Expr (*implement)(const ir::Expr& a, const ir::Expr& b, const ir::Expr& c);
};

/// All of them: dot products of 4 bytes (dot4_u8i8i32xN, dot4_i8i8i32xN) and of 2 bf16 (dot2_bf16f32xN), and products
/// with a scalar (fma_f32xN), for N = 16, 8 and 4 lanes.
std::span<const TensorIntrinsic> tensor_intrinsics();

/// The intrinsic of this name; the error lists what there is.
Result<const TensorIntrinsic*> find_tensor_intrinsic(std::string_view name);

}  // namespace hone::schedule
