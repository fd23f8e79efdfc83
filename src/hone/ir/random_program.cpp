#include "hone/ir/random_program.h"

#include <array>
#include <limits>
#include <set>
#include <string>

#include "hone/ir/rewrite.h"

namespace hone::ir {

namespace {

constexpr std::array kNumbers = {kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kBF16, kF32, kF64};
constexpr std::array kLanes = {1, 1, 1, 1, 2, 3, 4, 16};
constexpr std::array kFloatFunctions = {
    Intrinsic::Exp,   Intrinsic::Exp2,  Intrinsic::Log,   Intrinsic::Log2,  Intrinsic::Log10,
    Intrinsic::Log1p, Intrinsic::Expm1, Intrinsic::Sqrt,  Intrinsic::Rsqrt, Intrinsic::Cbrt,
    Intrinsic::Pow,   Intrinsic::Sin,   Intrinsic::Cos,   Intrinsic::Tan,   Intrinsic::Asin,
    Intrinsic::Acos,  Intrinsic::Atan,  Intrinsic::Atan2, Intrinsic::Sinh,  Intrinsic::Cosh,
    Intrinsic::Tanh,  Intrinsic::Asinh, Intrinsic::Acosh, Intrinsic::Atanh, Intrinsic::Erf,
    Intrinsic::Floor, Intrinsic::Ceil,  Intrinsic::Round, Intrinsic::Trunc, Intrinsic::Sigmoid,
    Intrinsic::Fma,   Intrinsic::Abs,   Intrinsic::Fmod,  Intrinsic::Ldexp, Intrinsic::ReciprocalEstimate};
constexpr std::array kIntegerFunctions = {
    Intrinsic::BitAnd,     Intrinsic::BitOr,    Intrinsic::BitXor, Intrinsic::BitNot, Intrinsic::ShiftLeft,
    Intrinsic::ShiftRight, Intrinsic::PopCount, Intrinsic::Abs,    Intrinsic::Fmod,   Intrinsic::Pow};
constexpr std::array kReductions = {Intrinsic::ReduceAdd, Intrinsic::ReduceMul, Intrinsic::ReduceMin,
                                    Intrinsic::ReduceMax};
/// Plain, with the marks of schedule steps, like words of the text form, and in need of quotes.
const std::array<std::string, 12> kNames = {"i",   "A",   "C.local", "i.0@j.1", "for", "min",
                                            "f32", "x y", "",        "a`\\\"b", "2\n", "Größe"};

/// Builds one function, knowing what is in scope.
class Generator {
 public:
  explicit Generator(Rng& rng) : rng_(rng) {}

  Function function();

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return rng_.uniform(low, high); }
  std::string fresh_name();
  DType number_type() { return rng_.choose(kNumbers).with_lanes(rng_.choose(kLanes)); }
  DType any_type() { return rng_.chance(0.1) ? kBool.with_lanes(rng_.choose(kLanes)) : number_type(); }

  Expr constant_of(DType type);
  Expr leaf(DType type);
  Expr expr(DType type, int depth);
  Expr number(DType type, int depth);
  Expr arithmetic(DType type, int depth);
  Expr condition(DType type, int depth);
  Expr intrinsic(DType type, int depth);
  Expr bitcast(DType type, int depth);
  Expr lanes(DType type, int depth);
  Expr load(DType type, int depth);
  std::vector<Expr> indices(const Expr& buffer, int lanes, int depth);
  Expr extent(int depth);

  Expr new_buffer(Scope scope);
  Annotations annotations();
  Stmt stmt(int depth);
  Stmt loop(int depth);
  Stmt block(int depth);
  Stmt store(int depth);
  Stmt sequence(int depth);
  Stmt allocate(int depth);
  Stmt let(int depth);
  Stmt prefetch();

  Rng& rng_;
  std::vector<Expr> vars_, buffers_;  ///< in scope
  std::set<std::string> names_;
};

std::string Generator::fresh_name() {
  std::string name = rng_.choose(kNames);
  if (!names_.insert(name).second) {
    name += std::to_string(names_.size());
    names_.insert(name);
  }
  return name;
}

Expr Generator::constant_of(DType type) {
  if (type.is_float()) {
    using Limits = std::numeric_limits<float>;
    const std::array values = {0.0,
                               -0.0,
                               1.0,
                               -0.1,
                               1.5,
                               double{Limits::quiet_NaN()},
                               double{Limits::infinity()},
                               -double{Limits::infinity()},
                               double{Limits::denorm_min()},
                               double{Limits::max()},
                               6e-8,
                               rng_.unit() * 1e6,
                               (rng_.unit() - 0.5) * 1e-30};
    return constant(type, rng_.choose(values));
  }
  const std::array values = {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1},
                             min_value(type), max_value(type), static_cast<std::int64_t>(rng_.next())};
  return constant(type, rng_.choose(values));
}

Expr Generator::leaf(DType type) {
  std::vector<Expr> fitting;
  for (const Expr& var : vars_)
    if (var.type() == type) fitting.push_back(var);
  return fitting.empty() || rng_.chance(0.3) ? constant_of(type) : rng_.choose(fitting);
}

std::vector<Expr> Generator::indices(const Expr& buffer, int lanes, int depth) {
  std::vector<Expr> result;
  const std::size_t rank = buffer.get<Buffer>().shape.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const bool is_vector = axis + 1 == rank || rng_.chance(0.3);
    result.push_back(expr(kIndex.with_lanes(is_vector ? lanes : 1), depth));
  }
  return result;
}

Expr Generator::load(DType type, int depth) {
  std::vector<Expr> fitting;
  for (const Expr& buffer : buffers_)
    if (buffer.type() == type.element() && (!type.is_vector() || !buffer.get<Buffer>().shape.empty()))
      fitting.push_back(buffer);
  if (fitting.empty()) return leaf(type);
  const Expr buffer = rng_.choose(fitting);
  std::vector<Expr> index = indices(buffer, type.lanes, depth - 1);
  const Expr mask = rng_.chance(0.3) ? expr(kBool.with_lanes(type.lanes), depth - 1) : Expr();
  return make(Load{buffer, std::move(index), mask});
}

Expr Generator::expr(DType type, int depth) {
  if (depth <= 0) return leaf(type);
  if (rng_.chance(0.15)) return load(type, depth);
  if (rng_.chance(0.1)) {
    const Expr a = expr(type, depth - 1), b = expr(type, depth - 1);
    const bool is_lane_wise = rng_.chance(0.5);
    return select(expr(is_lane_wise ? kBool.with_lanes(type.lanes) : kBool, depth - 1), a, b);
  }
  if (rng_.chance(0.1)) return make(Cast{expr(any_type().with_lanes(type.lanes), depth - 1)}, type);
  if (type.is_vector() && rng_.chance(0.3)) return make(Broadcast{expr(type.element(), depth - 1)}, type.lanes);
  return type.is_bool() ? condition(type, depth) : number(type, depth);
}

Expr Generator::number(DType type, int depth) {
  switch (pick(0, 5)) {
    case 0:
      return intrinsic(type, depth);
    case 1:
      return bitcast(type, depth);
    case 2:
      return lanes(type, depth);
    default:
      return arithmetic(type, depth);
  }
}

Expr Generator::arithmetic(DType type, int depth) {
  const Expr a = expr(type, depth - 1), b = expr(type, depth - 1);
  switch (pick(0, 7)) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a / b;
    case 4:
      return floor_div(a, b);
    case 5:
      return floor_mod(a, b);
    case 6:
      return min(a, b);
    default:
      return max(a, b);
  }
}

Expr Generator::condition(DType type, int depth) {
  if (rng_.chance(0.1)) {
    const DType floats = (rng_.chance(0.5) ? kF32 : kF16).with_lanes(type.lanes);
    return call(rng_.chance(0.5) ? Intrinsic::IsNan : Intrinsic::IsInf, {expr(floats, depth - 1)});
  }
  if (rng_.chance(0.5)) {
    const Expr a = expr(type, depth - 1), b = expr(type, depth - 1);
    const std::int64_t which = pick(0, 2);
    return which == 0 ? logical_not(a) : which == 1 ? logical_and(a, b) : logical_or(a, b);
  }
  const DType compared = any_type().with_lanes(type.lanes);
  const Expr a = expr(compared, depth - 1), b = expr(compared, depth - 1);
  const std::int64_t which = pick(0, 3);
  return which == 0 ? eq(a, b) : which == 1 ? ne(a, b) : which == 2 ? a < b : a <= b;
}

Expr Generator::intrinsic(DType type, int depth) {
  const Intrinsic function = type.is_float() ? rng_.choose(kFloatFunctions) : rng_.choose(kIntegerFunctions);
  std::vector<Expr> args;
  for (int i = 0; i < arity(function); ++i) args.push_back(expr(type, depth - 1));
  return call(function, std::move(args));
}

Expr Generator::bitcast(DType type, int depth) {
  std::vector<DType> same_width;
  for (const DType from : kNumbers)
    if (from.bits() == type.bits()) same_width.push_back(from.with_lanes(type.lanes));
  return make(Call{Intrinsic::Bitcast, {expr(rng_.choose(same_width), depth - 1)}}, type);
}

/// What makes vectors, and what makes scalars or shorter vectors of them.
Expr Generator::lanes(DType type, int depth) {
  if (type.scalar == Scalar::I32 && rng_.chance(0.5)) {
    const DType bytes = kI8.with_lanes(4 * type.lanes), first = rng_.chance(0.5) ? bytes : kU8.with_lanes(bytes.lanes);
    return call(Intrinsic::Dot4, {expr(type, depth - 1), expr(first, depth - 1), expr(bytes, depth - 1)});
  }
  if (type.scalar == Scalar::F32 && rng_.chance(0.5)) {
    const DType pairs = kBF16.with_lanes(2 * type.lanes);
    return call(Intrinsic::Dot2, {expr(type, depth - 1), expr(pairs, depth - 1), expr(pairs, depth - 1)});
  }
  if (!type.is_vector()) return call(rng_.choose(kReductions), {expr(type.with_lanes(4), depth - 1)});
  const Expr base = expr(type.element(), depth - 1), stride = expr(type.element(), depth - 1);
  return make(Ramp{base, stride}, type.lanes);
}

Expr Generator::extent(int depth) {
  const Expr e = rng_.chance(0.3) ? expr(kIndex, depth) : imm(pick(0, 7));
  return e.as<IntImm>() && constant_value(e) < 0 ? imm(1) : e;
}

Expr Generator::new_buffer(Scope scope) {
  Buffer node{.name = fresh_name(), .shape = {}, .scope = scope};
  for (std::int64_t rank = pick(0, 3); rank > 0; --rank) node.shape.push_back(extent(1));
  const int rank = static_cast<int>(node.shape.size());
  if (rank > 0 && scope != Scope::Global && rng_.chance(0.5))
    node.alignments.push_back({static_cast<int>(pick(0, rank - 1)), 32, pick(0, 31)});
  return make(std::move(node), any_type().element());
}

Annotations Generator::annotations() {
  Annotations result;
  for (std::int64_t count = rng_.chance(0.3) ? pick(1, 3) : 0; count > 0; --count)
    result = with(std::move(result), rng_.choose(kNames), rng_.choose(kNames));
  return result;
}

Stmt Generator::loop(int depth) {
  For node{.var = var(fresh_name()), .extent = extent(2)};
  node.how = static_cast<ForKind>(rng_.chance(0.5) ? 0 : pick(0, static_cast<std::int64_t>(ForKind::VThread)));
  node.annotations = annotations();
  vars_.push_back(node.var);
  node.body = stmt(depth - 1);
  vars_.pop_back();
  return make(std::move(node));
}

Stmt Generator::block(int depth) {
  Block node{.name = fresh_name(), .annotations = annotations()};
  for (std::int64_t count = pick(0, 3); count > 0; --count)
    node.iters.push_back(
        {var(fresh_name()), extent(1), rng_.chance(0.5) ? IterKind::Spatial : IterKind::Reduce, expr(kIndex, 2)});
  if (rng_.chance(0.3)) node.predicate = expr(kBool, 2);
  const std::size_t outside = vars_.size();
  for (const Iter& iter : node.iters) vars_.push_back(iter.var);
  if (rng_.chance(0.4)) node.init = stmt(depth - 1);
  node.body = stmt(depth - 1);
  vars_.resize(outside);
  return make(std::move(node));
}

Stmt Generator::store(int depth) {
  const Expr buffer = rng_.choose(buffers_);
  const int count = buffer.get<Buffer>().shape.empty() ? 1 : rng_.choose(kLanes);
  Store node{.buffer = buffer, .indices = indices(buffer, count, 2)};
  node.value = expr(buffer.type().with_lanes(count), depth);
  if (rng_.chance(0.3)) node.mask = expr(kBool.with_lanes(count), 2);
  return make(std::move(node));
}

Stmt Generator::sequence(int depth) {
  std::vector<Stmt> stmts;
  for (std::int64_t count = pick(0, 4); count > 0; --count) stmts.push_back(stmt(depth - 1));
  return make(Seq{std::move(stmts)});
}

Stmt Generator::allocate(int depth) {
  const Expr buffer = new_buffer(static_cast<Scope>(pick(0, 3)));
  buffers_.push_back(buffer);
  Stmt body = stmt(depth - 1);
  buffers_.pop_back();
  return make(Allocate{buffer, std::move(body)});
}

Stmt Generator::let(int depth) {
  const DType type = any_type();
  const Expr value = expr(type, 3), variable = var(fresh_name(), type);
  vars_.push_back(variable);
  Stmt body = stmt(depth - 1);
  vars_.pop_back();
  return make(Let{variable, value, std::move(body)});
}

Stmt Generator::prefetch() {
  const Expr buffer = rng_.choose(buffers_);
  const Intrinsic function = rng_.chance(0.5) ? Intrinsic::Prefetch : Intrinsic::PrefetchL2;
  return make(Evaluate{call(function, {make(Load{buffer, indices(buffer, 1, 2)})})});
}

Stmt Generator::stmt(int depth) {
  if (depth <= 0) return rng_.chance(0.1) ? make(Barrier{}) : store(3);
  switch (pick(0, 10)) {
    case 0:
    case 1:
      return loop(depth);
    case 2:
    case 3:
      return block(depth);
    case 4:
      return make(If{expr(kBool, 3), stmt(depth - 1), rng_.chance(0.5) ? stmt(depth - 1) : Stmt()});
    case 5:
    case 6:
      return sequence(depth);
    case 7:
      return allocate(depth);
    case 8:
      return let(depth);
    case 9:
      return prefetch();
    default:
      return store(4);
  }
}

Function Generator::function() {
  Function f{.name = rng_.choose(kNames), .params = {}, .body = {}};
  const std::vector<Expr> sizes = {var(fresh_name()), var(fresh_name())};
  vars_ = sizes;
  for (std::int64_t count = pick(1, 4); count > 0; --count) f.params.push_back(new_buffer(Scope::Global));
  if (rng_.chance(0.5)) f.params.push_back(make(Buffer{fresh_name(), {sizes[1], sizes[0] + 1}}, kF32));

  vars_.clear();  // a size that no shape mentions does not exist
  for (const Expr& size : symbolic_sizes(f)) vars_.push_back(size);
  buffers_ = f.params;
  f.body = stmt(5);
  return f;
}

}  // namespace

Function random_function(Rng& rng) { return Generator(rng).function(); }

}  // namespace hone::ir
