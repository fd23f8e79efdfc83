#include "hone/cost/op_counts.h"

#include <numeric>

#include "hone/ir/rewrite.h"

namespace hone::cost {

namespace {

using ir::Expr;
using ir::Intrinsic;

void count(OpCounts& counts, ir::DType type, Op op, double times = 1) {
  if (type.is_bool())
    counts.bools += times;
  else
    (type.is_float() ? counts.floats : counts.ints)[static_cast<std::size_t>(op)] += times;
}

bool is_plain(Intrinsic function) { return function >= Intrinsic::Floor && function <= Intrinsic::Abs; }

void count_call(const ir::Call& call, ir::DType type, OpCounts& counts) {
  if (call.function == Intrinsic::Prefetch || call.function == Intrinsic::PrefetchL2) return;
  if (call.function == Intrinsic::Fma)
    count(counts, type, Op::MultiplyAdd);
  else if (call.function == Intrinsic::Dot4)
    count(counts, type, Op::MultiplyAdd, 4);
  else if (call.function == Intrinsic::Dot2)
    count(counts, type, Op::MultiplyAdd, 2);
  else if (call.function < Intrinsic::Fma && !is_plain(call.function))
    count(counts, type, Op::Math);
  else
    count(counts, call.args.empty() ? type : call.args[0].type(), Op::Call);
}

/// A sum or difference: one multiply-add if an operand is a product.
void count_sum(const Expr& a, const Expr& b, ir::DType type, OpCounts& counts) {
  const bool left = a.as<ir::Mul>(), right = b.as<ir::Mul>();
  if (!left && !right) {
    count(counts, type, Op::AddSub);
  } else {
    count(counts, type, Op::MultiplyAdd);
    count(counts, type, Op::Multiply, -1);  // which is counted with the operand
  }
}

}  // namespace

double OpCounts::arithmetic() const {
  const auto fused = static_cast<std::size_t>(Op::MultiplyAdd), product = static_cast<std::size_t>(Op::Multiply);
  return std::accumulate(floats.begin(), floats.end(), floats[fused] + 2 * ints[fused] + ints[product]);
}

void count_ops(const Expr& e, OpCounts& counts) {
  const ir::DType type = e.type();
  switch (e.kind()) {
    case ir::Kind::Load:
      return;
    case ir::Kind::Add:
      count_sum(e.get<ir::Add>().a, e.get<ir::Add>().b, type, counts);
      break;
    case ir::Kind::Sub:
      count_sum(e.get<ir::Sub>().a, e.get<ir::Sub>().b, type, counts);
      break;
    case ir::Kind::Mul:
      count(counts, type, Op::Multiply);
      break;
    case ir::Kind::Div:
    case ir::Kind::FloorDiv:
    case ir::Kind::FloorMod:
      count(counts, type, Op::Divide);
      break;
    case ir::Kind::Min:
    case ir::Kind::Max:
      count(counts, type, Op::Compare);
      break;
    case ir::Kind::Eq:
      count(counts, e.get<ir::Eq>().a.type(), Op::Compare);
      break;
    case ir::Kind::Ne:
      count(counts, e.get<ir::Ne>().a.type(), Op::Compare);
      break;
    case ir::Kind::Lt:
      count(counts, e.get<ir::Lt>().a.type(), Op::Compare);
      break;
    case ir::Kind::Le:
      count(counts, e.get<ir::Le>().a.type(), Op::Compare);
      break;
    case ir::Kind::And:
    case ir::Kind::Or:
    case ir::Kind::Not:
      counts.bools += 1;
      break;
    case ir::Kind::Select:
      counts.selects += 1;
      break;
    case ir::Kind::Call:
      count_call(e.get<ir::Call>(), type, counts);
      break;
    default:
      break;
  }
  ir::for_each_child(e, [&](const Expr& child) { count_ops(child, counts); });
}

}  // namespace hone::cost
