#include "hone/codegen/compile.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "hone/codegen/kernel_test.h"
#include "hone/codegen/llvm/backend.h"

namespace hone::codegen {
namespace {

using namespace ir;
using testing::HasSubstr;

Function copy_function(const std::string& name) {
  const Expr a = flat_buffer("a", kF32, 100), out = flat_buffer("out", kF32, 100), i = var("i");
  return {name, {a, out}, loop(i, 100, store(out, {i}, load(a, {i})))};
}

/// c += a * b with a register tile of `rows` by `vectors` vectors.
Function tiled_gemm(int rows, int vectors, int lanes) {
  const std::int64_t m = rows * 4, k = 96, block = static_cast<std::int64_t>(vectors) * lanes, n = block * 2;
  const Expr a = flat_buffer("a", kF32, m * k), b = flat_buffer("b", kF32, k * n), c = flat_buffer("c", kF32, m * n);
  const Expr sums = buffer("sums", kF32, std::vector<std::int64_t>{rows * block}, Scope::Register);
  const Expr mo = var("mo"), no = var("no"), ko = var("ko");
  std::vector<Stmt> first, step, last;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) {
      const Expr slot = ramp(imm(i * block + j * lanes), lanes);
      const Expr left = make(Broadcast{load(a, {(mo * rows + i) * k + ko})}, lanes);
      const Expr right = load(b, {ramp((no * k + ko) * block + j * lanes, lanes)});
      first.push_back(store(sums, {slot}, constant(kF32.with_lanes(lanes), 0.0)));
      step.push_back(store(sums, {slot}, load(sums, {slot}) + left * right));
      last.push_back(store(c, {ramp((mo * rows + i) * n + no * block + j * lanes, lanes)}, load(sums, {slot})));
    }
  const Stmt tile = make(Allocate{sums, seq({seq(first), loop(ko, k, seq(step)), seq(last)})});
  return {"gemm", {a, b, c}, loop(no, n / block, loop(mo, m / rows, tile))};
}

TEST(Compile, KernelsAreFoundByName) {
  const auto module = compile(Module{{copy_function("first"), copy_function("second")}}, host_target());
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->find("second")->name(), "second");
  EXPECT_EQ(module->find("second")->params(), 2u);
  const auto missing = module->find("third");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  EXPECT_EQ(missing.error().message, "no kernel 'third' in the module, there are: first, second");
}

TEST(Compile, AWrongNumberOfBuffersIsAnError) {
  const auto module = compile(Module{{copy_function("f")}}, host_target());
  ASSERT_TRUE(module);
  const Result<void> ran = module->find("f").value()({});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "kernel 'f' called with 0 buffers, it takes 2");
}

TEST(Compile, GemmOfRegisterTilesAgreesWithTheInterpreterOnEveryTarget) {
  for (const Target& target : runnable_targets()) {
    const int rows = target.vector_registers == 32 ? 8 : 4, vectors = target.vector_registers == 32 ? 3 : 2;
    expect_as_interpreted(Module{{tiled_gemm(rows, vectors, target.lanes(32))}}, target, draw_values, 1e-5);
  }
}

TEST(Compile, RegisterTilesStayInRegisters) {
  for (const auto& [text, rows, vectors] :
       {std::tuple{"x86-64 -mcpu=znver4", 8, 3}, {"x86-64 -mattr=+avx2", 6, 2}, {"aarch64", 8, 3}}) {
    const Target target = parse_target(text).value();
    const auto assembly = emit_assembly(Module{{tiled_gemm(rows, vectors, target.lanes(32))}}, target);
    ASSERT_TRUE(assembly) << assembly.error().message;
    EXPECT_THAT(*assembly, testing::Not(HasSubstr("Spill"))) << text;
    if (target.arch == Arch::AArch64) continue;
    EXPECT_THAT(*assembly, testing::Not(HasSubstr("(%rsp)"))) << text << ": nothing is kept on the stack";
    EXPECT_THAT(*assembly, HasSubstr("vfmadd231ps")) << text;
    EXPECT_EQ(assembly->find("%zmm") != std::string::npos, target.vector_bits == 512) << text;
  }
}

TEST(Compile, ObjectsAreWrittenForEveryTarget) {
  for (const auto& [text, machine] : {std::pair{"x86-64 -mattr=+sse4.2", 62},
                                      {"x86-64 -mattr=+avx2", 62},
                                      {"x86-64 -mattr=+avx512", 62},
                                      {"aarch64", 183},
                                      {"aarch64 -mattr=+neon,+dotprod", 183}}) {
    const Target target = parse_target(text).value();
    const auto object = emit_object(Module{{tiled_gemm(4, 2, target.lanes(32))}}, target);
    ASSERT_TRUE(object) << object.error().message;
    ASSERT_GT(object->size(), 64u);
    EXPECT_EQ(object->substr(0, 4),
              "\x7f"
              "ELF");
    EXPECT_EQ((*object)[16], 1) << "the file is relocatable";
    EXPECT_EQ(static_cast<unsigned char>((*object)[18]), machine) << text;
  }
}

TEST(Compile, LlvmTextTellsThatBuffersDoNotOverlap) {
  const auto text = emit_llvm(Module{{copy_function("f")}}, host_target());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("!noalias"));
  EXPECT_THAT(*text, HasSubstr("llvm.loop.unroll.disable"));
}

TEST(Compile, ItsPagesAreReleasedAndReadAgain) {
  const auto resident_pages = [] {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident;
  };
  std::vector<float> from(100, 3.0F), to(100, 0.0F);
  const std::vector<void*> args = {from.data(), to.data()};
  for (int round = 0; round < 2; ++round) {
    const auto module = compile(Module{{copy_function("f")}}, host_target());
    ASSERT_TRUE(module) << module.error().message;
    const std::int64_t before = resident_pages();
    release_compiler_pages();
    EXPECT_LT(resident_pages(), before);
    std::fill(to.begin(), to.end(), 0.0F);
    ASSERT_TRUE(module->find("f").value()(args));
    EXPECT_EQ(to, from);
  }
}

TEST(Compile, FeaturesTheHostLacksAreUnsupported) {
  const auto result = compile(Module{{copy_function("f")}}, parse_target("aarch64").value());
  const auto other = compile(Module{{copy_function("f")}}, parse_target("x86-64 -mattr=+xop").value());
  EXPECT_TRUE(!result || !other) << "no machine has both";
  for (const auto* failed : {&result, &other})
    if (!*failed) {
      EXPECT_EQ(failed->error().code, ErrorCode::Unsupported);
      EXPECT_THAT(failed->error().message, HasSubstr("which this machine lacks"));
    }
}

TEST(Compile, NoCodeIsGeneratedForGpusYet) {
  const Target gpu = parse_target("gpu").value();
  const Module module{{copy_function("f")}};
  const auto compiled = compile(module, gpu);
  const auto object = emit_object(module, gpu);
  ASSERT_TRUE(!compiled && !object);
  for (const Error& failed : {compiled.error(), object.error()}) {
    EXPECT_EQ(failed.code, ErrorCode::Unsupported);
    EXPECT_THAT(failed.message, HasSubstr("code is generated for CPUs only"));
  }
}

TEST(Compile, WhatTheBackEndCannotDoIsRefusedByName) {
  const Expr a = flat_buffer("a", kF32, 8);
  const auto message = [](const Function& function) {
    const Result<void> result = check_lowered(function);
    return result ? "" : result.error().message;
  };
  const Expr symbolic = buffer("symbolic", kF32, std::vector<Expr>{var("n")});
  EXPECT_EQ(message({"f", {symbolic}, seq({})}),
            "function 'f': buffer 'symbolic' has a symbolic size, allowed are constants");
  EXPECT_EQ(message({"f", {a}, store(a, {imm(0)}, cast(kF32, make(Call{Intrinsic::Exp, {imm(1)}}, kI64)))}),
            "function 'f': exp of i64 cannot be compiled");
}

TEST(Compile, ScheduledProgramsAreLoweredFirst) {
  const Expr a = buffer("a", kF32, std::vector<std::int64_t>{3, 5}),
             b = buffer("b", kF32, std::vector<std::int64_t>{5, 3});
  const Expr i = var("i"), j = var("j"), vi = var("vi"), vj = var("vj");
  const Stmt body = store(b, {vj, vi}, load(a, {vi, vj}) + constant(kF32, 1.0));
  const Stmt block = make(Block{.name = "transpose",
                                .iters = {{vi, imm(3), IterKind::Spatial, i}, {vj, imm(5), IterKind::Spatial, j}},
                                .body = body});
  const Function function = {"f", {a, b}, loop(i, 3, loop(j, 5, block, ForKind::Vectorized))};
  const auto draw = [](const Function&) {
    Rng rng(/*seed=*/1);
    return std::vector<Array>{random_values(rng, kF32, {3, 5}), Array(kF32, {5, 3})};
  };
  for (const Target& target : runnable_targets()) expect_as_interpreted(Module{{function}}, target, draw);
}

TEST(Compile, VariablesThatNothingDefinesAreRefused) {
  const Expr a = flat_buffer("a", kF32, 8);
  const auto result = compile(Module{{{"f", {a}, store(a, {var("nowhere")}, constant(kF32, 0.0))}}}, host_target());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "verify: function 'f': variable 'nowhere' is used outside of its scope");
}

TEST(Compile, LoadsThatASelectGuardsStayWithinBounds) {
  const std::int64_t far = std::int64_t{1} << 40;
  const Expr a = flat_buffer("a", kF32, 8), b = flat_buffer("b", kF32, 8), i = var("i");
  const Expr guarded = select(i < 5, load(a, {i}), load(a, {(i - 6) * far + 6}));
  const Function function = {"f", {a, b}, loop(i, 7, store(b, {i}, select(eq(i, 5), constant(kF32, 1.0), guarded)))};
  expect_as_interpreted(Module{{function}}, host_target(), draw_values);
}

TEST(Compile, OptionsAndNamesAreChecked) {
  const auto odd = compile(Module{{copy_function("f")}}, host_target(), {.assume_alignment = 3});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().message, "assume_alignment is 3, allowed are powers of two in 1..4096");
  const auto twice = compile(Module{{copy_function("f"), copy_function("f")}}, host_target());
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "function name 'f' is empty or used twice in the module");
}

TEST(Compile, AFunctionMayNotHideACFunctionThatTheModuleCalls) {
  const Expr a = flat_buffer("a", kF64, 8), i = var("i");
  const Stmt body = loop(i, 8, store(a, {i}, call(Intrinsic::Erf, {load(a, {i})})));
  const auto hidden = compile(Module{{{"erf", {a}, body}}}, host_target());
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().message,
            "function 'erf' has the name of a C function that the module calls, allowed is any other name");
  EXPECT_TRUE(compile(Module{{{"other", {a}, body}}}, host_target()));
}

TEST(Compile, LoopsSayHowOftenTheyRun) {  // or deep loops of few iterations take registers from those of many
  const Expr x = flat_buffer("x", kF32, 8), i = var("i"), j = var("j");
  const Stmt add = store(x, {j}, load(x, {j}) + load(x, {imm(0)}));
  const Stmt inner = make(For{.var = j, .extent = imm(7), .body = add});
  const Function f{"f", {x}, make(For{.var = i, .extent = imm(192), .body = inner})};
  const auto text = emit_llvm(Module{{f}}, host_target());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("!\"branch_weights\", i32 191, i32 1}"));
  EXPECT_THAT(*text, HasSubstr("!\"branch_weights\", i32 6, i32 1}"));
}

/// How many regions of memory this process may execute.
int executable_regions() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("r-xp") != std::string::npos;
  return count;
}

TEST(Compile, FreedModulesLeaveNoCodeBehind) {  // their other memory is the leak sanitizer's to watch
  const auto compile_some = [] {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(compile(Module{{copy_function("f")}}, host_target()));
  };
  compile_some();
  const int before = executable_regions();
  compile_some();
  EXPECT_EQ(executable_regions(), before);
  const auto kept = compile(Module{{copy_function("f")}}, host_target());
  EXPECT_GT(executable_regions(), before) << "the count sees a module that lives";
}

TEST(Compile, ManyThreadsMayCompileAtOnce) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 5; ++i) expect_as_interpreted(Module{{copy_function("f")}}, host_target(), draw_values);
    });
}

}  // namespace
}  // namespace hone::codegen
