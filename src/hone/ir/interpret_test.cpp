#include "hone/ir/interpret.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "hone/support/function_ref.h"

namespace hone::ir {
namespace {

using Shape = std::vector<std::int64_t>;

/// Runs a program that stores values into an output buffer of `size` elements.
Result<Array> run_stores(DType type, std::int64_t size, FunctionRef<Stmt(const Expr& out)> body) {
  const Expr out = buffer("out", type, Shape{size});
  Array result(type, {size});
  Array* const args[] = {&result};
  HONE_TRY(interpret(Function{"f", {out}, body(out)}, args));
  return result;
}

/// The lanes of an expression.
Result<Array> evaluate(const Expr& e) {
  const int lanes = e.type().lanes;
  const Expr index = lanes == 1 ? imm(0) : make(Ramp{imm(0), imm(1)}, lanes);
  return run_stores(e.type().element(), lanes, [&](const Expr& out) { return store(out, {index}, e); });
}

std::int64_t int_of(const Expr& e) { return evaluate(e).value().int_at(0); }
double float_of(const Expr& e) { return evaluate(e).value().float_at(0); }
std::string error_of(const Result<Array>& result) { return result ? "no error" : result.error().message; }

Expr i8(std::int64_t value) { return constant(kI8, value); }
Expr u64(std::int64_t bits) { return constant(kU64, bits); }
Expr f32(double value) { return constant(kF32, value); }
Expr vector_of(DType type, const std::vector<std::int64_t>& values) {  // base + stride * lane, enough for tests
  return make(Ramp{constant(type, values[0]), constant(type, values[1] - values[0])}, static_cast<int>(values.size()));
}

TEST(Interpret, IntegersWrapToTheirType) {
  EXPECT_EQ(int_of(i8(127) + i8(1)), -128);
  EXPECT_EQ(int_of(i8(-128) - i8(1)), 127);
  EXPECT_EQ(int_of(i8(100) * i8(3)), 44);
  EXPECT_EQ(int_of(i8(-128) / i8(-1)), -128);
  EXPECT_EQ(int_of(constant(kU8, std::int64_t{0}) - constant(kU8, std::int64_t{1})), 255);
}

TEST(Interpret, DivisionCutsAndFloorDivisionRoundsDown) {
  for (const std::int64_t a : {-7, 7, 6, 0})
    for (const std::int64_t b : {-3, 3, -1, 1}) {
      EXPECT_EQ(int_of(i8(a) / i8(b)), a / b);
      const auto floor = static_cast<std::int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
      EXPECT_EQ(int_of(floor_div(i8(a), i8(b))), floor);
      EXPECT_EQ(int_of(floor_mod(i8(a), i8(b))), a - floor * b);
    }
}

TEST(Interpret, UnsignedSixtyFourBitsAreUnsigned) {
  EXPECT_EQ(int_of(u64(-1) > u64(1)), 1);
  EXPECT_EQ(int_of(u64(-2) / u64(2)), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(int_of(floor_mod(u64(-1), u64(10))), 5) << "18446744073709551615 ends in 5";
  EXPECT_EQ(int_of(max(u64(-1), u64(3))), -1);
  EXPECT_EQ(float_of(cast(kF64, u64(-1))), 0x1p64);
}

TEST(Interpret, FloatsRoundToTheirTypeAfterEachOperation) {
  EXPECT_EQ(float_of((f32(0x1p24) + f32(1)) - f32(0x1p24)), 0.0);
  EXPECT_EQ(float_of(constant(kF16, 2048.0) + constant(kF16, 1.0)), 2048.0);
  EXPECT_EQ(float_of(f32(1) / f32(3)), static_cast<double>(1.0f / 3.0f));
  EXPECT_EQ(float_of(floor_mod(f32(-7), f32(3))), 2.0);
  EXPECT_EQ(float_of(floor_div(f32(-7), f32(3))), -3.0);
}

TEST(Interpret, FmaRoundsOnce) {
  const float a = 1 + 0x1p-23f, b = 1 - 0x1p-23f;
  EXPECT_EQ(float_of(call(Intrinsic::Fma, {f32(a), f32(b), f32(-1)})), -0x1p-46);
  // The product lies in the middle of two bf16 values, the sum just below: by way of a double it would go up.
  const Expr sum =
      call(Intrinsic::Fma, {constant(kBF16, 1 + 0x1p-7), constant(kBF16, 1.5), constant(kBF16, -0x1p-100)});
  EXPECT_EQ(float_of(sum), 1.5 + 0x1p-7);
}

TEST(Interpret, MinAndMaxKeepNan) {
  const Expr nan = f32(std::nan(""));
  for (const Expr& e : {min(nan, f32(1)), min(f32(1), nan), max(nan, f32(1)), max(f32(1), nan)})
    EXPECT_TRUE(std::isnan(float_of(e)));
}

TEST(Interpret, SelectAndLogicAreLazy) {
  const Expr a = buffer("A", kF32, Shape{2});
  Array values(kF32, {2}), result(kF32, {1});
  const auto run = [&](const Expr& value) {
    const Expr out = buffer("out", kF32, Shape{1});
    Array* const args[] = {&values, &result};
    return interpret(Function{"f", {a, out}, store(out, {imm(0)}, value)}, args);
  };
  const Expr outside = load(a, {imm(9)});
  EXPECT_TRUE(run(select(boolean(true), f32(1), outside)));
  EXPECT_TRUE(run(cast(kF32, logical_and(boolean(false), eq(outside, f32(0))))));
  EXPECT_TRUE(run(cast(kF32, logical_or(boolean(true), eq(outside, f32(0))))));
  EXPECT_FALSE(run(select(boolean(false), f32(1), outside)));
}

TEST(Interpret, AnAccessOutOfBoundsNamesBufferIndexAndRange) {
  const Expr n = var("n");
  const auto loop = [&](const Expr& index) {
    return run_stores(kF32, 4, [&](const Expr& out) {
      return make(For{.var = n, .extent = imm(5), .body = store(out, {index}, f32(0))});
    });
  };
  EXPECT_EQ(error_of(loop(n)), "store of out[4]: index 4 of axis 0 is out of bounds, allowed is 0..3");
  EXPECT_EQ(error_of(loop(n - 1)), "store of out[-1]: index -1 of axis 0 is out of bounds, allowed is 0..3");
  EXPECT_EQ(loop(n).error().code, ErrorCode::OutOfBounds);
}

TEST(Interpret, AnEmptyBufferAllowsNothing) {
  const Result<Array> result = run_stores(kF32, 0, [&](const Expr& out) { return store(out, {imm(0)}, f32(0)); });
  EXPECT_EQ(error_of(result),
            "store of out[0]: index 0 of axis 0 is out of bounds, allowed is nothing, the axis is empty");
}

TEST(Interpret, ReadingWhatWasNeverWrittenIsAnError) {
  const Expr t = buffer("t", kF32, Shape{2, 3});
  const auto program = [&](const Expr& read) {
    return run_stores(kF32, 1, [&](const Expr& out) {
      return make(Allocate{t, seq({store(t, {imm(1), imm(2)}, f32(7)), store(out, {imm(0)}, read)})});
    });
  };
  EXPECT_EQ(program(load(t, {imm(1), imm(2)})).value().float_at(0), 7.0);
  EXPECT_EQ(error_of(program(load(t, {imm(1), imm(1)}))),
            "load of t[1, 1]: the element was never written, allowed are elements stored before");
}

TEST(Interpret, AnAllocationForgetsWhatItHeldBefore) {
  const Expr t = buffer("t", kF32, Shape{1}), i = var("i");
  const Result<Array> result = run_stores(kF32, 2, [&](const Expr& out) {
    const Stmt body = seq({make(If{eq(i, 0), store(t, {imm(0)}, f32(1))}), store(out, {i}, load(t, {imm(0)}))});
    return make(For{.var = i, .extent = imm(2), .body = make(Allocate{t, body})});
  });
  EXPECT_FALSE(result);
}

TEST(Interpret, DivisionOfIntegersByZeroIsAnError) {
  EXPECT_EQ(error_of(evaluate(i8(7) / i8(0))), "division of i8 7 by zero, allowed is any other divisor");
  EXPECT_FALSE(evaluate(floor_mod(u64(-1), u64(0))));
  EXPECT_EQ(float_of(f32(1) / f32(0)), std::numeric_limits<double>::infinity());
}

TEST(Interpret, BlocksRunInitWhenAllReductionVariablesAreZero) {
  const Expr i = var("i"), k = var("k"), vi = var("vi"), vk = var("vk");
  const Result<Array> result = run_stores(kI32, 3, [&](const Expr& out) {
    const Block block{.name = "sum",
                      .iters = {{vi, imm(3), IterKind::Spatial, i}, {vk, imm(4), IterKind::Reduce, k}},
                      .init = store(out, {vi}, constant(kI32, std::int64_t{100})),
                      .body = store(out, {vi}, load(out, {vi}) + cast(kI32, vk))};
    return make(For{.var = i, .extent = imm(3), .body = make(For{.var = k, .extent = imm(4), .body = make(block)})});
  });
  for (int n = 0; n < 3; ++n) EXPECT_EQ(result.value().int_at(n), 106);
}

TEST(Interpret, ABlockRunsOnlyWhereItsPredicateHolds) {
  const Expr i = var("i"), vi = var("vi");
  const auto run = [&](const Expr& predicate) {
    return run_stores(kI32, 5, [&](const Expr& out) {
      const Block block{.name = "fill",
                        .iters = {{vi, imm(5), IterKind::Spatial, i}},
                        .predicate = predicate,
                        .body = store(out, {vi}, constant(kI32, std::int64_t{1}))};
      return make(For{.var = i, .extent = imm(8), .body = make(block)});
    });
  };
  EXPECT_EQ(run(i < 5).value().int_at(4), 1);
  EXPECT_EQ(error_of(run({})), "block fill: iteration variable vi is 5, allowed are 0..4");
}

TEST(Interpret, VectorsRunLaneByLane) {
  const Expr v = vector_of(kI32, {1, 2, 3, 4});
  const Array shifted = evaluate(v * make(Broadcast{constant(kI32, std::int64_t{3})}, 4)).value();
  EXPECT_EQ(shifted.int_at(3), 12);
  const Expr threes = make(Broadcast{constant(kI32, std::int64_t{3})}, 4),
             zeros = make(Broadcast{constant(kI32, std::int64_t{0})}, 4);
  const Array chosen = evaluate(select(v < threes, v, zeros)).value();
  EXPECT_EQ(chosen.int_at(1), 2);
  EXPECT_EQ(chosen.int_at(2), 0);
  EXPECT_EQ(int_of(call(Intrinsic::ReduceAdd, {v})), 10);
  EXPECT_EQ(int_of(call(Intrinsic::ReduceMul, {v})), 24);
  EXPECT_EQ(int_of(call(Intrinsic::ReduceMin, {v})), 1);
  EXPECT_EQ(int_of(call(Intrinsic::ReduceMax, {v})), 4);
}

TEST(Interpret, MasksKeepLanesFromMemory) {
  const Expr index = make(Ramp{imm(0), imm(1)}, 4), limit = make(Broadcast{imm(3)}, 4);
  const Result<Array> result = run_stores(kF32, 3, [&](const Expr& out) {
    const Stmt fill = make(Store{out, {index}, make(Broadcast{f32(2)}, 4), index < limit});
    const Expr loaded = make(Load{out, {index}, index < limit});
    return seq({fill, store(out, {imm(0)}, call(Intrinsic::ReduceAdd, {loaded}))});
  });
  EXPECT_EQ(result.value().float_at(0), 6.0) << "the masked lane loads 0";
  EXPECT_EQ(result.value().float_at(2), 2.0);
}

TEST(Interpret, VectorStoresComputeAllLanesFirst) {
  const Result<Array> result = run_stores(kI32, 5, [&](const Expr& out) {
    const Expr low = make(Ramp{imm(0), imm(1)}, 4), high = make(Ramp{imm(1), imm(1)}, 4);
    const Expr all = make(Ramp{imm(0), imm(1)}, 5);
    return seq({store(out, {all}, vector_of(kI32, {1, 2, 3, 4, 5})), store(out, {high}, load(out, {low}))});
  });
  EXPECT_EQ(result.value().int_at(4), 4);
}

TEST(Interpret, DotProductsSumNeighbours) {
  const Expr bytes = vector_of(kU8, {1, 2, 3, 4, 5, 6, 7, 8}),
             weights = vector_of(kI8, {-1, -2, -3, -4, -5, -6, -7, -8});
  const Expr zero = make(Broadcast{constant(kI32, std::int64_t{10})}, 2);
  const Array dot = evaluate(call(Intrinsic::Dot4, {zero, bytes, weights})).value();
  EXPECT_EQ(dot.int_at(0), 10 - (1 + 4 + 9 + 16));
  EXPECT_EQ(dot.int_at(1), 10 - (25 + 36 + 49 + 64));
  const Expr floats = vector_of(kBF16, {1, 2, 3, 4});
  const Array dot2 = evaluate(call(Intrinsic::Dot2, {make(Broadcast{f32(0.5)}, 2), floats, floats})).value();
  EXPECT_EQ(dot2.float_at(0), 5.5);
  EXPECT_EQ(dot2.float_at(1), 25.5);
}

TEST(Interpret, LetHoldsScalarsAndVectors) {
  const Expr x = var("x", kI32), v = var("v", kI32.with_lanes(3));
  const Result<Array> result = run_stores(kI32, 4, [&](const Expr& out) {
    return make(Let{x, constant(kI32, std::int64_t{5}),
                    make(Let{v, vector_of(kI32, {7, 8, 9}),
                             seq({store(out, {imm(3)}, x), store(out, {make(Ramp{imm(0), imm(1)}, 3)}, v)})})});
  });
  EXPECT_EQ(result.value().int_at(3), 5);
  EXPECT_EQ(result.value().int_at(2), 9);
}

TEST(Interpret, FloatIntrinsicsAgreeWithTheMathLibrary) {
  const float x = 0.7f;
  const auto value = [&](Intrinsic f) { return static_cast<float>(float_of(call(f, {f32(x)}))); };
  EXPECT_FLOAT_EQ(value(Intrinsic::Exp), std::exp(x));
  EXPECT_FLOAT_EQ(value(Intrinsic::Tanh), std::tanh(x));
  EXPECT_FLOAT_EQ(value(Intrinsic::Erf), std::erf(x));
  EXPECT_FLOAT_EQ(value(Intrinsic::Rsqrt), 1 / std::sqrt(x));
  EXPECT_FLOAT_EQ(value(Intrinsic::Sigmoid), 1 / (1 + std::exp(-x)));
  EXPECT_EQ(float_of(call(Intrinsic::Round, {f32(2.5)})), 2.0);
  EXPECT_EQ(float_of(call(Intrinsic::Fmod, {f32(-7), f32(4)})), -3.0);
  EXPECT_EQ(float_of(call(Intrinsic::Pow, {f32(2), f32(10)})), 1024.0);
  EXPECT_EQ(int_of(call(Intrinsic::IsNan, {f32(std::nan(""))})), 1);
  EXPECT_EQ(int_of(call(Intrinsic::IsInf, {f32(1)})), 0);
}

TEST(Interpret, IntegerIntrinsicsWorkOnBits) {
  EXPECT_EQ(int_of(call(Intrinsic::Abs, {i8(-128)})), -128);
  EXPECT_EQ(int_of(call(Intrinsic::PopCount, {i8(-1)})), 8);
  EXPECT_EQ(int_of(call(Intrinsic::BitNot, {constant(kU8, std::int64_t{1})})), 254);
  EXPECT_EQ(int_of(call(Intrinsic::ShiftRight, {i8(-8), i8(1)})), -4);
  EXPECT_EQ(int_of(call(Intrinsic::ShiftRight, {u64(-1), u64(63)})), 1);
  EXPECT_EQ(int_of(call(Intrinsic::ShiftLeft, {i8(65), i8(1)})), -126);
  EXPECT_EQ(int_of(make(Call{Intrinsic::Bitcast, {f32(1)}}, kI32)), 0x3f800000);
  EXPECT_EQ(int_of(make(Call{Intrinsic::Bitcast, {f32(1)}}, kU8.with_lanes(4))), 0);
  EXPECT_EQ(error_of(evaluate(call(Intrinsic::ShiftLeft, {i8(1), i8(8)}))),
            "shift_left of i8 by 8 bits, allowed are 0..7");
  EXPECT_EQ(error_of(evaluate(call(Intrinsic::Exp, {i8(1)}))), "exp of i8, allowed are floating types");
}

TEST(Interpret, BuffersOfAWrongRankOrExtentAreNamed) {
  const Expr t = buffer("t", kF32, Shape{-1});
  EXPECT_EQ(error_of(run_stores(kF32, 1, [&](const Expr&) { return make(Allocate{t, seq({})}); })),
            "buffer t has an extent of -1, allowed is 0 and more");
  EXPECT_EQ(error_of(run_stores(kF32, 1, [&](const Expr& out) { return store(out, {imm(0), imm(0)}, f32(0)); })),
            "buffer out is accessed with 2 indices, allowed are 1");
}

TEST(Interpret, PrefetchAndBarrierDoNothing) {
  const Result<Array> result = run_stores(kF32, 1, [&](const Expr& out) {
    return seq({make(Evaluate{call(Intrinsic::Prefetch, {load(out, {imm(99)})})}), make(Barrier{}),
                store(out, {imm(0)}, f32(3))});
  });
  EXPECT_EQ(result.value().float_at(0), 3.0);
}

TEST(Interpret, SymbolicSizesComeFromTheArguments) {
  const Expr n = var("n"), i = var("i"), out = buffer("out", kI64, std::vector<Expr>{n});
  const Function f{"count", {out}, make(For{.var = i, .extent = n, .body = store(out, {i}, i * 2)})};
  Array result(kI64, {7});
  Array* const args[] = {&result};
  ASSERT_TRUE(interpret(f, args));
  EXPECT_EQ(result.int_at(6), 12);
}

TEST(Interpret, ArgumentsMustFitTheParameters) {
  const Function f{"f", {buffer("A", kF32, Shape{2, 3})}, seq({})};
  const auto message = [&](Array array) {
    Array* const args[] = {&array};
    const Result<void> done = interpret(f, args);
    return done ? "no error" : done.error().message;
  };
  EXPECT_EQ(message(Array(kF32, {2, 3})), "no error");
  EXPECT_EQ(message(Array(kF64, {2, 3})), "f: argument 0 for A is f64[2, 3], allowed is f32[2, 3]");
  EXPECT_EQ(message(Array(kF32, {3, 2})), "f: argument 0 for A is f32[3, 2], allowed is f32[2, 3]");
  EXPECT_EQ(interpret(f, {}).error().message, "f: called with 0 arguments, allowed are 1");
}

TEST(Interpret, UnknownVariablesAndBuffersAreNamed) {
  EXPECT_THAT(error_of(evaluate(var("ghost") + 1)), testing::StartsWith("variable ghost has no value"));
  const Expr t = buffer("t", kF32, Shape{1});
  EXPECT_THAT(error_of(evaluate(load(t, {imm(0)}))), testing::StartsWith("buffer t does not exist here"));
}

}  // namespace
}  // namespace hone::ir
