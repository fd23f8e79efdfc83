#include "hone/codegen/llvm/emitter.h"

namespace hone::codegen {

using namespace ir;

llvm::Value* FunctionEmitter::convert(llvm::Value* v, DType from, DType to) {
  llvm::Type* into = type(to);
  if (from.scalar == to.scalar) return v;
  if (from.is_float() && from.bits() == 16) return convert(half_to_f32(v, from), kF32.with_lanes(from.lanes), to);
  if (to.is_float() && to.bits() == 16) {
    if (from.scalar == Scalar::F32) return f32_to_half(v, to);
    // Rounding twice is harmless after rounding to odd.
    llvm::Value* wide = convert(v, from, kF64.with_lanes(from.lanes));
    return f32_to_half(f64_to_f32_odd(wide), to);
  }
  if (to.is_bool()) {
    llvm::Constant* zero = llvm::Constant::getNullValue(v->getType());
    return from.is_float() ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero);
  }
  if (from.is_float()) return to.is_float() ? b_.CreateFPCast(v, into) : float_to_int(v, to);
  if (to.is_float()) return from.is_signed() ? b_.CreateSIToFP(v, into) : b_.CreateUIToFP(v, into);
  return from.is_signed() ? b_.CreateSExtOrTrunc(v, into) : b_.CreateZExtOrTrunc(v, into);
}

llvm::Value* FunctionEmitter::float_to_int(llvm::Value* v, DType to) {
  return b_.CreateIntrinsic(to.is_signed() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                            {type(to), v->getType()}, {v});
}

llvm::Value* FunctionEmitter::half_to_f32(llvm::Value* bits, DType from) {
  llvm::Type* f32 = type(kF32.with_lanes(from.lanes));
  llvm::Type* i32 = type(kI32.with_lanes(from.lanes));
  if (from.scalar == Scalar::BF16)
    return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(bits, i32), integer(i32, 16)), f32);
  if (m_.has_f16c) {
    llvm::Type* half = f32->getWithNewType(b_.getHalfTy());
    return b_.CreateFPExt(b_.CreateBitCast(bits, half), f32);
  }
  // Put exponent and fraction where f32 has them, then scale by 2^112 to fix the exponent's bias; the multiplication
  // normalises denormals too. Infinity and NaN have the largest exponent, set by hand.
  llvm::Value* wide = b_.CreateZExt(bits, i32);
  llvm::Value* magnitude = b_.CreateShl(b_.CreateAnd(wide, integer(i32, 0x7fff)), integer(i32, 13));
  llvm::Value* scaled = b_.CreateFMul(b_.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, 0x1p112));
  llvm::Value* is_special = b_.CreateICmpUGE(magnitude, integer(i32, 0x7c00 << 13));
  llvm::Value* special = b_.CreateOr(magnitude, integer(i32, 0x7f800000));
  llvm::Value* sign = b_.CreateShl(b_.CreateAnd(wide, integer(i32, 0x8000)), integer(i32, 16));
  return b_.CreateBitCast(b_.CreateOr(select(is_special, special, b_.CreateBitCast(scaled, i32)), sign), f32);
}

llvm::Value* FunctionEmitter::f32_to_half(llvm::Value* v, DType to) {
  llvm::Type* out = type(to);
  llvm::Type* i32 = type(kI32.with_lanes(to.lanes));
  llvm::Type* f32 = v->getType();
  if (to.scalar == Scalar::F16 && m_.has_f16c)
    return b_.CreateBitCast(b_.CreateFPTrunc(v, f32->getWithNewType(b_.getHalfTy())), out);

  llvm::Value* bits = b_.CreateBitCast(v, i32);
  llvm::Value* is_nan = b_.CreateFCmpUNO(v, v);
  if (to.scalar == Scalar::BF16) {
    // Add half of the last place kept, less one if the result is even, and cut.
    llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(bits, integer(i32, 16)), integer(i32, 1));
    llvm::Value* rounded = b_.CreateAdd(bits, b_.CreateAdd(odd, integer(i32, 0x7fff)));
    llvm::Value* quiet = b_.CreateOr(bits, integer(i32, 0x00400000));
    return b_.CreateTrunc(b_.CreateLShr(select(is_nan, quiet, rounded), integer(i32, 16)), out);
  }
  // Denormals: adding 0.5 makes the f32 addition round at 2^-24, f16's last place. Others: as for bf16, with the
  // exponent's bias changed from 127 to 15.
  llvm::Value* sign = b_.CreateAnd(bits, integer(i32, 0x80000000));
  llvm::Value* magnitude = b_.CreateXor(bits, sign);
  llvm::Constant* half = llvm::ConstantFP::get(f32, 0.5);
  llvm::Value* denormal = b_.CreateSub(b_.CreateBitCast(b_.CreateFAdd(b_.CreateBitCast(magnitude, f32), half), i32),
                                       integer(i32, 0x3f000000));
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, integer(i32, 13)), integer(i32, 1));
  llvm::Value* shifted =
      b_.CreateSub(b_.CreateAdd(magnitude, b_.CreateAdd(odd, integer(i32, 0xfff))), integer(i32, (127 - 15) << 23));
  llvm::Value* normal = b_.CreateLShr(shifted, integer(i32, 13));
  llvm::Value* is_denormal = b_.CreateICmpULT(magnitude, integer(i32, 113 << 23));
  llvm::Value* is_large = b_.CreateICmpUGE(magnitude, integer(i32, 0x47800000));  // 65536 and above
  llvm::Value* large = select(is_nan, integer(i32, 0x7e00), integer(i32, 0x7c00));
  llvm::Value* result = select(is_large, large, select(is_denormal, denormal, normal));
  return b_.CreateTrunc(b_.CreateOr(result, b_.CreateLShr(sign, integer(i32, 16))), out);
}

llvm::Value* FunctionEmitter::f64_to_f32_odd(llvm::Value* v) {
  llvm::Type* f64 = v->getType();
  llvm::Type* f32 = f64->getWithNewType(b_.getFloatTy());
  llvm::Type* i32 = f64->getWithNewType(b_.getInt32Ty());
  llvm::Value* nearest = b_.CreateFPTrunc(v, f32);
  llvm::Value* back = b_.CreateFPExt(nearest, f64);
  const auto magnitude = [&](llvm::Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); };
  llvm::Value* is_above = b_.CreateFCmpOGT(magnitude(back), magnitude(v));
  llvm::Value* bits = b_.CreateAdd(b_.CreateBitCast(nearest, i32), b_.CreateSExt(is_above, i32));
  llvm::Value* is_inexact = b_.CreateFCmpONE(back, v);
  return b_.CreateBitCast(b_.CreateOr(bits, b_.CreateZExt(is_inexact, i32)), f32);
}

}  // namespace hone::codegen
