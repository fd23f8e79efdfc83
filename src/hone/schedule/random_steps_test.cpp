/// Random sequences of steps that move, join and split blocks and loops, compared with the interpreter.
#include <gtest/gtest.h>
#include <map>

#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"
#include "hone/support/rng.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {
namespace {

using namespace ir;

/// Like softmax, but exact in whole numbers whatever the order of the sums: D = (A - M)² · S.
Program centred(std::int64_t n, std::int64_t m) {
  using namespace tensor;
  const Tensor a = placeholder("A", {n, m});
  const Tensor highest = compute("M", {n}, [&](const Indices& i) {
    return reduce_max({{"k", m}}, [&](const Indices& r) { return a(i[0], r[0]); });
  });
  const Tensor squares = compute("E", {n, m}, [&](const Indices& i) {
    const Expr difference = a(i) - highest(i[0]);
    return difference * difference;
  });
  const Tensor total = compute("S", {n}, [&](const Indices& i) {
    return reduce_sum({{"k", m}}, [&](const Indices& r) { return squares(i[0], r[0]); });
  });
  const Tensor result = compute("D", {n, m}, [&](const Indices& i) { return squares(i) * total(i[0]); });
  return lower("centred", {a}, {result});
}

/// R[i] = Σ_k A[i, k], D[i, j] = R[i] · B[j], Z = D + D.
Program scaled_sums(std::int64_t n, std::int64_t m, std::int64_t k) {
  using namespace tensor;
  const Tensor a = placeholder("A", {n, k}), b = placeholder("B", {m});
  const Tensor sums = compute("R", {n}, [&](const Indices& i) {
    return reduce_sum({{"k", k}}, [&](const Indices& r) { return a(i[0], r[0]); });
  });
  const Tensor d = compute("D", {n, m}, [&](const Indices& i) { return sums(i[0]) * b(i[1]); });
  const Tensor z = compute("Z", {n, m}, [&](const Indices& i) { return d(i) + d(i); });
  return lower("scaled_sums", {a, b}, {z});
}

/// The program with each loop that no block reduces over run backwards: iterations must not need each other's values.
Stmt backwards(const Stmt& s) {
  if (s.as<Block>()) return s;
  const Stmt inner = map_children(s, [](const Stmt& child) { return backwards(child); });
  const For* loop = inner.as<For>();
  if (!loop) return inner;
  for (const Path& path : blocks_below(Path{{inner}}))
    if (const Role role = role_of(loop->var, path.block()); role == Role::Reduce || role == Role::Mixed) return inner;
  const Stmt body = substitute(loop->body, loop->var, loop->extent - 1 - loop->var);
  return make(For{loop->var, loop->extent, loop->how, body, loop->annotations});
}

class RandomSteps {
 public:
  explicit RandomSteps(std::uint64_t seed) : rng_(seed) {}

  Result<Program> step(const Program& p) {
    const std::vector<Path> all = blocks(p);
    const Path& path = pick(all);
    const std::string block = path.block().name;
    const std::vector<std::string> around = loops_of(p, block);
    const std::string loop = around.empty() ? "none" : pick(around);
    switch (rng_.uniform(0, 13)) {
      case 0:
      case 1: {
        const std::string elsewhere = loop_around(p, readers(p, pick(written_buffers(path.block()))));
        return record("compute_at", block, elsewhere, compute_at(p, block, elsewhere));
      }
      case 2:
      case 3: {
        const std::vector<Expr> read = read_buffers(path.block());
        const std::string elsewhere = read.empty() ? any_loop(p) : loop_around(p, writers(p, pick(read)));
        return record("reverse_compute_at", block, elsewhere, reverse_compute_at(p, block, elsewhere));
      }
      case 4:
        return record("compute_inline", block, "", compute_inline(p, block));
      case 5:
        return record("reverse_compute_inline", block, "", reverse_compute_inline(p, block));
      case 6: {
        const std::vector<Expr> read = read_buffers(path.block());
        const std::string buffer = read.empty() ? "none" : name_of(pick(read));
        return record("cache_read", block, buffer, cache_read(p, block, buffer, Scope::Local));
      }
      case 7:
        return record("cache_write", block, "", cache_write(p, block, Scope::Local));
      case 8:
        return record("rfactor", block, loop, rfactor(p, block, loop));
      case 9:
        return record("decompose_reduction", block, loop, decompose_reduction(p, block, loop));
      case 10:
      case 11: {
        const std::vector<std::int64_t> factors{kRest, rng_.uniform(1, 4)};
        return record("split", loop, std::to_string(factors[1]), split(p, loop, factors));
      }
      case 12: {
        const std::vector<std::string> pair = neighbours(around);
        return record("reorder", pair[0], pair[1], reorder(p, pair));
      }
      default: {
        std::vector<std::string> pair = neighbours(around);
        if (rng_.chance(0.5)) return record("parallel", loop, "", parallel(p, loop));
        std::swap(pair[0], pair[1]);
        return record("fuse", pair[0], pair[1], fuse(p, pair));
      }
    }
  }

  const std::string& history() const { return history_; }
  /// How often each step was legal.
  const std::map<std::string, int>& taken() const { return taken_; }

 private:
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return rng_.choose(list);
  }

  /// A loop around one of the blocks, or now and then any loop.
  std::string loop_around(const Program& p, const std::vector<Path>& paths) {
    if (paths.empty() || rng_.chance(0.1)) return any_loop(p);
    const std::vector<std::string> names = loops_of(p, pick(paths).block().name);
    return names.empty() ? "none" : pick(names);
  }

  std::string any_loop(const Program& p) {
    std::vector<std::string> names;
    walk(p.body, [&](const Stmt& s) {
      if (const For* loop = s.as<For>()) names.push_back(name_of(loop->var));
    });
    return names.empty() ? "none" : pick(names);
  }

  /// Two loops that follow each other, the inner one first.
  std::vector<std::string> neighbours(const std::vector<std::string>& around) {
    if (around.size() < 2) return {"none", "none"};
    const std::size_t inner = static_cast<std::size_t>(rng_.uniform(1, static_cast<std::int64_t>(around.size()) - 1));
    return {around[inner], around[inner - 1]};
  }

  Result<Program> record(std::string_view name, std::string_view a, std::string_view b, Result<Program> result) {
    if (result) history_ += fmt::format("{}({}, {})\n", name, a, b);
    if (result) ++taken_[std::string(name)];
    return result;
  }

  Rng rng_;
  std::string history_;
  std::map<std::string, int> taken_;
};

TEST(Reorder, KeepsLoopsThatComputeABlockAnewOutsideItsReduction) {
  const Program naive = scaled_sums(3, 4, 7);
  Program p = checked(naive, compute_at(naive, "R", "j"));
  p = checked(naive, compute_inline(p, "D"));
  const std::vector<std::string> order{"k", "j"};
  EXPECT_EQ(refusal(reorder(p, order)), "reorder: block 'R' may visit a point more than once below loop 'k'");
  checked(naive, decompose_reduction(p, "R", "k"));
  EXPECT_EQ(refusal(decompose_reduction(*compute_at(naive, "R", "j"), "R", "j")),
            "decompose_reduction: block 'R' may visit a point more than once below loop 'j'");
}

TEST(Rfactor, RefusesALoopThatRepeatsTheReduction) {
  const Program naive = scaled_sums(3, 4, 7);
  Program p = checked(naive, compute_inline(checked(naive, compute_at(naive, "R", "j")), "D"));
  const std::vector<std::string> order{"i", "j"}, repeated{"j", "k"};
  p = checked(naive, fuse(checked(naive, reorder(p, order)), repeated));
  EXPECT_EQ(refusal(rfactor(p, "R", "j@k")), "rfactor: block 'R' may visit a point more than once below loop 'j@k'");
}

TEST(RandomSteps, KeepTheValuesForwardsAndBackwards) {
  const std::vector<Program> programs = {
      chain(3, 5),          blur(5, 4),   convolution(2, 3, 4, 1), convolution(1, 2, 5, 2), centred(4, 6),
      scaled_sums(3, 4, 7), argmax(3, 7), matmul(4, 5, 6)};
  std::map<std::string, int> taken;
  constexpr std::uint64_t kSeeds = 200;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RandomSteps steps(seed);
    const Program& naive = programs[seed % programs.size()];
    Program p = naive;
    for (int i = 0; i < 24; ++i)
      if (Result<Program> next = steps.step(p)) {
        p = checked(naive, next);
        const Program mirrored{p.name, p.params, backwards(p.body)};
        EXPECT_TRUE(same_values(naive, mirrored)) << "backwards";
        if (HasFailure()) FAIL() << "seed " << seed << "\n" << steps.history();
      }
    for (const auto& [name, times] : steps.taken()) taken[name] += times;
  }
  for (const std::string name :
       {"compute_at", "reverse_compute_at", "compute_inline", "reverse_compute_inline", "cache_read", "cache_write",
        "rfactor", "decompose_reduction", "split", "fuse", "reorder", "parallel"})
    EXPECT_GT(taken[name], 5) << name;
}

}  // namespace
}  // namespace hone::schedule
