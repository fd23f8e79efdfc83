#include <bit>
#include <llvm/ADT/APFloat.h>
#include <numeric>

#include "hone/codegen/llvm/emitter.h"

namespace hone::codegen {

using namespace ir;

llvm::Type* FunctionEmitter::type(DType t) {
  llvm::Type* element = nullptr;
  if (t.is_bool()) {
    element = b_.getInt1Ty();
  } else if (t.scalar == Scalar::F32) {
    element = b_.getFloatTy();
  } else if (t.scalar == Scalar::F64) {
    element = b_.getDoubleTy();
  } else {
    // f16 and bf16 are held as their bits: arithmetic on them is f32's, and LLVM's own support depends on the CPU.
    element = b_.getIntNTy(static_cast<unsigned>(t.bits()));
  }
  return t.is_vector() ? llvm::FixedVectorType::get(element, t.lanes) : element;
}

llvm::Value* FunctionEmitter::splat(llvm::Value* scalar, int lanes) {
  return lanes == 1 ? scalar : b_.CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
}

llvm::Constant* FunctionEmitter::integer(llvm::Type* t, std::int64_t number) {
  return llvm::ConstantInt::get(t, static_cast<std::uint64_t>(number), /*IsSigned=*/true);
}

llvm::Value* FunctionEmitter::value(const Expr& e) {
  Values& known = in_index_ ? index_values_ : data_values_;
  if (const auto found = known.find(e.id()); found != known.end()) return found->second.value;
  llvm::Value* result = compute(e);
  known[e.id()] = {e, result};
  return result;
}

llvm::Value* FunctionEmitter::index(const Expr& e) {
  const bool before = std::exchange(in_index_, true);
  llvm::Value* result = value(e);
  in_index_ = before;
  const unsigned lanes = e.type().lanes;
  llvm::Type* wide = type(kIndex.with_lanes(static_cast<int>(lanes)));
  return e.type().is_unsigned() ? b_.CreateZExtOrTrunc(result, wide) : b_.CreateSExtOrTrunc(result, wide);
}

llvm::Value* FunctionEmitter::compute(const Expr& e) {
  const DType t = e.type();
  switch (e.kind()) {
    case Kind::IntImm:
      return constant(t, 0, e.get<IntImm>().value);
    case Kind::FloatImm:
      return constant(t, e.get<FloatImm>().value, 0);
    case Kind::Var:
      return vars_.at(e.id());
#define HONE_ARITHMETIC(name) \
  case Kind::name:            \
    return arithmetic(Kind::name, t, e.get<name>().a, e.get<name>().b);
      HONE_ARITHMETIC(Add)
      HONE_ARITHMETIC(Sub)
      HONE_ARITHMETIC(Div)
      HONE_ARITHMETIC(FloorDiv)
      HONE_ARITHMETIC(FloorMod)
      HONE_ARITHMETIC(Min)
      HONE_ARITHMETIC(Max)
#undef HONE_ARITHMETIC
    case Kind::Mul:
      if (llvm::Value* product = weighted_sigmoid(e.get<Mul>(), t)) return product;
      return arithmetic(Kind::Mul, t, e.get<Mul>().a, e.get<Mul>().b);
#define HONE_COMPARISON(name) \
  case Kind::name:            \
    return comparison(Kind::name, e.get<name>().a, e.get<name>().b);
      HONE_COMPARISON(Eq)
      HONE_COMPARISON(Ne)
      HONE_COMPARISON(Lt)
      HONE_COMPARISON(Le)
#undef HONE_COMPARISON
    case Kind::And:
      return b_.CreateAnd(value(e.get<And>().a), value(e.get<And>().b));
    case Kind::Or:
      return b_.CreateOr(value(e.get<Or>().a), value(e.get<Or>().b));
    case Kind::Not:
      return b_.CreateNot(value(e.get<Not>().a));
    case Kind::Select: {
      const Select& node = e.get<Select>();
      const Call* any = node.condition.as<Call>();
      if (any && any->function == Intrinsic::ReduceMax) return branch(node);
      return select(value(node.condition), value(node.a), value(node.b));
    }
    case Kind::Cast:
      return convert(value(e.get<Cast>().value), e.get<Cast>().value.type(), t);
    case Kind::Load:
      return load(e.get<Load>(), t);
    case Kind::Call:
      return call(e.get<Call>(), t);
    case Kind::Ramp:
      return ramp(e.get<Ramp>(), t.lanes);
    case Kind::Broadcast:
      return splat(value(e.get<Broadcast>().value), t.lanes);
    default:
      HONE_CHECK(false, "{} is not a value", to_string(e.kind()));
      return nullptr;
  }
}

llvm::Value* FunctionEmitter::constant(DType t, double number, std::int64_t whole) {
  if (!t.is_float()) return integer(type(t), whole);
  if (t.scalar == Scalar::F32 || t.scalar == Scalar::F64) return llvm::ConstantFP::get(type(t), number);
  llvm::APFloat rounded(number);
  bool loses = false;
  rounded.convert(t.scalar == Scalar::F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat(),
                  llvm::APFloat::rmNearestTiesToEven, &loses);
  return llvm::ConstantInt::get(type(t), rounded.bitcastToAPInt().getZExtValue());
}

llvm::Value* FunctionEmitter::select(llvm::Value* condition, llvm::Value* a, llvm::Value* b) {
  return b_.CreateSelect(condition, a, b);
}

llvm::Value* FunctionEmitter::branch(const Select& node) {
  llvm::Value* condition = value(node.condition);
  llvm::BasicBlock* then = block("any");
  llvm::BasicBlock* otherwise = block("none");
  llvm::BasicBlock* done = block("done");
  b_.CreateCondBr(condition, then, otherwise);
  // What one side computes is not known on the other side, nor afterwards.
  const Values data_before = data_values_, index_before = index_values_;
  const auto side = [&](llvm::BasicBlock* start, const Expr& e) {
    enter(start);
    llvm::Value* result = value(e);
    data_values_ = data_before;
    index_values_ = index_before;
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(done);
    return std::pair(result, end);
  };
  const auto [a, a_end] = side(then, node.a);
  const auto [b, b_end] = side(otherwise, node.b);
  enter(done);
  llvm::PHINode* result = b_.CreatePHI(a->getType(), 2);
  result->addIncoming(a, a_end);
  result->addIncoming(b, b_end);
  return result;
}

llvm::Value* FunctionEmitter::ramp(const Ramp& node, int lanes) {
  llvm::Value* base = value(node.base);
  llvm::Value* stride = value(node.stride);
  std::vector<llvm::Constant*> steps;
  for (int lane = 0; lane < lanes; ++lane) steps.push_back(integer(base->getType(), lane));
  llvm::Value* offsets = b_.CreateMul(llvm::ConstantVector::get(steps), splat(stride, lanes));
  return b_.CreateAdd(splat(base, lanes), offsets, "", false, in_index_);
}

llvm::Value* FunctionEmitter::arithmetic(Kind kind, DType t, const Expr& a, const Expr& b) {
  llvm::Value* left = value(a);
  llvm::Value* right = value(b);
  if (!t.is_float()) return int_arithmetic(kind, t, left, right);
  if (t.bits() != 16) return float_arithmetic(kind, left, right);
  return f32_to_half(float_arithmetic(kind, half_to_f32(left, t), half_to_f32(right, t)), t);
}

llvm::Value* FunctionEmitter::float_arithmetic(Kind kind, llvm::Value* a, llvm::Value* b) {
  const auto floor = [&](llvm::Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x); };
  switch (kind) {
    case Kind::Add:
      return b_.CreateFAdd(a, b);
    case Kind::Sub:
      return b_.CreateFSub(a, b);
    case Kind::Mul:
      return b_.CreateFMul(a, b);
    case Kind::Div:
      return b_.CreateFDiv(a, b);
    case Kind::FloorDiv:
      return floor(b_.CreateFDiv(a, b));
    case Kind::FloorMod: {
      llvm::Value* rest = b_.CreateFRem(a, b);
      llvm::Constant* zero = llvm::Constant::getNullValue(rest->getType());
      llvm::Value* differs = b_.CreateXor(b_.CreateFCmpOLT(rest, zero), b_.CreateFCmpOLT(b, zero));
      llvm::Value* is_off = b_.CreateAnd(b_.CreateFCmpUNE(rest, zero), differs);
      return select(is_off, b_.CreateFAdd(rest, b), rest);
    }
    case Kind::Min:
    case Kind::Max:
      return float_min_max(kind, a, b);
    default:
      HONE_CHECK(false, "{} is not arithmetic", to_string(kind));
      return nullptr;
  }
}

llvm::Value* FunctionEmitter::float_min_max(Kind kind, llvm::Value* a, llvm::Value* b) {
  // NaN operands give NaN. The sign of zero is free, which spares x86 three instructions; it then needs one instruction
  // if one operand is a constant, else three.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  llvm::FastMathFlags flags = b_.getFastMathFlags();
  flags.setNoSignedZeros();
  b_.setFastMathFlags(flags);
  return b_.CreateBinaryIntrinsic(kind == Kind::Min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, a, b);
}

llvm::Value* FunctionEmitter::int_arithmetic(Kind kind, DType t, llvm::Value* a, llvm::Value* b) {
  switch (kind) {
    case Kind::Add:
      return t.is_bool() ? b_.CreateOr(a, b) : b_.CreateAdd(a, b, "", false, in_index_);
    case Kind::Sub:
      return b_.CreateSub(a, b, "", false, in_index_);
    case Kind::Mul:
      return t.is_bool() ? b_.CreateAnd(a, b) : b_.CreateMul(a, b, "", false, in_index_);
    case Kind::Div:
      return safe_divide(/*remainder=*/false, t, a, b);
    case Kind::FloorDiv:
    case Kind::FloorMod:
      return floor_divide(kind, t, a, b);
    case Kind::Min:
      return b_.CreateBinaryIntrinsic(t.is_signed() ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case Kind::Max:
      return b_.CreateBinaryIntrinsic(t.is_signed() ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    default:
      HONE_CHECK(false, "{} is not arithmetic", to_string(kind));
      return nullptr;
  }
}

namespace {

/// The divisor if it is the same constant in all lanes.
std::optional<std::int64_t> constant_divisor(llvm::Value* b) {
  const auto* vector = llvm::dyn_cast<llvm::Constant>(b);
  if (!vector) return std::nullopt;
  const llvm::Constant* scalar = b->getType()->isVectorTy() ? vector->getSplatValue() : vector;
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(scalar);
  return number ? std::optional(number->getSExtValue()) : std::nullopt;
}

}  // namespace

llvm::Value* FunctionEmitter::safe_divide(bool remainder, DType t, llvm::Value* a, llvm::Value* b) {
  using Op = llvm::Instruction::BinaryOps;
  const std::optional<std::int64_t> known = constant_divisor(b);
  llvm::Type* ty = a->getType();
  llvm::Constant* one = integer(ty, 1);
  if (!t.is_signed()) {
    llvm::Value* divisor = known && *known != 0 ? b : select(b_.CreateICmpEQ(b, integer(ty, 0)), one, b);
    return b_.CreateBinOp(remainder ? Op::URem : Op::UDiv, a, divisor);
  }
  const Op op = remainder ? Op::SRem : Op::SDiv;
  if (known && *known != 0 && *known != -1) return b_.CreateBinOp(op, a, b);
  llvm::Value* is_minus_one = b_.CreateICmpEQ(b, integer(ty, -1));
  llvm::Value* is_special = b_.CreateOr(is_minus_one, b_.CreateICmpEQ(b, integer(ty, 0)));
  llvm::Value* result = b_.CreateBinOp(op, a, select(is_special, one, b));
  llvm::Value* for_minus_one = remainder ? integer(ty, 0) : b_.CreateNeg(a);
  return select(is_minus_one, for_minus_one, result);
}

llvm::Value* FunctionEmitter::floor_divide(Kind kind, DType t, llvm::Value* a, llvm::Value* b) {
  const bool remainder = kind == Kind::FloorMod;
  if (!t.is_signed()) return safe_divide(remainder, t, a, b);
  llvm::Type* ty = a->getType();
  const std::optional<std::int64_t> known = constant_divisor(b);
  if (known && *known > 0) {
    if (std::has_single_bit(static_cast<std::uint64_t>(*known))) {
      if (remainder) return b_.CreateAnd(a, integer(ty, *known - 1));
      return b_.CreateAShr(a, integer(ty, std::countr_zero(static_cast<std::uint64_t>(*known))));
    }
    // floor(a / b) = ~(~a / b) for negative a: both signs become one unsigned division.
    llvm::Value* sign = b_.CreateAShr(a, integer(ty, t.bits() - 1));
    llvm::Value* quotient = b_.CreateXor(b_.CreateUDiv(b_.CreateXor(a, sign), b), sign);
    return remainder ? b_.CreateSub(a, b_.CreateMul(quotient, b)) : quotient;
  }
  llvm::Value* rest = safe_divide(/*remainder=*/true, t, a, b);
  llvm::Value* zero = integer(ty, 0);
  llvm::Value* is_off = b_.CreateAnd(b_.CreateICmpNE(rest, zero), b_.CreateICmpSLT(b_.CreateXor(rest, b), zero));
  if (remainder) return select(is_off, b_.CreateAdd(rest, b), rest);
  llvm::Value* quotient = safe_divide(/*remainder=*/false, t, a, b);
  return b_.CreateAdd(quotient, b_.CreateSExt(is_off, ty));
}

llvm::Value* FunctionEmitter::comparison(Kind kind, const Expr& a, const Expr& b) {
  using P = llvm::CmpInst::Predicate;
  const DType t = a.type();
  if ((kind == Kind::Lt || kind == Kind::Le) && t == kIndex.with_lanes(t.lanes) && t.is_vector())
    if (llvm::Value* mask = lanes_below(a, b, kind == Kind::Le)) return mask;
  llvm::Value* left = value(a);
  llvm::Value* right = value(b);
  if (t.is_float()) {
    if (t.bits() == 16) {
      left = half_to_f32(left, t);
      right = half_to_f32(right, t);
    }
    const P predicate = kind == Kind::Eq   ? P::FCMP_OEQ
                        : kind == Kind::Ne ? P::FCMP_UNE
                        : kind == Kind::Lt ? P::FCMP_OLT
                                           : P::FCMP_OLE;
    return b_.CreateFCmp(predicate, left, right);
  }
  const P predicate = kind == Kind::Eq   ? P::ICMP_EQ
                      : kind == Kind::Ne ? P::ICMP_NE
                      : kind == Kind::Lt ? (t.is_signed() ? P::ICMP_SLT : P::ICMP_ULT)
                                         : (t.is_signed() ? P::ICMP_SLE : P::ICMP_ULE);
  return b_.CreateICmp(predicate, left, right);
}

llvm::Value* FunctionEmitter::lanes_below(const Expr& rising, const Expr& limit, bool inclusive) {
  const Broadcast* bound = limit.as<Broadcast>();
  const std::optional<EvenIndex> even = as_even_index(rising);
  const int lanes = rising.type().lanes;
  if (!bound || !even || !is_int(even->stride, 1) || lanes > 64) return nullptr;
  // The first `limit - base` lanes: one comparison of small integers instead of several of 64 bits.
  llvm::Value* rest = b_.CreateSub(value(bound->value), value(even->base));
  if (inclusive) rest = b_.CreateAdd(rest, b_.getInt64(1));
  rest = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, rest, b_.getInt64(0));
  rest = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rest, b_.getInt64(static_cast<std::uint64_t>(lanes)));
  rest = b_.CreateTrunc(rest, b_.getInt32Ty());
  std::vector<llvm::Constant*> steps;
  for (int lane = 0; lane < lanes; ++lane) steps.push_back(integer(b_.getInt32Ty(), lane));
  return b_.CreateICmpULT(llvm::ConstantVector::get(steps), splat(rest, lanes));
}

}  // namespace hone::codegen
