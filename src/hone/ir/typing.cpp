#include "hone/ir/typing.h"

#include <algorithm>

namespace hone::ir {

namespace {

constexpr std::int64_t kMaxLanes = 65535;

bool is_number(DType type) { return type.is_integer() || type.is_float(); }

Error refuse(std::string_view what, std::string_view found, std::string_view allowed) {
  return error(ErrorCode::InvalidArgument, "{} of {}, allowed is {}", what, found, allowed);
}

std::string both(DType a, DType b) { return to_string(a) + " and " + to_string(b); }

Result<void> check_lanes(std::string_view what, std::int64_t lanes) {
  if (lanes >= 2 && lanes <= kMaxLanes) return {};
  return error(ErrorCode::InvalidArgument, "{} of {} lanes, allowed are 2..{}", what, lanes, kMaxLanes);
}

std::string types_of(const std::vector<Expr>& args) {
  std::string text;
  for (const Expr& arg : args) text += (text.empty() ? "" : " and ") + to_string(arg.type());
  return text;
}

bool all_of_type(const std::vector<Expr>& args, DType type) {
  return std::all_of(args.begin(), args.end(), [&](const Expr& arg) { return arg.type() == type; });
}

Result<DType> type_of_bitcast(DType from, DType to) {
  const bool allowed = is_number(from) && is_number(to) && from.bits() * from.lanes == to.bits() * to.lanes;
  if (!allowed) return refuse("bitcast", both(from, to), "a number type of the same width");
  return to;
}

/// `acc` has N lanes, the two others `group` times as many.
bool is_dot(const std::vector<Expr>& args, Scalar acc, int group) {
  const DType sum = args[0].type(), a = args[1].type(), b = args[2].type();
  return sum.scalar == acc && a.lanes == group * sum.lanes && b.lanes == group * sum.lanes;
}

}  // namespace

Result<DType> type_of_binary(Kind kind, DType a, DType b) {
  const std::string_view name = to_string(kind);
  if (kind == Kind::And || kind == Kind::Or) {
    if (a != b || !a.is_bool()) return refuse(name, both(a, b), "bool and bool");
    return a;
  }
  const bool is_comparison = kind >= Kind::Eq && kind <= Kind::Le;
  if (a != b) return refuse(name, both(a, b), "one type on both sides");
  if (!is_number(a) && !(is_comparison && a.is_bool())) return refuse(name, both(a, b), "a number type");
  return is_comparison ? kBool.with_lanes(a.lanes) : a;
}

Result<DType> type_of_not(DType a) {
  if (!a.is_bool()) return refuse("Not", to_string(a), "bool");
  return a;
}

Result<DType> type_of_select(DType condition, DType a, DType b) {
  if (a != b || a == kVoid) return refuse("Select", both(a, b), "one type on both sides");
  if (!condition.is_bool() || (condition.lanes != 1 && condition.lanes != a.lanes))
    return refuse("Select on a condition", to_string(condition),
                  a.is_vector() ? "bool or " + to_string(kBool.with_lanes(a.lanes)) : "bool");
  return a;
}

Result<DType> type_of_cast(DType to, DType from) {
  if (from.scalar == Scalar::Void || to.scalar == Scalar::Void || from.lanes != to.lanes)
    return refuse("Cast", to_string(from) + " to " + to_string(to), "a type of as many lanes");
  return to;
}

Result<DType> type_of_call(Intrinsic function, const std::vector<Expr>& args, DType stated) {
  const std::string_view name = to_string(function);
  if (static_cast<int>(args.size()) != arity(function))
    return error(ErrorCode::InvalidArgument, "{} of {} arguments, allowed are {}", name, args.size(), arity(function));
  const DType type = args[0].type();

  switch (function) {
    case Intrinsic::Abs:
    case Intrinsic::Fmod:
    case Intrinsic::Pow:
      if (!is_number(type) || !all_of_type(args, type)) return refuse(name, types_of(args), "one number type");
      return type;
    case Intrinsic::IsNan:
    case Intrinsic::IsInf:
      if (!type.is_float()) return refuse(name, types_of(args), "a float type");
      return kBool.with_lanes(type.lanes);
    case Intrinsic::BitAnd:
    case Intrinsic::BitOr:
    case Intrinsic::BitXor:
    case Intrinsic::BitNot:
    case Intrinsic::ShiftLeft:
    case Intrinsic::ShiftRight:
    case Intrinsic::PopCount:
      if (!type.is_integer() || !all_of_type(args, type)) return refuse(name, types_of(args), "one integer type");
      return type;
    case Intrinsic::Bitcast:
      return type_of_bitcast(type, stated);
    case Intrinsic::ReduceAdd:
    case Intrinsic::ReduceMul:
    case Intrinsic::ReduceMin:
    case Intrinsic::ReduceMax:
      if (!is_number(type) || !type.is_vector()) return refuse(name, types_of(args), "a vector of numbers");
      return type.element();
    case Intrinsic::Dot4: {
      const Scalar a = args[1].type().scalar, b = args[2].type().scalar;
      if (!is_dot(args, Scalar::I32, 4) || (a != Scalar::U8 && a != Scalar::I8) || b != Scalar::I8)
        return refuse(name, types_of(args), "i32xN and u8x4N or i8x4N and i8x4N");
      return type;
    }
    case Intrinsic::Dot2:
      if (!is_dot(args, Scalar::F32, 2) || args[1].type().scalar != Scalar::BF16 || args[1].type() != args[2].type())
        return refuse(name, types_of(args), "f32xN and bf16x2N and bf16x2N");
      return type;
    case Intrinsic::Prefetch:
    case Intrinsic::PrefetchL2:
      if (!args[0].as<Load>()) return refuse(name, to_string(args[0].kind()), "a Load");
      return kVoid;
    default:
      if (!type.is_float() || !all_of_type(args, type)) return refuse(name, types_of(args), "one float type");
      return type;
  }
}

Result<DType> type_of_ramp(DType base, DType stride, std::int64_t lanes) {
  if (base != stride || base.is_vector() || !is_number(base))
    return refuse("ramp", both(base, stride), "one scalar number type");
  HONE_TRY(check_lanes("ramp", lanes));
  return base.with_lanes(static_cast<int>(lanes));
}

Result<DType> type_of_broadcast(DType value, std::int64_t lanes) {
  if (value.is_vector() || value == kVoid) return refuse("broadcast", to_string(value), "a scalar");
  HONE_TRY(check_lanes("broadcast", lanes));
  return value.with_lanes(static_cast<int>(lanes));
}

Result<DType> type_of_access(const Expr& buffer, const std::vector<Expr>& indices, const Expr& mask) {
  const Buffer& node = buffer.get<Buffer>();
  if (indices.size() != node.shape.size())
    return error(ErrorCode::InvalidArgument, "buffer '{}' has {} indices, allowed are {}", node.name, indices.size(),
                 node.shape.size());
  int lanes = 1;
  for (const Expr& index : indices) {
    const DType type = index.type();
    if (type.element() != kIndex || (type.is_vector() && lanes != 1 && type.lanes != lanes))
      return error(ErrorCode::InvalidArgument, "buffer '{}' has an index of {}, allowed is {}", node.name,
                   to_string(type),
                   lanes == 1 ? "i64 or a vector of it" : "i64 or " + to_string(kIndex.with_lanes(lanes)));
    lanes = std::max<int>(lanes, type.lanes);
  }
  const DType mask_type = kBool.with_lanes(lanes);
  if (mask && mask.type() != mask_type)
    return error(ErrorCode::InvalidArgument, "buffer '{}' has a mask of {}, allowed is {}", node.name,
                 to_string(mask.type()), to_string(mask_type));
  return buffer.type().with_lanes(lanes);
}

Result<void> check_index(std::string_view what, DType type) {
  if (type != kIndex) return refuse(what, to_string(type), to_string(kIndex));
  return {};
}

Result<void> check_condition(std::string_view what, DType type) {
  if (type != kBool) return refuse(what, to_string(type), to_string(kBool));
  return {};
}

}  // namespace hone::ir
