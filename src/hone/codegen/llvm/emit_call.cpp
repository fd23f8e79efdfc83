#include <bit>
#include <llvm/IR/IntrinsicsX86.h>

#include "hone/codegen/llvm/emitter.h"
#include "hone/codegen/vector_math.h"

namespace hone::codegen {

using namespace ir;

llvm::Value* FunctionEmitter::call(const Call& node, DType t) {
  switch (node.function) {
    case Intrinsic::ReduceAdd:
    case Intrinsic::ReduceMul:
    case Intrinsic::ReduceMin:
    case Intrinsic::ReduceMax:
      return reduce(node.function, node.args[0].type(), value(node.args[0]));
    case Intrinsic::Dot4:
      return dot4(node);
    case Intrinsic::Dot2:
      return dot2(node);
    case Intrinsic::Bitcast:
      return b_.CreateBitCast(value(node.args[0]), type(t));
    default:
      break;
  }
  std::vector<llvm::Value*> args;
  for (const Expr& arg : node.args) args.push_back(value(arg));
  const DType operand = node.args[0].type();
  if (!operand.is_float() || operand.bits() != 16) {
    if (llvm::Value* result = simple_call(node.function, operand, args)) return result;
    return expanded_call(node, operand, args);
  }
  if (node.function == Intrinsic::Fma) return half_fma(operand, args);
  // Other functions of 16-bit floats compute in f32.
  const DType wide = kF32.with_lanes(operand.lanes);
  std::vector<Expr> wide_args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    wide_args.push_back(var("x", wide));
    args[i] = half_to_f32(args[i], operand);
  }
  llvm::Value* result = simple_call(node.function, wide, args);
  if (!result) result = expanded_call(Call{node.function, wide_args}, wide, args);
  return t.is_bool() ? result : f32_to_half(result, operand);
}

llvm::Value* FunctionEmitter::half_fma(DType t, const std::vector<llvm::Value*>& args) {
  // The product is exact in f64, and the sum is rounded so that rounding it again does no harm.
  std::vector<llvm::Value*> wide;
  for (llvm::Value* arg : args) wide.push_back(convert(arg, t, kF64.with_lanes(t.lanes)));
  llvm::Value* sum = b_.CreateFAdd(b_.CreateFMul(wide[0], wide[1]), wide[2]);
  return f32_to_half(f64_to_f32_odd(sum), t);
}

llvm::Value* FunctionEmitter::simple_call(Intrinsic function, DType t, const std::vector<llvm::Value*>& args) {
  llvm::Value* x = args[0];
  llvm::Type* ty = x->getType();
  const auto unary = [&](llvm::Intrinsic::ID id) { return b_.CreateUnaryIntrinsic(id, x); };
  switch (function) {
    case Intrinsic::Sqrt:
      return unary(llvm::Intrinsic::sqrt);
    case Intrinsic::Rsqrt:
      return b_.CreateFDiv(llvm::ConstantFP::get(ty, 1.0), unary(llvm::Intrinsic::sqrt));
    case Intrinsic::Floor:
      return t.is_float() ? unary(llvm::Intrinsic::floor) : x;
    case Intrinsic::Ceil:
      return t.is_float() ? unary(llvm::Intrinsic::ceil) : x;
    case Intrinsic::Round:
      return t.is_float() ? unary(llvm::Intrinsic::roundeven) : x;
    case Intrinsic::Trunc:
      return t.is_float() ? unary(llvm::Intrinsic::trunc) : x;
    case Intrinsic::Abs:
      if (t.is_float()) return unary(llvm::Intrinsic::fabs);
      return t.is_signed() ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse()) : x;
    case Intrinsic::Fmod:
      return t.is_float() ? nullptr : safe_divide(/*remainder=*/true, t, x, args[1]);
    case Intrinsic::Pow:
      return t.is_float() ? nullptr : integer_power(t, x, args[1]);
    case Intrinsic::Fma:
      if (!t.is_float()) return int_arithmetic(Kind::Add, t, int_arithmetic(Kind::Mul, t, x, args[1]), args[2]);
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {ty}, {x, args[1], args[2]});
    case Intrinsic::Ldexp:
    case Intrinsic::ReciprocalEstimate:
      return math_units(t).ldexp ? avx512_call(function, args) : nullptr;
    case Intrinsic::IsNan:
      if (!t.is_float()) return llvm::Constant::getNullValue(type(kBool.with_lanes(t.lanes)));
      return b_.CreateFCmpUNO(x, x);
    case Intrinsic::IsInf:
      if (!t.is_float()) return llvm::Constant::getNullValue(type(kBool.with_lanes(t.lanes)));
      return b_.CreateFCmpOEQ(unary(llvm::Intrinsic::fabs), llvm::ConstantFP::getInfinity(ty));
    case Intrinsic::BitAnd:
      return b_.CreateAnd(x, args[1]);
    case Intrinsic::BitOr:
      return b_.CreateOr(x, args[1]);
    case Intrinsic::BitXor:
      return b_.CreateXor(x, args[1]);
    case Intrinsic::BitNot:
      return b_.CreateNot(x);
    case Intrinsic::ShiftLeft:
      return b_.CreateShl(x, args[1]);
    case Intrinsic::ShiftRight:
      return t.is_signed() ? b_.CreateAShr(x, args[1]) : b_.CreateLShr(x, args[1]);
    case Intrinsic::PopCount:
      return unary(llvm::Intrinsic::ctpop);
    default:
      return nullptr;
  }
}

MathUnits FunctionEmitter::math_units(DType t) const {
  const bool has = m_.has_avx512 && t.scalar == Scalar::F32 && (t.lanes == 4 || t.lanes == 8 || t.lanes == 16);
  return {.ldexp = has, .reciprocal_estimate = has, .fast_division = m_.target.multiply_adds == 1};
}

llvm::Value* FunctionEmitter::avx512_call(Intrinsic function, const std::vector<llvm::Value*>& args) {
  llvm::Type* ty = args[0]->getType();
  const auto lanes = llvm::cast<llvm::FixedVectorType>(ty)->getNumElements();
  const auto of_width = [&](llvm::Intrinsic::ID of_4, llvm::Intrinsic::ID of_8, llvm::Intrinsic::ID of_16) {
    return lanes == 16 ? of_16 : lanes == 8 ? of_8 : of_4;
  };
  llvm::Value* other = llvm::PoisonValue::get(ty);  // what lanes that the mask leaves out would get: there are none
  llvm::Value* mask = lanes == 16 ? b_.getInt16(0xffff) : b_.getInt8(0xff);
  if (function == Intrinsic::ReciprocalEstimate)
    return b_.CreateIntrinsic(
        of_width(llvm::Intrinsic::x86_avx512_rcp14_ps_128, llvm::Intrinsic::x86_avx512_rcp14_ps_256,
                 llvm::Intrinsic::x86_avx512_rcp14_ps_512),
        {}, {args[0], other, mask});
  std::vector<llvm::Value*> operands = {args[0], args[1], other, mask};
  if (lanes == 16) operands.push_back(b_.getInt32(4));  // the current rounding mode
  return b_.CreateIntrinsic(
      of_width(llvm::Intrinsic::x86_avx512_mask_scalef_ps_128, llvm::Intrinsic::x86_avx512_mask_scalef_ps_256,
               llvm::Intrinsic::x86_avx512_mask_scalef_ps_512),
      {}, operands);
}

llvm::Value* FunctionEmitter::integer_power(DType t, llvm::Value* base, llvm::Value* exponent) {
  llvm::Value* product = llvm::ConstantInt::get(base->getType(), 1);
  llvm::Type* bit = type(kBool.with_lanes(t.lanes));
  for (int i = 0; i < t.bits(); ++i) {
    llvm::Value* is_set = b_.CreateTrunc(b_.CreateLShr(exponent, static_cast<std::uint64_t>(i)), bit);
    product = b_.CreateSelect(is_set, b_.CreateMul(product, base), product);
    base = b_.CreateMul(base, base);
  }
  return product;
}

llvm::Value* FunctionEmitter::expanded_call(const Call& node, DType t, const std::vector<llvm::Value*>& args) {
  const std::vector<Expr> names = names_for(t, args.size());
  const Expr expansion = expand_math(node.function, names, math_units(t));
  return expansion ? expanded(expansion, names, args) : libm_call(node.function, t, args);
}

std::vector<Expr> FunctionEmitter::names_for(DType t, std::size_t count) {
  std::vector<Expr> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(var("x", t));
  return names;
}

llvm::Value* FunctionEmitter::expanded(const Expr& expansion, const std::vector<Expr>& names,
                                       const std::vector<llvm::Value*>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) define(names[i], args[i]);
  // Expansions share nodes heavily; their values live in a table of their own while they are written.
  Values outer;
  std::swap(outer, data_values_);
  const bool was_index = std::exchange(in_index_, false);
  llvm::Value* result = value(expansion);
  in_index_ = was_index;
  std::swap(outer, data_values_);
  for (const Expr& name : names) vars_.erase(name.id());
  return result;
}

llvm::Value* FunctionEmitter::weighted_sigmoid(const Mul& product, DType t) {
  const auto is_sigmoid = [](const Expr& e) {
    const Call* call = e.as<Call>();
    return call && call->function == Intrinsic::Sigmoid;
  };
  const bool is_left = is_sigmoid(product.a);
  if (!is_left && !is_sigmoid(product.b)) return nullptr;
  const Expr& sigmoid = is_left ? product.a : product.b;
  const std::vector<Expr> names = names_for(t, 2);
  const Expr expansion = expand_weighted_sigmoid(names[0], names[1], math_units(t));
  if (!expansion) return nullptr;
  return expanded(expansion, names, {value(is_left ? product.b : product.a), value(sigmoid.get<Call>().args[0])});
}

llvm::Value* FunctionEmitter::libm_call(Intrinsic function, DType t, const std::vector<llvm::Value*>& args) {
  const std::string name = std::string(to_string(function)) + (t.scalar == Scalar::F32 ? "f" : "");
  const llvm::FunctionCallee callee = m_.libm(name, type(t.element()), static_cast<unsigned>(args.size()));
  if (!t.is_vector()) return b_.CreateCall(callee, args);
  llvm::Value* result = llvm::PoisonValue::get(type(t));
  for (std::uint64_t lane = 0; lane < t.lanes; ++lane) {
    std::vector<llvm::Value*> scalars;
    for (llvm::Value* arg : args) scalars.push_back(b_.CreateExtractElement(arg, lane));
    result = b_.CreateInsertElement(result, b_.CreateCall(callee, scalars), lane);
  }
  return result;
}

llvm::Value* FunctionEmitter::reduce(Intrinsic function, DType t, llvm::Value* vector) {
  const Kind kind = function == Intrinsic::ReduceAdd   ? Kind::Add
                    : function == Intrinsic::ReduceMul ? Kind::Mul
                    : function == Intrinsic::ReduceMin ? Kind::Min
                                                       : Kind::Max;
  if (!t.is_vector()) return vector;
  const bool is_half = t.is_float() && t.bits() == 16;
  llvm::Value* v = is_half ? half_to_f32(vector, t) : vector;
  const auto combine = [&](llvm::Value* a, llvm::Value* b, DType ty) {
    return t.is_float() ? float_arithmetic(kind, a, b) : int_arithmetic(kind, ty, a, b);
  };
  const bool before = std::exchange(in_index_, false);
  // Halve while that is possible, then go lane by lane.
  int lanes = t.lanes;
  for (; lanes % 2 == 0; lanes /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < lanes / 2; ++i) {
      low.push_back(i);
      high.push_back(i + lanes / 2);
    }
    v = combine(b_.CreateShuffleVector(v, low), b_.CreateShuffleVector(v, high), t.with_lanes(lanes / 2));
  }
  llvm::Value* result = b_.CreateExtractElement(v, std::uint64_t{0});
  for (int lane = 1; lane < lanes; ++lane)
    result = combine(result, b_.CreateExtractElement(v, static_cast<std::uint64_t>(lane)), t.element());
  in_index_ = before;
  return is_half ? f32_to_half(result, t.element()) : result;
}

llvm::Value* FunctionEmitter::every_nth(llvm::Value* vector, int step, int first) {
  const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  std::vector<int> chosen;
  for (int lane = first; lane < lanes; lane += step) chosen.push_back(lane);
  return b_.CreateShuffleVector(vector, chosen);
}

llvm::Value* FunctionEmitter::vnni_dot4(llvm::Value* sum, llvm::Value* a, llvm::Value* b) {
  const auto lanes = llvm::cast<llvm::FixedVectorType>(sum->getType())->getNumElements();
  const llvm::Intrinsic::ID id = lanes == 16  ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                                 : lanes == 8 ? llvm::Intrinsic::x86_avx512_vpdpbusd_256
                                              : llvm::Intrinsic::x86_avx512_vpdpbusd_128;
  return b_.CreateIntrinsic(id, {}, {sum, b_.CreateBitCast(a, sum->getType()), b_.CreateBitCast(b, sum->getType())});
}

llvm::Value* FunctionEmitter::dot4(const Call& node) {
  llvm::Value* sum = value(node.args[0]);
  llvm::Value* a = value(node.args[1]);
  llvm::Value* b = value(node.args[2]);
  const int lanes = node.args[0].type().lanes;
  const bool is_signed = node.args[1].type().is_signed();
  if (m_.has_vnni && (lanes == 4 || lanes == 8 || lanes == 16)) {
    if (!is_signed) return vnni_dot4(sum, a, b);
    // The instruction wants unsigned by signed: add 128 to each left factor, and take 128 * b away again.
    llvm::Value* shifted = b_.CreateXor(a, integer(a->getType(), 0x80));
    llvm::Value* excess = vnni_dot4(llvm::Constant::getNullValue(sum->getType()), integer(a->getType(), 0x80), b);
    return b_.CreateSub(vnni_dot4(sum, shifted, b), excess);
  }
  llvm::Type* wide = type(kI32.with_lanes(lanes * 4));
  llvm::Value* products =
      b_.CreateMul(is_signed ? b_.CreateSExt(a, wide) : b_.CreateZExt(a, wide), b_.CreateSExt(b, wide));
  for (int i = 0; i < 4; ++i) {
    llvm::Value* part =
        lanes == 1 ? b_.CreateExtractElement(products, static_cast<std::uint64_t>(i)) : every_nth(products, 4, i);
    sum = b_.CreateAdd(sum, part);
  }
  return sum;
}

llvm::Value* FunctionEmitter::dot2(const Call& node) {
  llvm::Value* sum = value(node.args[0]);
  llvm::Value* a = value(node.args[1]);
  llvm::Value* b = value(node.args[2]);
  const int lanes = node.args[0].type().lanes;
  if (m_.has_dot_bf16 && (lanes == 4 || lanes == 8 || lanes == 16)) {
    const llvm::Intrinsic::ID id = lanes == 16  ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512
                                   : lanes == 8 ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256
                                                : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128;
    llvm::Type* pairs = llvm::FixedVectorType::get(b_.getBFloatTy(), static_cast<unsigned>(lanes) * 2);
    return b_.CreateIntrinsic(id, {}, {sum, b_.CreateBitCast(a, pairs), b_.CreateBitCast(b, pairs)});
  }
  // A pair of bf16 is one 32-bit word: the high half is an f32 once the low half is cut off, the low one once shifted.
  llvm::Type* words = type(kI32.with_lanes(lanes));
  llvm::Type* floats = type(kF32.with_lanes(lanes));
  const auto half = [&](llvm::Value* v, bool high) {
    llvm::Value* word = b_.CreateBitCast(v, words);
    llvm::Value* bits = high ? b_.CreateAnd(word, integer(words, 0xffff0000)) : b_.CreateShl(word, integer(words, 16));
    return b_.CreateBitCast(bits, floats);
  };
  for (const bool high : {false, true}) sum = b_.CreateFAdd(b_.CreateFMul(half(a, high), half(b, high)), sum);
  return sum;
}

}  // namespace hone::codegen
