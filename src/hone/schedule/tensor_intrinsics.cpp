#include "hone/schedule/tensor_intrinsics.h"

#include <vector>

#include "hone/ir/text.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Repeats a short vector of 32 bits in all lanes of `c`.
Expr repeat(const Expr& a, const Expr& c) {
  const int lanes = c.type().lanes;
  const Expr word = make(Call{Intrinsic::Bitcast, {a}}, kI32);
  const DType type = a.type().with_lanes(a.type().lanes * lanes);
  return make(Call{Intrinsic::Bitcast, {make(Broadcast{word}, lanes)}}, type);
}

Expr dot4(const Expr& a, const Expr& b, const Expr& c) { return call(Intrinsic::Dot4, {c, repeat(a, c), b}); }
Expr dot2(const Expr& a, const Expr& b, const Expr& c) { return call(Intrinsic::Dot2, {c, repeat(a, c), b}); }
Expr fma(const Expr& a, const Expr& b, const Expr& c) {
  return call(Intrinsic::Fma, {make(Broadcast{a}, c.type().lanes), b, c});
}

/// `group` neighbours of type `a` times as many of type `b`, for each lane.
TensorIntrinsic dot(std::string name, std::string_view a, std::string_view b, std::string_view sum, int lanes,
                    int group, Expr (*implement)(const Expr&, const Expr&, const Expr&)) {
  const std::string text = fmt::format(R"(func {0}(A: {1}[{5}], B: {2}[{4}, {5}], C: {3}[{4}]) {{
  for j in 0..{4} {{
    for k in 0..{5} {{
      block C {{
        vj: spatial({4}) = j
        vk: reduce({5}) = k
        C[vj] = C[vj] + {3}(A[vk]) * {3}(B[vj, vk])
      }}
    }}
  }}
}}
)",
                                       name, a, b, sum, lanes, group);
  std::string doc = fmt::format("adds to {} lanes of {} the products of {} {} by {} each", lanes, sum, group, a, b);
  return {std::move(name), std::move(doc), *parse_function(text), implement};
}

TensorIntrinsic scalar_product(int lanes) {
  const std::string name = fmt::format("fma_f32x{}", lanes);
  const std::string text = fmt::format(R"(func {0}(A: f32[], B: f32[{1}], C: f32[{1}]) {{
  for j in 0..{1} {{
    block C {{
      vj: spatial({1}) = j
      C[vj] = C[vj] + A[] * B[vj]
    }}
  }}
}}
)",
                                       name, lanes);
  return {name, fmt::format("adds to {} lanes of f32 a scalar times a vector", lanes), *parse_function(text), fma};
}

std::vector<TensorIntrinsic> make_table() {
  std::vector<TensorIntrinsic> table;
  for (const int lanes : {16, 8, 4}) {
    table.push_back(dot(fmt::format("dot4_u8i8i32x{}", lanes), "u8", "i8", "i32", lanes, 4, dot4));
    table.push_back(dot(fmt::format("dot4_i8i8i32x{}", lanes), "i8", "i8", "i32", lanes, 4, dot4));
    table.push_back(dot(fmt::format("dot2_bf16f32x{}", lanes), "bf16", "bf16", "f32", lanes, 2, dot2));
    table.push_back(scalar_product(lanes));
  }
  return table;
}

}  // namespace

std::span<const TensorIntrinsic> tensor_intrinsics() {
  static const std::vector<TensorIntrinsic> table = make_table();
  return table;
}

Result<const TensorIntrinsic*> find_tensor_intrinsic(std::string_view name) {
  std::string names;
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    if (intrinsic.name == name) return &intrinsic;
    names += (names.empty() ? "" : ", ") + intrinsic.name;
  }
  return error(ErrorCode::IllegalStep, "tensorize: no intrinsic '{}', the intrinsics are {}", name, names);
}

}  // namespace hone::schedule
