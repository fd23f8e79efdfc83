/// Evaluates expressions in tests, through the interpreter.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hone/ir/interpret.h"
#include "hone/ir/rewrite.h"

namespace hone::ir {

/// The value of each variable.
using Env = std::vector<std::pair<Expr, std::int64_t>>;

/// The lanes of an integer or bool expression (floats: their bits as f64); nothing where it divides by zero.
inline std::optional<std::vector<std::int64_t>> evaluate_lanes(const Expr& e, const Env& env) {
  const DType element = e.type().is_float() ? kF64 : kI64;
  const int lanes = e.type().lanes;
  const Expr out = buffer("out", element, std::vector<std::int64_t>{lanes});
  const Expr index = lanes > 1 ? make(Ramp{imm(0), imm(1)}, lanes) : imm(0);
  Stmt body = store(out, {index}, cast(element.with_lanes(lanes), e));
  for (const auto& [variable, value] : env) {
    if (uses(body, variable))
      body = make(Let{.var = variable, .value = constant(variable.type(), value), .body = body});
  }
  Array result(element, {lanes});
  Array* const args[] = {&result};
  if (!interpret(Function{"evaluate", {out}, body}, args)) return std::nullopt;
  std::vector<std::int64_t> values;
  for (int lane = 0; lane < lanes; ++lane)
    values.push_back(element == kF64 ? std::bit_cast<std::int64_t>(result.float_at(lane)) : result.int_at(lane));
  return values;
}

/// The value of a scalar expression.
inline std::optional<std::int64_t> evaluate(const Expr& e, const Env& env) {
  const auto lanes = evaluate_lanes(e, env);
  return lanes ? std::optional(lanes->front()) : std::nullopt;
}

}  // namespace hone::ir
