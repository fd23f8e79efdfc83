#include "hone/ir/equal.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "hone/ir/random_program.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"

namespace hone::ir {
namespace {

using Shape = std::vector<std::int64_t>;

Function parse(std::string_view text) {
  Result<Function> f = parse_function(text);
  EXPECT_TRUE(f) << f.error().message;
  return *f;
}

/// The function with fresh nodes of new names for all it defines.
Function renamed(const Function& f) {
  Substitution names;
  int count = 0;
  for (const Expr& size : symbolic_sizes(f)) names.emplace_back(size, var("r" + std::to_string(count++)));
  const auto rename_buffer = [&](const Expr& e) {
    Buffer node = e.get<Buffer>();
    node.name = "r" + std::to_string(count++);
    for (Expr& extent : node.shape) extent = substitute(extent, names);
    names.emplace_back(e, make(std::move(node), e.type()));
  };
  for (const Expr& param : f.params) rename_buffer(param);
  walk(f.body, [&](const Stmt& s) {
    const auto rename = [&](const Expr& e) { names.emplace_back(e, var("r" + std::to_string(count++), e.type())); };
    if (const For* node = s.as<For>()) rename(node->var);
    if (const Let* node = s.as<Let>()) rename(node->var);
    if (const Allocate* node = s.as<Allocate>()) rename_buffer(node->buffer);
    if (const Block* node = s.as<Block>())
      for (const Iter& iter : node->iters) rename(iter.var);
  });
  Function result{"renamed", {}, substitute(f.body, names)};
  for (const Expr& param : f.params) result.params.push_back(substitute(param, names));
  return result;
}

/// Nodes that differ from `e` in one field, of the same type.
std::vector<Expr> variants(const Expr& e) {
  std::vector<Expr> result;
  if (const IntImm* node = e.as<IntImm>()) result.push_back(make(IntImm{node->value ^ 1}, e.type()));
  if (const FloatImm* node = e.as<FloatImm>())
    result.push_back(make(FloatImm{node->value == 0.5 ? 0.25 : 0.5}, e.type()));
  if (const Add* node = e.as<Add>()) result.push_back(make(Sub{node->a, node->b}));
  if (const FloorDiv* node = e.as<FloorDiv>()) result.push_back(make(FloorMod{node->a, node->b}));
  if (const Lt* node = e.as<Lt>()) result.push_back(make(Le{node->a, node->b}));
  if (const Sub* node = e.as<Sub>(); node && !equal(node->a, node->b)) result.push_back(make(Sub{node->b, node->a}));
  if (const Select* node = e.as<Select>()) {
    result.push_back(make(Select{logical_not(node->condition), node->a, node->b}));
    if (!equal(node->a, node->b)) result.push_back(make(Select{node->condition, node->b, node->a}));
  }
  if (const Load* node = e.as<Load>())
    result.push_back(make(Load{node->buffer, node->indices, node->mask ? Expr() : boolean(true)}));
  if (const Call* node = e.as<Call>()) {
    const Intrinsic other = node->function == Intrinsic::Exp ? Intrinsic::Log : Intrinsic::Exp;
    result.push_back(make(Call{other, node->args}, e.type()));
  }
  const bool is_name = e.kind() == Kind::Var || e.kind() == Kind::Buffer;
  if (!is_name && e.type() != kVoid) result.push_back(make(Select{boolean(true), e, e}));
  return result;
}

template <typename Node, typename Change>
Stmt changed(Node node, Change change) {
  change(node);
  return make(std::move(node));
}

std::vector<Stmt> variants(const For& node) {
  return {changed(node, [](For& n) { n.how = n.how == ForKind::Serial ? ForKind::Parallel : ForKind::Serial; }),
          changed(node, [](For& n) { n.annotations = with(n.annotations, "new key", ""); }),
          changed(node, [](For& n) { n.annotations.push_back({"k", "v"}); }),
          changed(node, [](For& n) { n.body = make(Seq{{n.body}}); })};
}

std::vector<Stmt> variants(const Block& node) {
  std::vector<Stmt> result = {
      changed(node, [](Block& n) { n.annotations = with(n.annotations, "new key", ""); }),
      changed(node, [](Block& n) { n.predicate = n.predicate ? Expr() : boolean(true); }),
      changed(node, [](Block& n) { n.init = n.init ? Stmt() : make(Barrier{}); }),
      changed(node, [](Block& n) { n.iters.push_back({var("new"), imm(1), IterKind::Spatial, imm(0)}); })};
  if (!node.iters.empty())
    result.push_back(changed(node, [](Block& n) {
      n.iters[0].kind = n.iters[0].kind == IterKind::Spatial ? IterKind::Reduce : IterKind::Spatial;
    }));
  return result;
}

/// The allocation with another buffer in place of its own.
template <typename Change>
Stmt with_buffer(const Allocate& node, Change change) {
  Buffer buffer = node.buffer.get<Buffer>();
  change(buffer);
  const Expr other = make(std::move(buffer), node.buffer.type());
  return make(Allocate{other, substitute(node.body, node.buffer, other)});
}

std::vector<Stmt> variants(const Allocate& node) {
  return {with_buffer(node, [](Buffer& b) { b.scope = b.scope == Scope::Local ? Scope::Shared : Scope::Local; }),
          with_buffer(node, [](Buffer& b) { b.alignments.push_back({0, 2, 1}); }),
          with_buffer(node, [](Buffer& b) { b.shape.push_back(imm(9)); })};
}

/// Statements that differ from `s` in one field.
std::vector<Stmt> variants(const Stmt& s) {
  if (const For* node = s.as<For>()) return variants(*node);
  if (const Block* node = s.as<Block>()) return variants(*node);
  if (const Allocate* node = s.as<Allocate>()) return variants(*node);
  if (const Store* node = s.as<Store>())
    return {changed(*node, [](Store& n) { n.mask = n.mask ? Expr() : boolean(true); })};
  if (const If* node = s.as<If>())
    return {changed(*node, [](If& n) { n.otherwise = n.otherwise ? Stmt() : make(Barrier{}); })};
  if (const Seq* node = s.as<Seq>()) return {changed(*node, [](Seq& n) { n.stmts.push_back(make(Barrier{})); })};
  if (s.as<Barrier>()) return {make(Seq{})};
  return {make(Seq{{s}})};
}

/// Every function that differs from `f` in one field of one node of the body.
std::vector<Function> mutants(const Function& f) {
  std::vector<Function> result;
  for (std::size_t target = 0;; ++target) {
    std::size_t count = 0;
    const auto pick = [&](const auto& node) {
      const auto others = variants(node);
      const bool is_here = target >= count && target < count + others.size();
      const std::size_t which = target - count;
      count += others.size();
      return is_here ? others[which] : node;
    };
    const Stmt body = transform(f.body, [&](const Stmt& s) { return pick(s); }, [&](const Expr& e) { return pick(e); });
    if (target >= count) return result;
    result.push_back({f.name, f.params, body});
  }
}

TEST(Equal, RenamingKeepsEqualityAndHash) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    const Function f = random_function(rng), other = renamed(f);
    ASSERT_TRUE(equal(f, other)) << "seed " << seed << "\n" << to_text(f) << to_text(other);
    ASSERT_EQ(structural_hash(f), structural_hash(other)) << "seed " << seed << "\n" << to_text(f);
  }
}

TEST(Equal, EveryChangeOfOneFieldBreaksEqualityAndHash) {
  std::size_t all = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    Rng rng(seed);
    const Function f = random_function(rng);
    const Hash128 hash = structural_hash(f);
    for (const Function& mutant : mutants(f)) {
      ++all;
      ASSERT_FALSE(equal(f, mutant)) << "seed " << seed << "\n" << to_text(f) << to_text(mutant);
      ASSERT_NE(structural_hash(mutant), hash) << "seed " << seed << "\n" << to_text(f) << to_text(mutant);
    }
  }
  EXPECT_GT(all, 1000u);
}

TEST(Equal, ParametersCountByTypeShapeAndOrder) {
  const Function f = parse("func f(A: f32[4], B: f32[5]) { A[0] = B[0] }");
  for (const std::string_view other :
       {"func f(A: f32[4], B: f32[6]) { A[0] = B[0] }", "func f(B: f32[4], A: f32[5]) { A[0] = B[0] }",
        "func f(A: f64[4], B: f64[5]) { A[0] = B[0] }", "func f(A: f32[4], B: f32[5], C: f32[4]) { A[0] = B[0] }",
        "func f[n](A: f32[4], B: f32[n]) { A[0] = B[0] }"}) {
    EXPECT_FALSE(equal(f, parse(other))) << other;
    EXPECT_NE(structural_hash(f), structural_hash(parse(other))) << other;
  }
}

TEST(Equal, SizesCorrespondByTheirFirstAppearance) {
  const Function f = parse("func f[n, m](A: f32[n, m, n]) { A[0, 0, 0] = f32(n) }");
  const Function same = parse("func g[x, y](B: f32[y, x, y]) { B[0, 0, 0] = f32(y) }");
  EXPECT_TRUE(equal(f, same));
  EXPECT_EQ(structural_hash(f), structural_hash(same));
  for (const std::string_view other : {"func f[n, m](A: f32[n, m, n]) { A[0, 0, 0] = f32(m) }",
                                       "func f[n, m](A: f32[n, m, m]) { A[0, 0, 0] = f32(n) }",
                                       "func f[n](A: f32[n, n, n]) { A[0, 0, 0] = f32(n) }"}) {
    EXPECT_FALSE(equal(f, parse(other))) << other;
    EXPECT_FALSE(equal(parse(other), f)) << other;
    EXPECT_NE(structural_hash(f), structural_hash(parse(other))) << other;
  }
}

TEST(Equal, VariablesCountByWhereTheyAreBound) {
  const Function f = parse("func f(A: i64[4, 4]) { for i in 0..4 { for j in 0..4 { A[i, j] = i } } }");
  const Function swapped = parse("func f(A: i64[4, 4]) { for i in 0..4 { for j in 0..4 { A[j, i] = i } } }");
  const Function renamed = parse("func f(A: i64[4, 4]) { for j in 0..4 { for i in 0..4 { A[j, i] = j } } }");
  EXPECT_FALSE(equal(f, swapped));
  EXPECT_NE(structural_hash(f), structural_hash(swapped));
  EXPECT_TRUE(equal(f, renamed));
  EXPECT_EQ(structural_hash(f), structural_hash(renamed));
}

TEST(Equal, FreeVariablesAreEqualOnlyToThemselves) {
  const Expr x = var("x"), y = var("x");
  EXPECT_TRUE(equal(x + 1, x + 1));
  EXPECT_FALSE(equal(x + 1, y + 1));
  const Expr a = buffer("a", kI64, Shape{4});
  const auto loop = [&](const Expr& v, const Expr& value) {
    return make(For{.var = v, .extent = imm(4), .body = store(a, {v}, value)});
  };
  EXPECT_TRUE(equal(loop(x, x), loop(y, y)));
  EXPECT_FALSE(equal(loop(x, y), loop(y, x))) << "free on one side, bound on the other";
  EXPECT_FALSE(equal(loop(x, y), loop(y, y)));
}

TEST(Equal, NumbersCountBitForBit) {
  const auto number = [](double value) { return make(FloatImm{value}, kF64); };
  EXPECT_FALSE(equal(number(0.0), number(-0.0)));
  EXPECT_TRUE(equal(number(std::nan("1")), number(-std::nan("2")))) << "the text form knows one NaN";
  EXPECT_FALSE(equal(imm(1), constant(kI32, std::int64_t{1})));
}

TEST(Hash, IsTheSameOnEveryMachineAndDay) {
  const Function f = parse("func f[n](A: f32[n]) { for i in 0..n @k(\"a long value\") { A[i] = A[i] * 0.1f32 } }");
  EXPECT_EQ(to_string(structural_hash(f)), "ef9c40ff31588df12ce1050c4001a6a3");
}

TEST(Hash, SpreadsOverAllBits) {
  int ones[128] = {};
  constexpr int kPrograms = 2000;
  std::set<Hash128> seen;
  for (int i = 0; i < kPrograms; ++i) {
    const Expr a = buffer("a", kI64, Shape{1});
    const Hash128 hash = structural_hash({"f", {a}, store(a, {imm(0)}, imm(i))});
    seen.insert(hash);
    for (int bit = 0; bit < 64; ++bit) {
      ones[bit] += static_cast<int>(hash.low >> bit & 1);
      ones[64 + bit] += static_cast<int>(hash.high >> bit & 1);
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kPrograms));
  for (const int count : ones) {  // six standard deviations of a fair coin
    EXPECT_GT(count, kPrograms / 2 - 135);
    EXPECT_LT(count, kPrograms / 2 + 135);
  }
}

}  // namespace
}  // namespace hone::ir
