#include "hone/codegen/llvm/backend.h"
#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

Result<void> check_buffer(const Function& function, const Expr& buffer) {
  const Buffer& node = buffer.get<Buffer>();
  if (node.shape.size() != 1)
    return error(ErrorCode::CompileError, "function '{}': buffer '{}' has {} axes, allowed is 1 (flatten it first)",
                 function.name, node.name, node.shape.size());
  if (!as_int(node.shape[0]))
    return error(ErrorCode::Unsupported, "function '{}': buffer '{}' has a symbolic size, allowed are constants",
                 function.name, node.name);
  return {};
}

/// Whether the back end can compute the call on operands of this type.
bool is_supported(const Call& node) {
  const DType operand = node.args[0].type();
  switch (node.function) {
    case Intrinsic::BitAnd:
    case Intrinsic::BitOr:
    case Intrinsic::BitXor:
    case Intrinsic::BitNot:
      return !operand.is_float();
    case Intrinsic::ShiftLeft:
    case Intrinsic::ShiftRight:
    case Intrinsic::PopCount:
      return operand.is_integer();
    case Intrinsic::Abs:
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Round:
    case Intrinsic::Trunc:
    case Intrinsic::Fma:
    case Intrinsic::Fmod:
    case Intrinsic::Pow:
    case Intrinsic::ReduceAdd:
    case Intrinsic::ReduceMul:
    case Intrinsic::ReduceMin:
    case Intrinsic::ReduceMax:
    case Intrinsic::IsNan:
    case Intrinsic::IsInf:
      return true;
    case Intrinsic::Bitcast:
      return !operand.is_bool();
    case Intrinsic::Dot4:
      return node.args[0].type().scalar == Scalar::I32 && node.args[1].type().bits() == 8 &&
             node.args[2].type().scalar == Scalar::I8 && node.args[1].type().lanes == operand.lanes * 4;
    case Intrinsic::Dot2:
      return node.args[0].type().scalar == Scalar::F32 && node.args[1].type().scalar == Scalar::BF16 &&
             node.args[2].type().scalar == Scalar::BF16 && node.args[1].type().lanes == operand.lanes * 2;
    case Intrinsic::Prefetch:
    case Intrinsic::PrefetchL2:
      return node.args[0].as<Load>() != nullptr;
    default:
      return operand.is_float();
  }
}

Result<void> check_expr(const Function& function, const Expr& e) {
  if (const Load* node = e.as<Load>(); node && node->indices.size() != 1)
    return error(ErrorCode::CompileError, "function '{}': load from '{}' has {} indices, allowed is 1", function.name,
                 name_of(node->buffer), node->indices.size());
  if (const Call* node = e.as<Call>(); node && !is_supported(*node))
    return error(ErrorCode::Unsupported, "function '{}': {} of {} cannot be compiled", function.name,
                 to_string(node->function), to_string(node->args[0].type()));
  return {};
}

Result<void> check_stmt(const Function& function, const Stmt& s) {
  if (const Block* node = s.as<Block>())
    return error(ErrorCode::CompileError, "function '{}': block '{}' is left, lower the function first", function.name,
                 node->name);
  if (const For* node = s.as<For>(); node && node->how != ForKind::Serial && node->how != ForKind::Parallel)
    return error(ErrorCode::CompileError, "function '{}': loop '{}' is {}, allowed are serial and parallel",
                 function.name, name_of(node->var), to_string(node->how));
  if (const Allocate* node = s.as<Allocate>()) return check_buffer(function, node->buffer);
  if (const Store* node = s.as<Store>(); node && node->indices.size() != 1)
    return error(ErrorCode::CompileError, "function '{}': store to '{}' has {} indices, allowed is 1", function.name,
                 name_of(node->buffer), node->indices.size());
  return {};
}

}  // namespace

bool has_lazy_loads(const Function& function) {
  bool found = false;
  const auto look_into = [&](const Expr& e) {
    walk(e, [&](const Expr& inner) {
      const Load* node = inner.as<Load>();
      found = found || (node && !node->mask);
    });
  };
  walk(
      function.body, [](const Stmt&) {},
      [&](const Expr& e) {
        if (const Select* node = e.as<Select>()) {
          look_into(node->a);
          look_into(node->b);
        }
        if (const And* node = e.as<And>()) look_into(node->b);
        if (const Or* node = e.as<Or>()) look_into(node->b);
      });
  return found;
}

Result<void> check_lowered(const Function& function) {
  for (const Expr& param : function.params) HONE_TRY(check_buffer(function, param));
  Result<void> result;
  walk(
      function.body,
      [&](const Stmt& s) {
        if (result) result = check_stmt(function, s);
      },
      [&](const Expr& e) {
        if (result) result = check_expr(function, e);
      });
  return result;
}

}  // namespace hone::codegen
