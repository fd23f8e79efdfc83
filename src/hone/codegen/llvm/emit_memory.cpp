#include <algorithm>
#include <numeric>

#include "hone/codegen/llvm/emitter.h"

namespace hone::codegen {

using namespace ir;

namespace {

constexpr std::int64_t kMaxFactor = 4096;

std::int64_t power_of_two_in(std::int64_t number) {
  return number == 0 ? kMaxFactor : std::min(kMaxFactor, number & -number);
}

}  // namespace

std::optional<EvenIndex> as_even_index(const Expr& index) {
  if (const Ramp* node = index.as<Ramp>()) return EvenIndex{node->base, node->stride};
  if (const Broadcast* node = index.as<Broadcast>())
    return EvenIndex{node->value, ir::constant(node->value.type(), std::int64_t{0})};
  const auto with = [&](const Expr& a, const Expr& b, auto combine) -> std::optional<EvenIndex> {
    const std::optional<EvenIndex> left = as_even_index(a), right = as_even_index(b);
    if (!left || !right) return std::nullopt;
    return combine(*left, *right);
  };
  const auto is_zero = [](const Expr& e) { return is_int(e, 0); };
  if (const Add* node = index.as<Add>())
    return with(node->a, node->b, [&](const EvenIndex& a, const EvenIndex& b) -> std::optional<EvenIndex> {
      const Expr stride = is_zero(a.stride) ? b.stride : is_zero(b.stride) ? a.stride : a.stride + b.stride;
      return EvenIndex{a.base + b.base, stride};
    });
  if (const Sub* node = index.as<Sub>())
    return with(node->a, node->b, [&](const EvenIndex& a, const EvenIndex& b) -> std::optional<EvenIndex> {
      if (!is_zero(b.stride)) return std::nullopt;
      return EvenIndex{a.base - b.base, a.stride};
    });
  if (const Mul* node = index.as<Mul>())
    return with(node->a, node->b, [&](const EvenIndex& a, const EvenIndex& b) -> std::optional<EvenIndex> {
      if (!is_zero(a.stride) && !is_zero(b.stride)) return std::nullopt;
      const Expr& factor = is_zero(a.stride) ? a.base : b.base;
      const Expr& stride = is_zero(a.stride) ? b.stride : a.stride;
      return EvenIndex{a.base * b.base, is_int(stride, 1) ? factor : stride * factor};
    });
  return std::nullopt;
}

std::optional<SteppedIndex> as_stepped_index(const Expr& index) {
  if (const Broadcast* node = index.as<Broadcast>()) return SteppedIndex{node->value, 1, 0};
  if (const FloorDiv* node = index.as<FloorDiv>()) {
    const Ramp* lane = node->a.as<Ramp>();
    const Broadcast* divisor = node->b.as<Broadcast>();
    const std::int64_t every = divisor ? as_int(divisor->value).value_or(0) : 0;
    if (!lane || !is_int(lane->base, 0) || !is_int(lane->stride, 1) || every < 1) return std::nullopt;
    return SteppedIndex{lane->base, every, 1};
  }
  const Add* sum = index.as<Add>();
  const Sub* difference = index.as<Sub>();
  const Mul* product = index.as<Mul>();
  if (!sum && !difference && !product) return std::nullopt;
  const auto a = as_stepped_index(sum ? sum->a : difference ? difference->a : product->a);
  const auto b = as_stepped_index(sum ? sum->b : difference ? difference->b : product->b);
  if (!a || !b || (a->step != 0 && b->step != 0)) return std::nullopt;
  const SteppedIndex& steps = a->step != 0 ? *a : *b;
  if (sum) return SteppedIndex{a->first + b->first, steps.every, steps.step};
  if (difference && b->step == 0) return SteppedIndex{a->first - b->first, steps.every, steps.step};
  const std::optional<std::int64_t> factor = product ? as_int(a->step != 0 ? b->first : a->first) : std::nullopt;
  if (!factor) return std::nullopt;
  return SteppedIndex{a->first * b->first, steps.every, steps.step * *factor};
}

std::int64_t known_factor(const Expr& index) {
  if (const std::optional<std::int64_t> number = as_int(index)) return power_of_two_in(*number);
  if (const Add* node = index.as<Add>()) return std::min(known_factor(node->a), known_factor(node->b));
  if (const Sub* node = index.as<Sub>()) return std::min(known_factor(node->a), known_factor(node->b));
  if (const Mul* node = index.as<Mul>()) return std::min(kMaxFactor, known_factor(node->a) * known_factor(node->b));
  return 1;
}

llvm::Type* FunctionEmitter::memory_type(DType t) { return type(t.is_bool() ? kU8.with_lanes(t.lanes) : t); }

llvm::Value* FunctionEmitter::from_memory(llvm::Value* stored, DType t) {
  return t.is_bool() ? b_.CreateIsNotNull(stored) : stored;
}

llvm::Value* FunctionEmitter::to_memory(llvm::Value* v, DType t) {
  return t.is_bool() ? b_.CreateZExt(v, memory_type(t)) : v;
}

void FunctionEmitter::mark(llvm::Value* access, const Expr& buffer) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(access);
  if (!instruction) return;
  const AliasInfo& alias = m_.alias(buffer);
  instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, alias.own);
  if (alias.others) instruction->setMetadata(llvm::LLVMContext::MD_noalias, alias.others);
}

llvm::Value* FunctionEmitter::element_pointer(const Expr& buffer, llvm::Value* at, bool in_bounds) {
  llvm::Value* base = buffers_.at(buffer.id()).pointer;
  llvm::Type* element = memory_type(buffer.type());
  return in_bounds ? b_.CreateInBoundsGEP(element, base, at) : b_.CreateGEP(element, base, at);
}

std::uint64_t FunctionEmitter::access_align(const Expr& buffer, const Expr& first) const {
  const auto offset = static_cast<std::uint64_t>(known_factor(first) * buffer.type().bytes());
  return std::min(buffers_.at(buffer.id()).align, offset);
}

llvm::Value* FunctionEmitter::mask_value(const Expr& mask) {
  if (!mask) return nullptr;
  const Broadcast* uniform = mask.as<Broadcast>();
  llvm::Value* v = value(uniform ? uniform->value : mask);
  const auto* known = llvm::dyn_cast<llvm::Constant>(v);
  return known && known->isAllOnesValue() ? nullptr : v;
}

llvm::Value* FunctionEmitter::load_at(llvm::Value* pointer, const Expr& buffer, DType t, std::uint64_t align) {
  llvm::LoadInst* loaded = b_.CreateAlignedLoad(memory_type(t), pointer, llvm::Align(align));
  mark(loaded, buffer);
  return from_memory(loaded, t);
}

llvm::Value* FunctionEmitter::load(const Load& node, DType t) {
  const Expr& at = node.indices[0];
  llvm::Value* mask = mask_value(node.mask);
  if (!t.is_vector()) return load_scalar(node, at, mask);

  const std::optional<EvenIndex> even = as_even_index(at);
  if (even && is_int(even->stride, 0)) {
    llvm::Value* any = mask && mask->getType()->isVectorTy() ? b_.CreateOrReduce(mask) : mask;
    llvm::Value* same = splat(load_scalar(node, even->base, any), t.lanes);
    return any == mask ? same : select(mask, same, llvm::Constant::getNullValue(same->getType()));
  }
  if (even && is_int(even->stride, 1)) return load_contiguous(node, even->base, t, mask);
  if (even && is_int(even->stride, -1) && !mask)
    return reverse(load_contiguous(node, even->base - (t.lanes - 1), t, nullptr));

  if (!mask || !mask->getType()->isVectorTy())
    if (const std::optional<SteppedIndex> steps = as_stepped_index(at))
      if (llvm::Value* loaded = load_stepped(node, *steps, t, mask)) return loaded;

  if (!mask) mask = b_.getTrue();
  if (!mask->getType()->isVectorTy()) mask = splat(mask, t.lanes);
  llvm::Value* pointers = element_pointer(node.buffer, index(at), /*in_bounds=*/false);
  llvm::CallInst* gathered =
      b_.CreateMaskedGather(memory_type(t), pointers, llvm::Align(static_cast<std::uint64_t>(t.bytes())), mask,
                            llvm::Constant::getNullValue(memory_type(t)));
  mark(gathered, node.buffer);
  return from_memory(gathered, t);
}

llvm::Value* FunctionEmitter::load_scalar(const Load& node, const Expr& at, llvm::Value* mask) {
  const DType t = node.buffer.type();
  llvm::Value* pointer = element_pointer(node.buffer, index(at), /*in_bounds=*/!mask);
  if (mask) pointer = select(mask, pointer, m_.zeros());
  return load_at(pointer, node.buffer, t, static_cast<std::uint64_t>(t.bytes()));
}

llvm::Value* FunctionEmitter::load_contiguous(const Load& node, const Expr& first, DType t, llvm::Value* mask) {
  llvm::Value* pointer = element_pointer(node.buffer, index(first), /*in_bounds=*/!mask);
  const std::uint64_t align = access_align(node.buffer, first);
  if (!mask) return load_at(pointer, node.buffer, t, align);
  if (!mask->getType()->isVectorTy()) {
    if (t.lanes * t.bytes() <= ModuleEmitter::kZeroBytes)
      return load_at(select(mask, pointer, m_.zeros()), node.buffer, t, std::min<std::uint64_t>(align, 64));
    mask = splat(mask, t.lanes);
  }
  llvm::Type* stored = memory_type(t);
  llvm::CallInst* loaded =
      b_.CreateMaskedLoad(stored, pointer, llvm::Align(align), mask, llvm::Constant::getNullValue(stored));
  mark(loaded, node.buffer);
  return from_memory(loaded, t);
}

llvm::Value* FunctionEmitter::load_stepped(const Load& node, const SteppedIndex& at, DType t, llvm::Value* mask) {
  const std::int64_t last = (t.lanes - 1) / at.every * at.step;
  if (at.step < 1 || last >= t.lanes || t.lanes * t.bytes() > ModuleEmitter::kZeroBytes) return nullptr;
  // Lanes behind the last place may lie outside the buffer and are not touched.
  std::vector<llvm::Constant*> is_needed;
  std::vector<int> places;
  for (std::int64_t i = 0; i < t.lanes; ++i) {
    is_needed.push_back(b_.getInt1(i <= last));
    places.push_back(static_cast<int>(i / at.every * at.step));
  }
  llvm::Value* pointer = element_pointer(node.buffer, index(at.first), /*in_bounds=*/!mask);
  if (mask) pointer = select(mask, pointer, m_.zeros());
  llvm::Type* stored = memory_type(t);
  llvm::CallInst* loaded =
      b_.CreateMaskedLoad(stored, pointer, llvm::Align(static_cast<std::uint64_t>(t.element().bytes())),
                          llvm::ConstantVector::get(is_needed), llvm::Constant::getNullValue(stored));
  mark(loaded, node.buffer);
  return from_memory(b_.CreateShuffleVector(loaded, places), t);
}

llvm::Value* FunctionEmitter::reverse(llvm::Value* vector) { return b_.CreateVectorReverse(vector); }

void FunctionEmitter::prefetch(const Load& node, unsigned innermost_cache) {
  Expr at = node.indices[0];
  if (at.type().is_vector()) {
    const std::optional<EvenIndex> even = as_even_index(at);
    if (!even) return;
    at = even->base;
  }
  llvm::Value* pointer = element_pointer(node.buffer, index(at), /*in_bounds=*/false);
  // For reading, data; LLVM counts caches from the outside: 3 is the L1.
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                     {pointer, b_.getInt32(0), b_.getInt32(4 - innermost_cache), b_.getInt32(1)});
}

void FunctionEmitter::store(const Store& node) {
  llvm::Value* v = value(node.value);
  llvm::Value* mask = mask_value(node.mask);
  const int lanes = node.indices[0].type().lanes;
  if (!node.value.type().is_vector()) v = splat(v, lanes);
  v = to_memory(v, node.value.type().with_lanes(lanes));
  if (mask && !mask->getType()->isVectorTy()) {
    llvm::BasicBlock* then = block("then");
    llvm::BasicBlock* done = block("done");
    b_.CreateCondBr(mask, then, done);
    enter(then);
    store_unmasked(node, v);
    b_.CreateBr(done);
    return enter(done);
  }
  if (!mask) return store_unmasked(node, v);

  const std::optional<EvenIndex> even = as_even_index(node.indices[0]);
  llvm::CallInst* access = nullptr;
  if (even && is_int(even->stride, 1)) {
    llvm::Value* pointer = element_pointer(node.buffer, index(even->base), /*in_bounds=*/false);
    access = b_.CreateMaskedStore(v, pointer, llvm::Align(access_align(node.buffer, even->base)), mask);
  } else {
    llvm::Value* pointers = element_pointer(node.buffer, index(node.indices[0]), /*in_bounds=*/false);
    access =
        b_.CreateMaskedScatter(v, pointers, llvm::Align(static_cast<std::uint64_t>(node.buffer.type().bytes())), mask);
  }
  mark(access, node.buffer);
}

void FunctionEmitter::store_unmasked(const Store& node, llvm::Value* v) {
  const Expr& at = node.indices[0];
  const auto element_align = static_cast<std::uint64_t>(node.buffer.type().bytes());
  const std::optional<EvenIndex> even = at.type().is_vector() ? as_even_index(at) : std::nullopt;
  const bool is_contiguous = even && is_int(even->stride, 1);
  const bool is_reversed = even && is_int(even->stride, -1);
  if (at.type().is_vector() && !is_contiguous && !is_reversed) {
    llvm::Value* pointers = element_pointer(node.buffer, index(at), /*in_bounds=*/true);
    return mark(b_.CreateMaskedScatter(v, pointers, llvm::Align(element_align)), node.buffer);
  }
  const Expr first = !at.type().is_vector() ? at : is_reversed ? even->base - (at.type().lanes - 1) : even->base;
  if (is_reversed) v = reverse(v);
  llvm::Value* pointer = element_pointer(node.buffer, index(first), /*in_bounds=*/true);
  const std::uint64_t align = at.type().is_vector() ? access_align(node.buffer, first) : element_align;
  mark(b_.CreateAlignedStore(v, pointer, llvm::Align(align)), node.buffer);
}

}  // namespace hone::codegen
