// Every kind of expression on every type, compiled and compared with the interpreter.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hone/codegen/kernel_test.h"
#include "hone/ir/verify.h"

namespace hone::codegen {
namespace {

using namespace ir;

constexpr std::int64_t kSize = 48;

const std::vector<DType> kTypes = {kBool, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kBF16, kF32, kF64};

using Build = std::function<Expr(const Expr& a, const Expr& b)>;

struct Operation {
  std::string name;
  Build build;
  bool floats = true, integers = true, bools = true;
};

/// The divisor, or 1 in its place where it is 0: such a division is an error in the interpreter.
Expr nonzero(const Expr& b) {
  const Expr zero = constant(b.type(), std::int64_t{0}), one = constant(b.type(), std::int64_t{1});
  return select(eq(b, zero), one, b);
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> list = {
      {"add", [](const Expr& a, const Expr& b) { return a + b; }},
      {"sub", [](const Expr& a, const Expr& b) { return a - b; }},
      {"mul", [](const Expr& a, const Expr& b) { return a * b; }},
      {"div", [](const Expr& a, const Expr& b) { return a / nonzero(b); }},
      {"guarded_div",
       [](const Expr& a, const Expr& b) {
         const Expr zero = constant(b.type(), std::int64_t{0});
         return select(eq(b, zero), a, a / b);
       }},
      {"floor_div", [](const Expr& a, const Expr& b) { return floor_div(a, nonzero(b)); }},
      {"floor_mod", [](const Expr& a, const Expr& b) { return floor_mod(a, nonzero(b)); }},
      {"div_minus_one", [](const Expr& a, const Expr&) { return a / constant(a.type(), std::int64_t{-1}); }, true, true,
       false},
      {"floor_div_3", [](const Expr& a, const Expr&) { return floor_div(a, 3); }, true, true, false},
      {"floor_mod_3", [](const Expr& a, const Expr&) { return floor_mod(a, 3); }, true, true, false},
      {"floor_div_8", [](const Expr& a, const Expr&) { return floor_div(a, 8); }, true, true, false},
      {"floor_mod_8", [](const Expr& a, const Expr&) { return floor_mod(a, 8); }, true, true, false},
      {"floor_div_minus_7", [](const Expr& a, const Expr&) { return floor_div(a, -7); }, true, true, false},
      {"floor_mod_minus_7", [](const Expr& a, const Expr&) { return floor_mod(a, -7); }, true, true, false},
      {"min", [](const Expr& a, const Expr& b) { return min(a, b); }},
      {"max", [](const Expr& a, const Expr& b) { return max(a, b); }},
      {"max_zero", [](const Expr& a, const Expr&) { return max(a, constant(a.type(), std::int64_t{0})); }},
      {"select_lt", [](const Expr& a, const Expr& b) { return select(a < b, a, b); }},
      {"select_le", [](const Expr& a, const Expr& b) { return select(a <= b, b, a); }},
      {"select_ne", [](const Expr& a, const Expr& b) { return select(ne(a, b), b, a); }},
      {"logic",
       [](const Expr& a, const Expr& b) {
         return select(logical_or(logical_and(a < b, ne(a, b)), logical_not(eq(a, b))), a, b);
       }},
      {"abs", [](const Expr& a, const Expr&) { return call(Intrinsic::Abs, {a}); }},
      {"fmod", [](const Expr& a, const Expr& b) { return call(Intrinsic::Fmod, {a, nonzero(b)}); }},
      {"fma", [](const Expr& a, const Expr& b) { return call(Intrinsic::Fma, {a, b, a}); }, true, false, false},
      {"floor", [](const Expr& a, const Expr& b) { return call(Intrinsic::Floor, {a / nonzero(b)}); }, true, false,
       false},
      {"ceil", [](const Expr& a, const Expr& b) { return call(Intrinsic::Ceil, {a / nonzero(b)}); }, true, false,
       false},
      {"round", [](const Expr& a, const Expr& b) { return call(Intrinsic::Round, {a / nonzero(b)}); }, true, false,
       false},
      {"trunc", [](const Expr& a, const Expr& b) { return call(Intrinsic::Trunc, {a / nonzero(b)}); }, true, false,
       false},
      {"sqrt", [](const Expr& a, const Expr&) { return call(Intrinsic::Sqrt, {a}); }, true, false, false},
      {"is_nan", [](const Expr& a, const Expr& b) { return select(call(Intrinsic::IsNan, {a / b}), a, b); }, true,
       false, false},
      {"is_inf", [](const Expr& a, const Expr& b) { return select(call(Intrinsic::IsInf, {a / (b - b)}), a, b); }, true,
       false, false},
      {"bit_and", [](const Expr& a, const Expr& b) { return call(Intrinsic::BitAnd, {a, b}); }, false},
      {"bit_or", [](const Expr& a, const Expr& b) { return call(Intrinsic::BitOr, {a, b}); }, false},
      {"bit_xor", [](const Expr& a, const Expr& b) { return call(Intrinsic::BitXor, {a, b}); }, false},
      {"bit_not", [](const Expr& a, const Expr&) { return call(Intrinsic::BitNot, {a}); }, false},
      {"shift_left",
       [](const Expr& a, const Expr& b) {
         return call(Intrinsic::ShiftLeft, {a, call(Intrinsic::BitAnd, {b, constant(b.type(), std::int64_t{7})})});
       },
       false, true, false},
      {"shift_right",
       [](const Expr& a, const Expr& b) {
         return call(Intrinsic::ShiftRight, {a, call(Intrinsic::BitAnd, {b, constant(b.type(), std::int64_t{7})})});
       },
       false, true, false},
      {"popcount", [](const Expr& a, const Expr&) { return call(Intrinsic::PopCount, {a}); }, false, true, false},
  };
  return list;
}

bool applies(const Operation& operation, DType type) {
  return type.is_float() ? operation.floats : type.is_bool() ? operation.bools : operation.integers;
}

/// out[i] = build(a[i], b[i]) for all i, `lanes` at a time.
Function elementwise(const std::string& name, DType type, DType result, int lanes, const Build& build) {
  const Expr a = flat_buffer("a", type, kSize), b = flat_buffer("b", type, kSize),
             out = flat_buffer("out", result, kSize);
  const Expr i = var("i");
  const Expr at = lanes == 1 ? i : ramp(i * lanes, lanes);
  return {name, {a, b, out}, loop(i, kSize / lanes, store(out, {at}, build(load(a, {at}), load(b, {at}))))};
}

/// Random values, and in front of them the corners of the type.
std::vector<Array> draw_corners(const Function& function) {
  std::vector<Array> arrays = draw_values(function);
  for (std::size_t p = 0; p < 2; ++p) {
    Array& array = arrays[p];
    if (array.type().is_float()) {
      const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
      const std::vector<double> corners = {0.0, 1.0, -1.0, 2.5, -2.5, 1e-30, 7.0, 1e5, inf, -inf, nan};
      for (std::size_t i = 0; i < corners.size(); ++i)
        array.set(static_cast<std::int64_t>(p == 0 ? i : (i * 5 + 3) % corners.size()), corners[i]);
    } else if (!array.type().is_bool()) {
      const DType t = array.type();
      const std::vector<std::int64_t> corners = {0, 1, -1, min_value(t), max_value(t), 7, -7, min_value(t), 5};
      for (std::size_t i = 0; i < corners.size(); ++i)
        array.set(static_cast<std::int64_t>(p == 0 ? i : (i + 7) % corners.size()), wrap_to(t, corners[i]));
    }
  }
  return arrays;
}

/// Vectors everywhere, scalars and odd widths on the host itself.
std::vector<int> widths(const Target& target) {
  return target == host_target() ? std::vector<int>{1, 3, 16} : std::vector<int>{16};
}

TEST(Arithmetic, EveryOperationOnEveryTypeAgreesWithTheInterpreter) {
  for (const Target& target : runnable_targets()) {
    Module module;
    for (const DType type : kTypes)
      for (const Operation& operation : operations())
        for (const int lanes : widths(target))
          if (applies(operation, type)) {
            Function function = elementwise(fmt::format("{}_{}x{}", operation.name, to_string(type), lanes), type, type,
                                            lanes, operation.build);
            if (type.is_bool() && !verify(function)) continue;  // bools have logic, not arithmetic
            module.functions.push_back(std::move(function));
          }
    expect_as_interpreted(module, target, draw_corners);
  }
}

TEST(Arithmetic, EveryConversionAgreesWithTheInterpreter) {
  for (const Target& target : runnable_targets()) {
    Module module;
    for (const DType from : kTypes)
      for (const DType to : kTypes)
        for (const int lanes : widths(target)) {
          const auto build = [&](const Expr& a, const Expr&) { return cast(to.with_lanes(lanes), a); };
          const auto scaled = [&](const Expr& a, const Expr&) {
            return cast(to.with_lanes(lanes), a * constant(a.type(), 3e5));
          };
          module.functions.push_back(
              elementwise(fmt::format("cast_{}_{}x{}", to_string(from), to_string(to), lanes), from, to, lanes, build));
          if (from.is_float())
            module.functions.push_back(elementwise(
                fmt::format("scaled_{}_{}x{}", to_string(from), to_string(to), lanes), from, to, lanes, scaled));
        }
    expect_as_interpreted(module, target, draw_corners);
  }
}

TEST(Arithmetic, BitcastsKeepTheBits) {
  for (const Target& target : runnable_targets()) {
    Module module;
    for (const auto& [from, to] : {std::pair{kF32, kI32}, {kI32, kF32}, {kF64, kU64}, {kF16, kU16}, {kU16, kBF16}})
      for (const int lanes : {1, 16})
        module.functions.push_back(elementwise(fmt::format("bitcast_{}_{}x{}", to_string(from), to_string(to), lanes),
                                               from, to, lanes, [&, type = to](const Expr& a, const Expr&) {
                                                 return make(Call{Intrinsic::Bitcast, {a}}, type.with_lanes(lanes));
                                               }));
    expect_as_interpreted(module, target, draw_values);
  }
}

TEST(Arithmetic, ReductionsOfLanesAgreeWithTheInterpreter) {
  const auto small = [](const Function& function) {
    Rng rng(/*seed=*/3);
    return random_arguments(function, rng);
  };
  for (const Target& target : runnable_targets()) {
    Module module;
    for (const DType type : {kI8, kU16, kI64, kF16, kF32, kF64})
      for (const Intrinsic reduce :
           {Intrinsic::ReduceAdd, Intrinsic::ReduceMul, Intrinsic::ReduceMin, Intrinsic::ReduceMax})
        for (const int lanes : {2, 3, 12, 16}) {
          if (type == kF16 && reduce == Intrinsic::ReduceMul) continue;  // its rounding depends on the order
          const Expr a = flat_buffer("a", type, kSize), out = flat_buffer("out", type, kSize), i = var("i");
          module.functions.push_back(
              {fmt::format("{}_{}x{}", to_string(reduce), to_string(type), lanes),
               {a, out},
               loop(i, kSize / lanes, store(out, {i}, call(reduce, {load(a, {ramp(i * lanes, lanes)})})))});
        }
    expect_as_interpreted(module, target, small);
  }
}

TEST(Arithmetic, DotProductsAgreeWithTheInterpreter) {
  for (const Target& target : runnable_targets()) {
    Module module;
    for (const int lanes : {1, 4, 8, 16}) {
      for (const DType left : {kU8, kI8}) {
        const Expr acc = flat_buffer("acc", kI32, lanes), a = flat_buffer("a", left, lanes * 4),
                   b = flat_buffer("b", kI8, lanes * 4), out = flat_buffer("out", kI32, lanes);
        const auto at = [](int n) { return n == 1 ? imm(0) : ramp(imm(0), n); };
        const Expr dot =
            make(Call{Intrinsic::Dot4, {load(acc, {at(lanes)}), load(a, {at(lanes * 4)}), load(b, {at(lanes * 4)})}},
                 kI32.with_lanes(lanes));
        module.functions.push_back(
            {fmt::format("dot4_{}x{}", to_string(left), lanes), {acc, a, b, out}, store(out, {at(lanes)}, dot)});
      }
    }
    expect_as_interpreted(module, target, draw_values);

    Module floats;
    for (const int lanes : {4, 8, 16}) {
      const Expr acc = flat_buffer("acc", kF32, lanes), a = flat_buffer("a", kBF16, lanes * 2),
                 b = flat_buffer("b", kBF16, lanes * 2), out = flat_buffer("out", kF32, lanes);
      const Expr dot = call(Intrinsic::Dot2, {load(acc, {ramp(imm(0), lanes)}), load(a, {ramp(imm(0), lanes * 2)}),
                                              load(b, {ramp(imm(0), lanes * 2)})});
      floats.functions.push_back(
          {fmt::format("dot2_x{}", lanes), {acc, a, b, out}, store(out, {ramp(imm(0), lanes)}, dot)});
    }
    expect_as_interpreted(floats, target, draw_values, /*tolerance=*/1e-6);
  }
}

}  // namespace
}  // namespace hone::codegen
