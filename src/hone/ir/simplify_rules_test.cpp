#include <gtest/gtest.h>
#include <set>

#include "hone/ir/evaluate_for_test.h"
#include "hone/ir/pattern.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/support/rng.h"

namespace hone::ir {
namespace {

/// Values that meet the conditions of rules often: small, of both signs, sometimes large.
Env random_env(Rng& rng) {
  const PatternVars& v = pattern_vars();
  Env env;
  for (const Expr& variable : {v.x, v.y, v.z, v.v, v.w, v.n}) {
    const std::int64_t size = rng.chance(0.1) ? 1'000'000'000 : rng.chance(0.5) ? 4 : 40;
    env.emplace_back(variable, rng.uniform(-size, size));
  }
  for (const Expr& variable : {v.p, v.q}) env.emplace_back(variable, rng.uniform(0, 1));
  const std::int64_t unit = rng.uniform(1, 6);
  for (const Expr& variable : {v.c0, v.c1, v.c2, v.c3})
    env.emplace_back(variable, unit * rng.uniform(-1, 5) + (rng.chance(0.3) ? rng.uniform(-3, 3) : 0));
  return env;
}

TEST(SimplifyRules, EveryRuleKeepsTheValue) {
  Rng rng(/*seed=*/1);
  for (const Rule& rule : simplify_rules()) {
    int checked = 0;
    for (int trial = 0; trial < 20'000 && checked < 200; ++trial) {
      const Env env = random_env(rng);
      if (rule.when && evaluate(rule.when, env) != 1) continue;
      const auto before = evaluate(rule.before, env);
      if (!before) continue;  // divides by zero
      ++checked;
      ASSERT_EQ(before, evaluate(rule.after, env)) << rule.name;
    }
    EXPECT_EQ(checked, 200) << rule.name << ": its condition was hardly ever met";
  }
}

TEST(SimplifyRules, NamesAreUniqueAndAfterUsesOnlyWhatBeforeBinds) {
  std::set<std::string_view> names;
  for (const Rule& rule : simplify_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    walk(rule.after, [&](const Expr& e) { EXPECT_TRUE(!e.as<Var>() || uses(rule.before, e)) << rule.name; });
    if (rule.when)
      walk(rule.when, [&](const Expr& e) { EXPECT_TRUE(!e.as<Var>() || uses(rule.before, e)) << rule.name; });
  }
}

}  // namespace
}  // namespace hone::ir
