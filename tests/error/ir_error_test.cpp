/// What people read when a text is not a program.
#include <gtest/gtest.h>
#include <string>

#include "hone/ir/random_program.h"
#include "hone/ir/text.h"
#include "hone/support/rng.h"

namespace hone::ir {
namespace {

std::string message(std::string_view text) {
  const Result<Function> result = parse_function(text);
  if (result) return "none";
  EXPECT_EQ(result.error().code, ErrorCode::ParseError);
  return result.error().message;
}

/// The error in one statement, which stands alone in line 2.
std::string in_body(std::string_view statement) {
  return message("func f[n](A: f32[4], B: i64[4, 4], n_: i8[n]) {\n" + std::string(statement) + "\n}");
}

struct BadText {
  std::string_view statement, message;
};

TEST(IrErrors, ASyntaxErrorNamesThePlaceWhatWasFoundAndWhatIsAllowed) {
  const BadText cases[] = {
      {"for i foo 0..4 { }", "parse: line 2, column 7: found 'foo', allowed is 'in'"},
      {"for i in 1..4 { }", "parse: line 2, column 10: found '1', allowed is '0'"},
      {"for i in 0..4 sideways { }",
       "parse: line 2, column 15: found 'sideways', allowed is a kind of loop, '@' or '{'"},
      {"for for in 0..4 { }", "parse: line 2, column 5: found 'for', allowed is the name of a loop"},
      {"for i in 0..4 @key(5) { }", "parse: line 2, column 20: found '5', allowed is a string"},
      {"for i in 0..4 @a(\"\") @a(\"\") { }", "parse: line 2, column 23: annotation 'a' is given twice"},
      {"block b { i: diagonal(4) = 0 }",
       "parse: line 2, column 14: found 'diagonal', allowed is 'spatial' or 'reduce'"},
      {"A = 1f32", "parse: line 2, column 3: found '=', allowed is '[', for 'A' begins no other statement"},
      {"A[0] = ", "parse: line 3, column 1: found '}', allowed is a value"},
      {"A[0 = 1f32", "parse: line 2, column 5: found '=', allowed is ',' or ']'"},
      {"A[0] = (1f32", "parse: line 3, column 1: found '}', allowed is ')'"},
      {"A[0] = -n", "parse: line 2, column 9: found 'n', allowed is a number"},
      {"A[0] = ?", "parse: line 2, column 8: found the character '?', allowed is a value"},
      {"else { }", "parse: line 2, column 1: found 'else', allowed is a statement or '}'"},
      {"alloc T: f32[4] in attic",
       "parse: line 2, column 20: found 'attic', allowed is global, shared, local or register"},
      {"alloc T: f32[4] align(0, 1.5, 2)",
       "parse: line 2, column 26: found '1.5', allowed is a number in 0..9223372036854775807"},
      {"for i in 0..4 @a(\"x\n", "parse: line 2, column 18: found a string without end, allowed is a string"},
      {"for i in 0..4 @a(\"\\q\") { }", "parse: line 2, column 18: found an unknown escape, allowed is a string"},
      {"if true { } else A[0] = 1f32", "parse: line 2, column 18: found 'A', allowed is '{'"},
  };
  for (const BadText& c : cases) EXPECT_EQ(in_body(c.statement), c.message) << c.statement;
}

TEST(IrErrors, ATypeErrorNamesTheTypesFoundAndAllowed) {
  const BadText cases[] = {
      {"A[0] = A[0] + 1", "parse: line 2, column 13: Add of f32 and i64, allowed is one type on both sides"},
      {"A[0] = 1", "parse: line 2, column 1: store of i64 into buffer 'A', allowed is f32"},
      {"A[0f32] = 1f32", "parse: line 2, column 1: buffer 'A' has an index of f32, allowed is i64 or a vector of it"},
      {"A[0, 0] = 1f32", "parse: line 2, column 1: buffer 'A' has 2 indices, allowed are 1"},
      {"A[0] = 1f32 where 1", "parse: line 2, column 1: buffer 'A' has a mask of i64, allowed is bool"},
      {"for i in 0..1f32 { }", "parse: line 2, column 13: an extent of f32, allowed is i64"},
      {"if n { }", "parse: line 2, column 4: a condition of i64, allowed is bool"},
      {"let x: f32 = 1",
       "parse: line 2, column 5: variable 'x' of f32 is bound to a value of i64, allowed is one type"},
      {"evaluate not n", "parse: line 2, column 10: Not of i64, allowed is bool"},
      {"evaluate n and true", "parse: line 2, column 12: And of i64 and bool, allowed is bool and bool"},
      {"evaluate exp(n)", "parse: line 2, column 10: exp of i64, allowed is one float type"},
      {"evaluate exp()", "parse: line 2, column 10: exp of 0 arguments, allowed are 1"},
      {"evaluate min(n)", "parse: line 2, column 10: min of 1 arguments, allowed are 2"},
      {"evaluate select(n, n, n)", "parse: line 2, column 10: Select on a condition of i64, allowed is bool"},
      {"evaluate ramp(0, 1, n)", "parse: line 2, column 10: ramp of variable lanes, allowed is a constant"},
      {"evaluate ramp(0, 1, 99999)", "parse: line 2, column 10: ramp of 99999 lanes, allowed are 2..65535"},
      {"evaluate broadcast(ramp(0, 1, 2), 2)", "parse: line 2, column 10: broadcast of i64x2, allowed is a scalar"},
      {"evaluate bitcast(f64, 1f32)",
       "parse: line 2, column 10: bitcast of f32 and f64, allowed is a number type of the same width"},
      {"evaluate (n where true)",
       "parse: line 2, column 13: a mask behind something else, allowed is a mask behind one load"},
      {"alloc T: f32x4[4]", "parse: line 2, column 7: buffer 'T' has elements of f32x4, allowed is a scalar type"},
      {"alloc T: f32[1f32]", "parse: line 2, column 7: an extent of buffer 'T' of f32, allowed is i64"},
  };
  for (const BadText& c : cases) EXPECT_EQ(in_body(c.statement), c.message) << c.statement;
}

TEST(IrErrors, AConstantOutsideItsTypeNamesTheRange) {
  const BadText cases[] = {
      {"evaluate 128i8", "parse: line 2, column 10: constant 128i8 is outside -128..127"},
      {"evaluate -129i8", "parse: line 2, column 11: constant -129i8 is outside -128..127"},
      {"evaluate -1u8", "parse: line 2, column 11: constant -1u8 is outside 0..255"},
      {"evaluate 18446744073709551616u64",
       "parse: line 2, column 10: constant 18446744073709551616u64 is outside 0..18446744073709551615"},
      {"evaluate 9223372036854775808",
       "parse: line 2, column 10: constant 9223372036854775808 is outside -9223372036854775808..9223372036854775807"},
      {"evaluate 1.5", "parse: line 2, column 10: constant 1.5 of i64, allowed are whole numbers"},
      {"evaluate 1e39f32", "parse: line 2, column 10: constant 1e39 is outside of f32"},
      {"evaluate 70000f16", "parse: line 2, column 10: constant 70000 is outside of f16"},
      {"evaluate 1bool", "parse: line 2, column 10: a constant of bool, allowed is a scalar number type"},
  };
  for (const BadText& c : cases) EXPECT_EQ(in_body(c.statement), c.message) << c.statement;
}

TEST(IrErrors, AnUnknownNameIsNamed) {
  EXPECT_EQ(in_body("A[i] = 1f32"), "parse: line 2, column 3: unknown variable 'i', allowed are those in scope");
  EXPECT_EQ(in_body("C[0] = 1f32"), "parse: line 2, column 1: unknown buffer 'C', allowed are those in scope");
  EXPECT_EQ(in_body("for i in 0..4 { }\nA[i] = 1f32"),
            "parse: line 3, column 3: unknown variable 'i', allowed are those in scope");
  EXPECT_EQ(in_body("evaluate frob(1)"),
            "parse: line 2, column 10: unknown function 'frob', allowed are min, max, select, ramp, broadcast, types "
            "and intrinsics such as exp");
  EXPECT_EQ(message("func f[n]() { }"),
            "parse: line 1, column 7: size 'n' is in no parameter's shape, allowed are sizes that are");
  EXPECT_EQ(message("func f(A: f32[m]) { }"),
            "parse: line 1, column 15: unknown variable 'm', allowed are those in scope");
}

TEST(IrErrors, WhatFollowsAFunctionIsAnError) {
  EXPECT_EQ(message(""), "parse: line 1, column 1: found the end of the text, allowed is 'func'");
  EXPECT_EQ(message("func f() { } }"), "parse: line 1, column 14: found '}', allowed is the end of the text");
  EXPECT_EQ(message("func f() {"),
            "parse: line 1, column 11: found the end of the text, allowed is a statement or '}'");
  const Result<Module> module = parse_module("func f() { }\nfunk g() { }");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message, "parse: line 2, column 1: found 'funk', allowed is 'func'");
}

std::string repeat(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

TEST(IrErrors, EndlessNestingIsRefusedNotFollowed) {
  constexpr int kMany = 20'000;
  EXPECT_EQ(in_body("evaluate " + repeat("(", kMany)), "parse: line 2, column 265: brackets nest deeper than 256");
  for (const std::string_view opening : {"not ", "exp(", "A[", "(", "bitcast(i64, ", "f32("})
    EXPECT_NE(in_body("evaluate " + repeat(opening, kMany)).find("brackets nest deeper than 256"), std::string::npos)
        << opening;
  for (const std::string_view opening : {"{ ", "seq { ", "if true { ", "for i in 0..2 { ", "block b { init { "})
    EXPECT_NE(in_body(repeat(opening, kMany)).find("brackets nest deeper than 256"), std::string::npos) << opening;
  EXPECT_NE(in_body("evaluate 1" + repeat(" + 1", kMany)).find("more than 1024 operators"), std::string::npos);
  EXPECT_NE(in_body(repeat("let x: i64 = 1\n", kMany)).find("more than 1024 names are in scope"), std::string::npos);
  EXPECT_NE(in_body(repeat("alloc T: f32[]\n", kMany)).find("more than 1024 names are in scope"), std::string::npos);
}

TEST(IrErrors, DeepButAllowedTextsAreRead) {
  EXPECT_EQ(in_body("evaluate 1" + repeat(" + 1", 1000)), "none");
  EXPECT_EQ(in_body("evaluate " + repeat("(", 250) + "1" + repeat(")", 250)), "none");
  EXPECT_EQ(in_body(repeat("let x: i64 = 1\n", 1000)), "none");
}

/// Cuts, repeats, swaps and overwrites pieces of a good text.
std::string damaged(std::string text, Rng& rng) {
  const auto place = [&] {
    return static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(text.size()) - 1));
  };
  for (std::int64_t count = rng.uniform(1, 4); count > 0 && !text.empty(); --count) {
    const std::size_t at = place(), length = static_cast<std::size_t>(rng.uniform(1, 8));
    switch (rng.uniform(0, 3)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(place(), length));
        break;
      case 2:
        text[at] = static_cast<char>(rng.uniform(0, 255));
        break;
      default:
        std::swap(text[at], text[place()]);
    }
  }
  return text;
}

TEST(IrErrors, DamagedTextsGiveAnErrorOrAnotherProgramButNeverACrash) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    Rng rng(seed);
    const std::string text = to_text(random_function(rng)), bad = damaged(text, rng);
    SCOPED_TRACE(seed);
    const Result<Function> result = parse_function(bad);
    refused += !result;
    if (result) { ASSERT_FALSE(to_text(*result).empty()); }
  }
  EXPECT_GT(refused, 2'500);
}

}  // namespace
}  // namespace hone::ir
