#include "hone/ir/verify.h"

#include <gtest/gtest.h>

#include "hone/ir/text.h"

namespace hone::ir {
namespace {

using Shape = std::vector<std::int64_t>;

/// What verify says of a function with the parameter A: f32[4], without the beginning that all messages share.
std::string problem(const Stmt& body, const Expr& a, Names names = Names::Unique) {
  const Result<void> result = verify(Function{"f", {a}, body}, names);
  if (result) return "none";
  EXPECT_EQ(result.error().code, ErrorCode::VerifyError);
  const std::string start = "verify: function 'f': ";
  EXPECT_EQ(result.error().message.substr(0, start.size()), start);
  return result.error().message.substr(start.size());
}

class Verify : public testing::Test {
 protected:
  std::string check(const Stmt& body, Names names = Names::Unique) { return problem(body, a, names); }
  std::string check(const Expr& e) { return check(make(Evaluate{e})); }
  Stmt set(const Expr& index) { return store(a, {index}, constant(kF32, 0.0)); }

  const Expr a = buffer("A", kF32, Shape{4});
  const Expr i = var("i"), j = var("j");
  const Expr one = constant(kF32, 1.0);
};

TEST_F(Verify, AcceptsALoopNest) { EXPECT_EQ(check(make(For{.var = i, .extent = imm(4), .body = set(i)})), "none"); }

TEST_F(Verify, VariablesAndBuffersAreUsedInsideTheirScope) {
  const Stmt loop = make(For{.var = i, .extent = imm(4), .body = set(i)});
  EXPECT_EQ(check(set(i)), "variable 'i' is used outside of its scope");
  EXPECT_EQ(check(make(Seq{{loop, set(i)}})), "variable 'i' is used outside of its scope");
  EXPECT_EQ(check(make(For{.var = i, .extent = i, .body = set(i)})), "variable 'i' is used outside of its scope");
  EXPECT_EQ(check(make(Let{i, i + 1, set(i)})), "variable 'i' is used outside of its scope");
  const Expr b = buffer("B", kF32, Shape{4});
  EXPECT_EQ(check(load(b, {imm(0)})), "buffer 'B' is used outside of its scope");
  EXPECT_EQ(check(make(Seq{{make(Allocate{b, make(Barrier{})}), make(Evaluate{load(b, {imm(0)})})}})),
            "buffer 'B' is used outside of its scope");
}

TEST_F(Verify, IterationVariablesAreVisibleInInitAndBodyOnly) {
  const auto block = [&](const Expr& binding, const Expr& predicate) {
    return make(Block{.name = "b",
                      .iters = {{i, imm(4), IterKind::Spatial, imm(0)}, {j, imm(4), IterKind::Spatial, binding}},
                      .predicate = predicate,
                      .init = set(i),
                      .body = set(j)});
  };
  EXPECT_EQ(check(block(imm(0), {})), "none");
  EXPECT_EQ(check(block(i, {})), "variable 'i' is used outside of its scope");
  EXPECT_EQ(check(block(imm(0), i < 4)), "variable 'i' is used outside of its scope");
  EXPECT_EQ(check(make(Seq{{block(imm(0), {}), set(i)}})), "variable 'i' is used outside of its scope");
}

TEST_F(Verify, LoopsBlocksAndBuffersHaveNamesOfTheirOwn) {
  const Expr other = var("i"), b = buffer("A", kF32, Shape{4});
  const auto loop = [&](const Expr& v, const Stmt& body) {
    return make(For{.var = v, .extent = imm(4), .body = body});
  };
  const Stmt siblings = make(Seq{{loop(i, set(i)), loop(other, set(other))}});
  EXPECT_EQ(check(siblings), "two loops have the name 'i', allowed is one");
  EXPECT_EQ(check(siblings, Names::InScope), "none");
  EXPECT_EQ(check(loop(i, loop(other, set(i))), Names::InScope),
            "loop 'i' has the name of another that is in scope, allowed is a name of its own");
  EXPECT_EQ(check(make(Allocate{b, make(Barrier{})})), "two buffers have the name 'A', allowed is one");
  EXPECT_EQ(check(make(Let{i, imm(1), make(Let{other, imm(2), set(i)})})),
            "variable 'i' has the name of another that is in scope, allowed is a name of its own");
  const Stmt block = make(Block{.name = "b", .body = make(Barrier{})});
  EXPECT_EQ(check(make(Seq{{block, block}})), "two blocks have the name 'b', allowed is one");
  EXPECT_EQ(check(make(Seq{{block, block}}), Names::InScope), "none");
}

TEST_F(Verify, AVariableIsDefinedOnce) {
  const Stmt let = make(Let{i, imm(1), set(i)});
  EXPECT_EQ(check(make(Seq{{let, let}})), "variable 'i' is defined twice, allowed is once");
  EXPECT_EQ(check(make(Seq{{let, let}}), Names::InScope), "none");
}

TEST_F(Verify, LoopsCountIndicesFromZeroToAnExtent) {
  EXPECT_EQ(check(make(For{.var = var("i", kI32), .extent = imm(4), .body = make(Barrier{})})),
            "loop 'i' has a variable of i32, allowed is i64");
  EXPECT_EQ(check(make(For{.var = i, .extent = imm(-1), .body = make(Barrier{})})),
            "extent of loop 'i' is -1, allowed are 0 and more");
  EXPECT_EQ(check(make(For{.var = i, .extent = one, .body = make(Barrier{})})),
            "extent of loop 'i' '1f32' has type f32, allowed is i64");
  EXPECT_EQ(check(make(For{.var = i, .extent = imm(4)})), "a statement is missing");
  EXPECT_EQ(check(make(For{.var = i, .body = make(Barrier{})})), "extent of loop 'i' is missing");
  EXPECT_EQ(check(make(For{.var = one, .extent = imm(1), .body = make(Barrier{})})), "a loop has no variable");
  EXPECT_EQ(check(make(For{.var = i, .extent = imm(0), .body = make(Barrier{})})), "none");
}

TEST_F(Verify, ConditionsAreBools) {
  EXPECT_EQ(check(make(If{imm(1), make(Barrier{})})), "condition '1' has type i64, allowed is bool");
  EXPECT_EQ(check(make(Block{.name = "b", .predicate = one, .body = make(Barrier{})})),
            "predicate of block 'b' '1f32' has type f32, allowed is bool");
}

TEST_F(Verify, AnAccessHasOneIndexAnAxisAndAMaskOfItsLanes) {
  const Expr four = make(Ramp{imm(0), imm(1)}, 4), two = make(Ramp{imm(0), imm(1)}, 2);
  EXPECT_EQ(check(load(a, {imm(0), imm(0)})), "buffer 'A' has 2 indices, allowed are 1 in 'A[0, 0]'");
  EXPECT_EQ(check(load(a, {one})), "buffer 'A' has an index of f32, allowed is i64 or a vector of it in 'A[1f32]'");
  EXPECT_EQ(check(make(Load{a, {four}, boolean(true)})),
            "buffer 'A' has a mask of bool, allowed is boolx4 in '(A[ramp(0, 1, 4)] where true)'");
  EXPECT_EQ(check(store(a, {four}, one)), "store of f32 into buffer 'A', allowed is f32x4");
  const Expr b = buffer("B", kF32, Shape{4, 4});
  EXPECT_EQ(check(make(Allocate{b, make(Evaluate{load(b, {four, two})})})),
            "buffer 'B' has an index of i64x2, allowed is i64 or i64x4 in 'B[ramp(0, 1, 4), ramp(0, 1, 2)]'");
}

TEST_F(Verify, ConstantsAreValuesOfTheirType) {
  EXPECT_EQ(check(make(IntImm{300}, kI8)), "constant 300 of i8 is outside -128..127");
  EXPECT_EQ(check(make(IntImm{-1}, kU8)), "constant -1 of u8 is outside 0..255");
  EXPECT_EQ(check(make(IntImm{2}, kBool)), "constant 2 of bool is outside 0..1");
  EXPECT_EQ(check(make(IntImm{-1}, kU64)), "none");
  EXPECT_EQ(check(make(FloatImm{0.1}, kF32)), "constant 0.1 is not a value of f32");
  EXPECT_EQ(check(make(IntImm{1}, kI64.with_lanes(4))),
            "constant of i64x4, allowed is a Broadcast of a scalar constant");
}

TEST_F(Verify, OperandsHaveTheTypesTheirOperatorTakes) {
  EXPECT_EQ(check(boolean(true) + boolean(true)), "Add of bool and bool, allowed is a number type in 'true + true'");
  EXPECT_EQ(check(make(Call{Intrinsic::Exp, {imm(1)}}, kI64)), "exp of i64, allowed is one float type in 'exp(1)'");
  EXPECT_EQ(check(make(Call{Intrinsic::Exp, {one}}, kF64)), "'exp(1f32)' has type f64, allowed is f32");
  EXPECT_EQ(check(make(Call{Intrinsic::Pow, {one}}, kF32)), "pow of 1 arguments, allowed are 2 in 'pow(1f32)'");
  EXPECT_EQ(check(make(Call{Intrinsic::Bitcast, {one}}, kF64)),
            "bitcast of f32 and f64, allowed is a number type of the same width in 'bitcast(f64, 1f32)'");
  EXPECT_EQ(check(make(Cast{one}, kI32.with_lanes(4))),
            "Cast of f32 to i32x4, allowed is a type of as many lanes in 'i32x4(1f32)'");
  EXPECT_EQ(check(make(Ramp{imm(0), imm(1)}, 1)), "ramp of 1 lanes, allowed are 2..65535 in 'ramp(0, 1, 1)'");
  EXPECT_EQ(check(call(Intrinsic::Prefetch, {one})), "prefetch of FloatImm, allowed is a Load in 'prefetch(1f32)'");
  EXPECT_EQ(check(call(Intrinsic::ReduceAdd, {one})),
            "reduce_add of f32, allowed is a vector of numbers in 'reduce_add(1f32)'");
  EXPECT_EQ(check(a), "buffer 'A' stands as a value, allowed is a Load of it");
}

TEST_F(Verify, ALetBindsAValueOfItsType) {
  EXPECT_EQ(check(make(Let{i, one, make(Barrier{})})),
            "variable 'i' of i64 is bound to a value of f32, allowed is one type");
}

TEST_F(Verify, ParametersAreBuffersInMainMemory) {
  const auto with_param = [](const Expr& p) { return problem(make(Seq{}), p); };
  EXPECT_EQ(with_param(buffer("P", kF32, Shape{4}, Scope::Local)), "parameter 'P' has scope local, allowed is global");
  EXPECT_EQ(with_param(make(Buffer{"P", {imm(4)}, Scope::Global, {{0, 8, 0}}}, kF32)),
            "parameter 'P' has aligned strides, allowed are none");
  EXPECT_EQ(with_param(buffer("P", kF32, Shape{-1})), "extent of buffer 'P' is -1, allowed are 0 and more");
  EXPECT_EQ(with_param(buffer("P", kF32.with_lanes(4), Shape{4})),
            "buffer 'P' has elements of f32x4, allowed is a scalar type");
  EXPECT_EQ(with_param(var("P")), "a Var stands where a buffer is defined");
  EXPECT_EQ(with_param(buffer("P", kF32, {var("n", kI32)})), "size 'n' has type i32, allowed is i64");
  EXPECT_EQ(with_param(buffer("P", kF32, {var("n")})), "none");
}

TEST_F(Verify, AlignmentsNameAnAxisAndAnOffsetBelowTheFactor) {
  const auto with_align = [&](StorageAlign align) {
    return check(make(Allocate{make(Buffer{"T", {imm(4)}, Scope::Local, {align}}, kF32), make(Barrier{})}));
  };
  EXPECT_EQ(with_align({0, 32, 8}), "none");
  EXPECT_EQ(with_align({1, 32, 8}), "buffer 'T' aligns axis 1, allowed are 0..0");
  EXPECT_EQ(with_align({0, 8, 8}),
            "buffer 'T' aligns axis 0 to 8 + 8, allowed are factors from 1 and offsets below the factor");
}

TEST_F(Verify, AnnotationsAreSortedWithOneEntryAKey) {
  EXPECT_EQ(
      check(make(For{.var = i, .extent = imm(1), .body = make(Barrier{}), .annotations = {{"b", "1"}, {"a", "1"}}})),
      "annotation 'a' of loop 'i' stands after 'b', allowed is ascending order, one entry a key");
}

TEST_F(Verify, FunctionsOfAModuleHaveNamesOfTheirOwn) {
  const Function f{"f", {}, make(Seq{})};
  EXPECT_EQ(verify(Module{{f, f}}).error().message, "verify: two functions have the name 'f', allowed is one");
  EXPECT_TRUE(verify(Module{{f}}));
}

}  // namespace
}  // namespace hone::ir
