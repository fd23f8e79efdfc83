/// Expression nodes, and the operators that build them.
///
/// Builders only build: `x + 0` stays a sum until simplify() sees it. Operands must have one type; a C++ number beside
/// an expression becomes a constant of the expression's type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/ir/node.h"

namespace hone::ir {

/// Where a buffer lives: main memory, memory shared by a GPU thread block, memory private to a worker (stack or
/// thread-local), or registers (small, indexed by constants after unrolling).
enum class Scope : std::uint8_t { Global, Shared, Local, Register };

/// The functions an expression may call. Arguments and result have one type unless the comment says otherwise.
#define HONE_INTRINSICS(X)                                                                                        \
  X(Exp, "exp", 1) X(Exp2, "exp2", 1)                                                                             \
  X(Log, "log", 1) X(Log2, "log2", 1) X(Log10, "log10", 1) X(Log1p, "log1p", 1) X(Expm1, "expm1", 1)              \
  X(Sqrt, "sqrt", 1) X(Rsqrt, "rsqrt", 1) X(Cbrt, "cbrt", 1) X(Pow, "pow", 2)                                     \
  X(Sin, "sin", 1) X(Cos, "cos", 1) X(Tan, "tan", 1)                                                              \
  X(Asin, "asin", 1) X(Acos, "acos", 1) X(Atan, "atan", 1) X(Atan2, "atan2", 2)                                   \
  X(Sinh, "sinh", 1) X(Cosh, "cosh", 1) X(Tanh, "tanh", 1)                                                        \
  X(Asinh, "asinh", 1) X(Acosh, "acosh", 1) X(Atanh, "atanh", 1)                                                  \
  X(Erf, "erf", 1) X(Sigmoid, "sigmoid", 1)                                                                       \
  X(Floor, "floor", 1) X(Ceil, "ceil", 1)                                                                         \
  X(Round, "round", 1) X(Trunc, "trunc", 1)  /* Round takes halves to even */                                     \
  X(Abs, "abs", 1)                                                                                                \
  X(Fmod, "fmod", 2)  /* sign of the dividend, as in C; integers too */                                           \
  X(Fma, "fma", 3)  /* a * b + c, rounded once */                                                                 \
  X(Ldexp, "ldexp", 2)  /* a 2^floor(b), both floats, b in -252..254 */                                           \
  X(ReciprocalEstimate, "reciprocal_estimate", 1)  /* 1 / a, relative error below 2^-13 */                        \
  X(IsNan, "isnan", 1) X(IsInf, "isinf", 1)  /* to bool */                                                        \
  X(BitAnd, "bit_and", 2) X(BitOr, "bit_or", 2) X(BitXor, "bit_xor", 2) X(BitNot, "bit_not", 1)                   \
  X(ShiftLeft, "shift_left", 2) X(ShiftRight, "shift_right", 2)  /* arithmetic for signed types */                \
  X(PopCount, "popcount", 1)                                                                                      \
  X(Bitcast, "bitcast", 1)  /* same bits, another type of the same width */                                       \
  X(ReduceAdd, "reduce_add", 1) X(ReduceMul, "reduce_mul", 1)                                                     \
  X(ReduceMin, "reduce_min", 1) X(ReduceMax, "reduce_max", 1)  /* a vector's lanes to one scalar, in any order */ \
  X(Dot4, "dot4", 3)  /* i32xN accumulator + sums of 4 neighbouring products of (u8|i8)x4N by i8x4N */            \
  X(Dot2, "dot2", 3)  /* f32xN accumulator + sums of 2 neighbouring products of bf16x2N by bf16x2N */             \
  X(Prefetch, "prefetch", 1)  /* argument is a Load whose address is meant; void; no effect on values */ \
  X(PrefetchL2, "prefetch_l2", 1)  /* the same, but not into the innermost cache */

/// Names an intrinsic function; the meaning is that of the C function of the same name.
enum class Intrinsic : std::uint8_t {
#define HONE_ENUMERATE(name, text, arity) name,
  HONE_INTRINSICS(HONE_ENUMERATE)
#undef HONE_ENUMERATE
};

/// The name in the text form, such as "exp".
std::string_view to_string(Intrinsic function);
std::string_view to_string(Scope scope);
/// The number of arguments the intrinsic takes.
int arity(Intrinsic function);
std::optional<Intrinsic> find_intrinsic(std::string_view name);
std::optional<Scope> find_scope(std::string_view name);

/// An integer or bool constant. Unsigned 64-bit values are held as their bits.
struct IntImm {
  std::int64_t value;
};
/// A floating constant, already rounded to its type.
struct FloatImm {
  double value;
};
/// A loop index, a block's iteration variable, a let-bound value or a symbolic size. Two variables are equal only if
/// they are one node.
struct Var {
  std::string name;
};
/// Pads one axis' stride of an allocated buffer so that stride % factor == offset (in elements).
struct StorageAlign {
  int axis;
  std::int64_t factor, offset;
  bool operator==(const StorageAlign&) const = default;
};
/// A tensor in memory, row-major; the expression's type is the element type. Two buffers are equal only if they are one
/// node. A shape of no axes is a scalar. Distinct buffers never overlap.
struct Buffer {
  std::string name;
  std::vector<Expr> shape;
  Scope scope = Scope::Global;
  std::vector<StorageAlign> alignments = {};
};
/// Arithmetic on two operands of one type. Index arithmetic never overflows; tensor integers wrap.
struct Add {
  Expr a, b;
};
struct Sub {
  Expr a, b;
};
struct Mul {
  Expr a, b;
};
/// True division for floats; for integers the quotient is cut towards zero. Dividing integers by zero is an error.
struct Div {
  Expr a, b;
};
/// Integer division rounding down, and its remainder with the sign of the divisor. Floats: floor(a / b) and its rest.
struct FloorDiv {
  Expr a, b;
};
struct FloorMod {
  Expr a, b;
};
/// The smaller or larger operand; for floats a NaN operand gives NaN.
struct Min {
  Expr a, b;
};
struct Max {
  Expr a, b;
};
/// Comparisons give bool (of as many lanes).
struct Eq {
  Expr a, b;
};
struct Ne {
  Expr a, b;
};
struct Lt {
  Expr a, b;
};
struct Le {
  Expr a, b;
};
/// Logic on bools. `b` is evaluated only if `a` does not decide.
struct And {
  Expr a, b;
};
struct Or {
  Expr a, b;
};
struct Not {
  Expr a;
};
/// `condition ? a : b`; the side not chosen is not evaluated, so it may load out of bounds. With a vector condition
/// each lane chooses for itself.
struct Select {
  Expr condition, a, b;
};
/// The value converted to the node's type: floats to integers cut towards zero (out of range: the nearest value; NaN:
/// 0), integers to narrower ones wrap, anything to bool compares with zero, floats round to nearest even.
struct Cast {
  Expr value;
};
/// One element of a buffer per index; as many lanes as the index with the most (scalars count for all lanes). A lane
/// whose `mask` is false loads 0 and touches no memory; a null mask means all lanes.
struct Load {
  Expr buffer;
  std::vector<Expr> indices;
  Expr mask = {};
};
/// The result of an intrinsic function.
struct Call {
  Intrinsic function;
  std::vector<Expr> args;
};
/// The vector base, base + stride, base + 2·stride, …
struct Ramp {
  Expr base, stride;
};
/// The same scalar in every lane.
struct Broadcast {
  Expr value;
};

/// Puts a node into a box. The type follows from the operands.
Expr make(Add node);
Expr make(Sub node);
Expr make(Mul node);
Expr make(Div node);
Expr make(FloorDiv node);
Expr make(FloorMod node);
Expr make(Min node);
Expr make(Max node);
Expr make(Eq node);
Expr make(Ne node);
Expr make(Lt node);
Expr make(Le node);
Expr make(And node);
Expr make(Or node);
Expr make(Not node);
Expr make(Select node);
Expr make(Load node);
/// Puts a node into a box whose type cannot follow from its operands.
Expr make(IntImm node, DType type);
Expr make(FloatImm node, DType type);
Expr make(Var node, DType type = kIndex);
Expr make(Buffer node, DType element);
Expr make(Cast node, DType type);
Expr make(Call node, DType type);
Expr make(Ramp node, int lanes);
Expr make(Broadcast node, int lanes);

/// An index constant.
Expr imm(std::int64_t value);
/// A constant of any type (vector types: broadcast); floats are rounded to the type, integers wrapped to it.
Expr constant(DType type, std::int64_t value);
Expr constant(DType type, double value);
Expr boolean(bool value);
Expr var(std::string name, DType type = kIndex);
Expr buffer(std::string name, DType element, std::vector<Expr> shape, Scope scope = Scope::Global);
Expr buffer(std::string name, DType element, const std::vector<std::int64_t>& shape, Scope scope = Scope::Global);

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr logical_and(const Expr& a, const Expr& b);
Expr logical_or(const Expr& a, const Expr& b);
Expr logical_not(const Expr& a);
Expr floor_div(const Expr& a, const Expr& b);
Expr floor_mod(const Expr& a, const Expr& b);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr eq(const Expr& a, const Expr& b);
Expr ne(const Expr& a, const Expr& b);
Expr select(const Expr& condition, const Expr& a, const Expr& b);
/// Converts, or gives back the value itself if it already has the type.
Expr cast(DType type, const Expr& value);
Expr load(const Expr& buffer, std::vector<Expr> indices);
/// A call with the result type that the intrinsic's comment states.
Expr call(Intrinsic function, std::vector<Expr> args);

Expr operator+(const Expr& a, std::int64_t b);
Expr operator-(const Expr& a, std::int64_t b);
Expr operator*(const Expr& a, std::int64_t b);
Expr operator<(const Expr& a, std::int64_t b);
Expr operator<=(const Expr& a, std::int64_t b);
Expr operator>=(const Expr& a, std::int64_t b);
Expr floor_div(const Expr& a, std::int64_t b);
Expr floor_mod(const Expr& a, std::int64_t b);
Expr eq(const Expr& a, std::int64_t b);

/// The value if the expression is an integer or bool constant.
std::optional<std::int64_t> as_int(const Expr& e);
/// The value of an integer constant that must be one.
std::int64_t constant_value(const Expr& e);
bool is_int(const Expr& e, std::int64_t value);
/// The variable's or buffer's name; the expression must be one.
const std::string& name_of(const Expr& e);
/// Rounds to the nearest value of a floating type (ties to even; overflow gives infinity).
double round_to(DType type, double value);
/// Wraps an integer to a type's width.
std::int64_t wrap_to(DType type, std::int64_t value);

}  // namespace hone::ir
