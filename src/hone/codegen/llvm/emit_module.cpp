#include <llvm/IR/MDBuilder.h>

#include "hone/codegen/llvm/emitter.h"
#include "hone/codegen/llvm/subtarget.h"
#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

std::int64_t constant_size(const Expr& buffer) {
  std::int64_t count = 1;
  for (const Expr& extent : buffer.get<Buffer>().shape) count *= constant_value(extent);
  return count * buffer.type().bytes();
}

}  // namespace

ModuleEmitter::ModuleEmitter(llvm::Module& out, const Target& for_target, const CompileOptions& with_options)
    : module(out),
      context(out.getContext()),
      target(for_target),
      options(with_options),
      has_f16c(for_target.arch == Arch::AArch64 || has_feature(for_target, "f16c")),
      has_vnni(for_target.arch == Arch::X86_64 && has_feature(for_target, "avx512vnni") &&
               has_feature(for_target, "avx512vl")),
      has_dot_bf16(for_target.arch == Arch::X86_64 && has_feature(for_target, "avx512bf16") &&
                   has_feature(for_target, "avx512vl")),
      has_avx512(for_target.arch == Arch::X86_64 && has_feature(for_target, "avx512vl")) {}

Result<void> ModuleEmitter::emit(const ir::Module& lowered) {
  for (const Function& function : lowered.functions) emit(function);
  for (const Function& function : lowered.functions)
    if (called_.contains(function.name))
      return error(ErrorCode::InvalidArgument,
                   "function '{}' has the name of a C function that the module calls, allowed is any other name",
                   function.name);
  return {};
}

void ModuleEmitter::emit(const Function& function) {
  collect_aliases(function);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* word = llvm::Type::getInt32Ty(context);
  llvm::Function* entry = declare(llvm::FunctionType::get(word, {pointer, pointer}, false), function.name,
                                  llvm::GlobalValue::ExternalLinkage);
  entry->addParamAttr(0, llvm::Attribute::NoAlias);
  FunctionEmitter emitter(*this, entry);
  llvm::IRBuilder<>& b = emitter.builder();

  llvm::Value* status = b.CreateAlloca(word, nullptr, "status");
  b.CreateStore(b.getInt32(0), status);
  emitter.set_status(status);
  emitter.set_pool(entry->getArg(1));

  for (unsigned i = 0; i < function.params.size(); ++i) {
    const Expr& param = function.params[i];
    llvm::LoadInst* base =
        b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), i), name_of(param));
    const auto align =
        static_cast<std::uint64_t>(std::max<std::int64_t>(options.assume_alignment, param.type().bytes()));
    base->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context, {}));
    base->setMetadata(llvm::LLVMContext::MD_align,
                      llvm::MDNode::get(context, {llvm::ConstantAsMetadata::get(b.getInt64(align))}));
    if (const std::int64_t bytes = constant_size(param); bytes > 0) {
      base->setMetadata(llvm::LLVMContext::MD_nonnull, llvm::MDNode::get(context, {}));
      base->setMetadata(
          llvm::LLVMContext::MD_dereferenceable,
          llvm::MDNode::get(context, {llvm::ConstantAsMetadata::get(b.getInt64(static_cast<std::uint64_t>(bytes)))}));
    }
    emitter.define(param, BufferSlot{base, align});
  }
  emitter.emit(function.body);
  b.CreateRet(b.CreateLoad(word, status));
}

llvm::Function* ModuleEmitter::declare(llvm::FunctionType* type, const std::string& name,
                                       llvm::GlobalValue::LinkageTypes linkage) {
  llvm::Function* function = llvm::Function::Create(type, linkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("target-cpu", target.mcpu);
  if (!target.mattr.empty()) function->addFnAttr("target-features", feature_string(target));
  if (target.vector_bits == 512) {
    function->addFnAttr("prefer-vector-width", "512");
    function->addFnAttr("min-legal-vector-width", "512");
  }
  return function;
}

llvm::Constant* ModuleEmitter::zeros() {
  if (llvm::GlobalVariable* known = module.getNamedGlobal("hone.zeros")) return known;
  llvm::Type* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), kZeroBytes);
  auto* global = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                          llvm::ConstantAggregateZero::get(type), "hone.zeros");
  global->setAlignment(llvm::Align(64));
  return global;
}

llvm::FunctionCallee ModuleEmitter::parallel_for() {
  llvm::IRBuilder<> b(context);
  return module.getOrInsertFunction("hone_parallel_for", b.getVoidTy(), b.getPtrTy(), b.getInt64Ty(), b.getPtrTy(),
                                    b.getPtrTy());
}

llvm::FunctionCallee ModuleEmitter::allocate() {
  llvm::IRBuilder<> b(context);
  llvm::FunctionCallee callee = module.getOrInsertFunction("hone_allocate", b.getPtrTy(), b.getInt64Ty());
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->addRetAttr(llvm::Attribute::NoAlias);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return callee;
}

llvm::FunctionCallee ModuleEmitter::release() {
  llvm::IRBuilder<> b(context);
  return module.getOrInsertFunction("hone_release", b.getVoidTy(), b.getPtrTy(), b.getInt64Ty());
}

llvm::FunctionCallee ModuleEmitter::libm(const std::string& name, llvm::Type* type, unsigned arguments) {
  called_.insert(name);
  const std::vector<llvm::Type*> parameters(arguments, type);
  llvm::FunctionCallee callee = module.getOrInsertFunction(name, llvm::FunctionType::get(type, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee()->stripPointerCasts());
  if (!function->isDeclaration()) return callee;  // emit() refuses the module
  function->setDoesNotAccessMemory();             // we do not look at errno
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  return callee;
}

void ModuleEmitter::collect_aliases(const Function& function) {
  std::vector<Expr> buffers = function.params;
  walk(function.body, [&](const Stmt& s) {
    if (const Allocate* node = s.as<Allocate>()) buffers.push_back(node->buffer);
  });
  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(function.name);
  std::vector<llvm::Metadata*> scopes;
  for (const Expr& buffer : buffers) scopes.push_back(metadata.createAnonymousAliasScope(domain, name_of(buffer)));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    aliases_[buffers[i].id()] = {llvm::MDNode::get(context, {scopes[i]}),
                                 others.empty() ? nullptr : llvm::MDNode::get(context, others)};
  }
}

}  // namespace hone::codegen
