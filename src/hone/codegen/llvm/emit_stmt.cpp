#include <algorithm>
#include <llvm/IR/MDBuilder.h>

#include "hone/codegen/llvm/emitter.h"
#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// Buffers of at most this size live on the stack unless they are in registers anyway.
constexpr std::int64_t kMaxStackBytes = 16 << 10;
constexpr std::uint64_t kScratchAlign = 64;

/// Keeps LLVM from unrolling or vectorizing a loop: hone's own passes have decided that.
llvm::MDNode* loop_metadata(llvm::LLVMContext& context) {
  llvm::Metadata* no_unroll = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")});
  llvm::Metadata* no_vectors =
      llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.vectorize.enable"),
                                  llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context))});
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, no_unroll, no_vectors});
  loop->replaceOperandWith(0, loop);
  return loop;
}

/// The variables and buffers that a statement uses but does not define, in the order they are met.
std::vector<Expr> free_symbols(const Stmt& s) {
  std::vector<Expr> used, defined;
  const auto holds = [](const std::vector<Expr>& list, const Expr& e) {
    return std::any_of(list.begin(), list.end(), [&](const Expr& other) { return other.is(e); });
  };
  walk(
      s,
      [&](const Stmt& node) {
        if (const For* loop = node.as<For>()) defined.push_back(loop->var);
        if (const Let* let = node.as<Let>()) defined.push_back(let->var);
        if (const Allocate* allocate = node.as<Allocate>()) defined.push_back(allocate->buffer);
      },
      [&](const Expr& e) {
        const bool is_symbol = e.kind() == Kind::Var || e.kind() == Kind::Buffer;
        if (is_symbol && !holds(used, e)) used.push_back(e);
      });
  std::erase_if(used, [&](const Expr& e) { return holds(defined, e); });
  return used;
}

}  // namespace

FunctionEmitter::FunctionEmitter(ModuleEmitter& shared, llvm::Function* into)
    : m_(shared), function_(into), b_(llvm::BasicBlock::Create(shared.context, "entry", into)) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  b_.setFastMathFlags(flags);
}

llvm::BasicBlock* FunctionEmitter::block(const char* name) {
  return llvm::BasicBlock::Create(m_.context, name, function_);
}

void FunctionEmitter::enter(llvm::BasicBlock* next) { b_.SetInsertPoint(next); }

void FunctionEmitter::emit(const Stmt& s) {
  data_values_.clear();
  index_values_.clear();
  switch (s.kind()) {
    case Kind::For:
      return emit_for(s.get<For>());
    case Kind::Store:
      return store(s.get<Store>());
    case Kind::If:
      return emit_if(s.get<If>());
    case Kind::Seq:
      for (const Stmt& child : s.get<Seq>().stmts) emit(child);
      return;
    case Kind::Allocate:
      return emit_allocate(s.get<Allocate>());
    case Kind::Let: {
      const Let& node = s.get<Let>();
      define(node.var, value(node.value));
      return emit(node.body);
    }
    case Kind::Evaluate:
      return emit_evaluate(s.get<Evaluate>());
    case Kind::Barrier:
      return;
    default:
      HONE_CHECK(false, "{} is not part of the lowered form", to_string(s.kind()));
  }
}

void FunctionEmitter::emit_for(const For& node) {
  if (node.how == ForKind::Parallel && !in_parallel_) return emit_parallel(node);
  llvm::Value* extent = index(node.extent);
  emit_loop(node.var, b_.getInt64(0), extent, node.body);
}

void FunctionEmitter::emit_loop(const Expr& var, llvm::Value* begin, llvm::Value* end, const Stmt& body) {
  llvm::BasicBlock* loop = block("loop");
  llvm::BasicBlock* done = block("done");
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), loop, done);

  enter(loop);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, name_of(var));
  i->addIncoming(begin, before);
  define(var, i);
  emit(body);
  llvm::Value* next = b_.CreateAdd(i, b_.getInt64(1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  i->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* again = b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, done);
  again->setMetadata(llvm::LLVMContext::MD_loop, loop_metadata(m_.context));
  // How often loops run decides what keeps its registers; otherwise LLVM takes the deepest loops for the hottest.
  const auto *first = llvm::dyn_cast<llvm::ConstantInt>(begin), *last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first && last) {
    const std::int64_t repeats = last->getSExtValue() - first->getSExtValue() - 1;
    constexpr std::int64_t kMost = 1 << 30;  // weights have 32 bits
    const auto weight = static_cast<std::uint32_t>(std::clamp<std::int64_t>(repeats, 1, kMost));
    again->setMetadata(llvm::LLVMContext::MD_prof, llvm::MDBuilder(m_.context).createBranchWeights(weight, 1));
  }
  enter(done);
}

void FunctionEmitter::emit_parallel(const For& node) {
  llvm::Value* count = index(node.extent);
  const std::vector<Expr> captured = free_symbols(node.body);

  // The context holds the status word's address, then each captured value.
  std::vector<llvm::Value*> values = {status_};
  std::vector<Expr> symbols;
  for (const Expr& e : captured) {
    if (e.is(node.var)) continue;
    symbols.push_back(e);
    values.push_back(e.kind() == Kind::Var ? vars_.at(e.id()) : buffers_.at(e.id()).pointer);
  }
  std::vector<llvm::Type*> types;
  for (const llvm::Value* v : values) types.push_back(v->getType());
  llvm::StructType* layout = llvm::StructType::get(m_.context, types);

  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  llvm::Value* context = entry.CreateAlloca(layout, nullptr, "context");
  for (unsigned i = 0; i < values.size(); ++i) b_.CreateStore(values[i], b_.CreateStructGEP(layout, context, i));

  llvm::FunctionType* body_type =
      llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
  llvm::Function* body =
      m_.declare(body_type, function_->getName().str() + "." + name_of(node.var), llvm::GlobalValue::InternalLinkage);
  body->addParamAttr(0, llvm::Attribute::NoAlias);
  body->addParamAttr(0, llvm::Attribute::NonNull);
  b_.CreateCall(m_.parallel_for(), {pool_, count, body, context});

  FunctionEmitter inner(m_, body);
  inner.in_parallel_ = true;
  const auto field = [&](unsigned i) {
    return inner.b_.CreateLoad(types[i], inner.b_.CreateStructGEP(layout, body->getArg(0), i));
  };
  inner.set_status(field(0));
  for (unsigned i = 0; i < symbols.size(); ++i) {
    const Expr& e = symbols[i];
    llvm::Value* captured_value = field(i + 1);
    if (e.kind() == Kind::Var) {
      inner.define(e, captured_value);
    } else {
      inner.define(e, BufferSlot{captured_value, buffers_.at(e.id()).align});
    }
  }
  inner.emit_loop(node.var, body->getArg(1), body->getArg(2), node.body);
  inner.b_.CreateRetVoid();
}

void FunctionEmitter::emit_if(const If& node) {
  llvm::Value* condition = value(node.condition);
  llvm::BasicBlock* then = block("then");
  llvm::BasicBlock* done = block("done");
  llvm::BasicBlock* otherwise = node.otherwise ? block("otherwise") : done;
  b_.CreateCondBr(condition, then, otherwise);
  enter(then);
  emit(node.then);
  b_.CreateBr(done);
  if (node.otherwise) {
    enter(otherwise);
    emit(node.otherwise);
    b_.CreateBr(done);
  }
  enter(done);
}

void FunctionEmitter::emit_allocate(const Allocate& node) {
  std::int64_t count = 1;
  for (const Expr& extent : node.buffer.get<Buffer>().shape) count *= constant_value(extent);
  const std::int64_t bytes = count * node.buffer.type().bytes();
  const bool in_registers = node.buffer.get<Buffer>().scope == Scope::Register;
  if (in_registers || bytes <= kMaxStackBytes) {
    emit_stack_allocate(node, count);
  } else {
    emit_heap_allocate(node, count);
  }
}

void FunctionEmitter::emit_stack_allocate(const Allocate& node, std::int64_t count) {
  llvm::Type* element = memory_type(node.buffer.type());
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  llvm::AllocaInst* memory = entry.CreateAlloca(llvm::ArrayType::get(element, static_cast<std::uint64_t>(count)),
                                                nullptr, name_of(node.buffer));
  memory->setAlignment(llvm::Align(kScratchAlign));
  llvm::ConstantInt* bytes = b_.getInt64(static_cast<std::uint64_t>(count * node.buffer.type().bytes()));
  define(node.buffer, BufferSlot{memory, kScratchAlign});
  b_.CreateLifetimeStart(memory, bytes);
  emit(node.body);
  b_.CreateLifetimeEnd(memory, bytes);
}

void FunctionEmitter::emit_heap_allocate(const Allocate& node, std::int64_t count) {
  llvm::Value* bytes = b_.getInt64(static_cast<std::uint64_t>(count * node.buffer.type().bytes()));
  llvm::Value* memory = b_.CreateCall(m_.allocate(), {bytes}, name_of(node.buffer));
  llvm::BasicBlock* allocated = block("allocated");
  llvm::BasicBlock* failed = block("failed");
  llvm::BasicBlock* done = block("done");
  b_.CreateCondBr(b_.CreateIsNotNull(memory), allocated, failed);

  enter(failed);
  b_.CreateStore(b_.getInt32(1), status_)->setAtomic(llvm::AtomicOrdering::Monotonic);
  b_.CreateBr(done);

  enter(allocated);
  define(node.buffer, BufferSlot{memory, kScratchAlign});
  emit(node.body);
  b_.CreateCall(m_.release(), {memory, bytes});
  b_.CreateBr(done);
  enter(done);
}

void FunctionEmitter::emit_evaluate(const Evaluate& node) {
  const Call* node_call = node.value.as<Call>();
  if (node_call && node_call->function == Intrinsic::Prefetch)
    return prefetch(node_call->args[0].get<Load>(), /*innermost_cache=*/1);
  if (node_call && node_call->function == Intrinsic::PrefetchL2)
    return prefetch(node_call->args[0].get<Load>(), /*innermost_cache=*/2);
  value(node.value);
}

}  // namespace hone::codegen
