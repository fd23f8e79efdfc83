#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

#include "hone/codegen/llvm/backend.h"
#include "hone/codegen/llvm/subtarget.h"

namespace hone::codegen {

namespace {

namespace orc = llvm::orc;

/// Machine code in memory; leaves with its session.
class LoadedCode : public CompiledModule::Code {
 public:
  explicit LoadedCode(std::unique_ptr<orc::LLJIT> session) : session_(std::move(session)) {}
  orc::LLJIT& session() { return *session_; }

 private:
  std::unique_ptr<orc::LLJIT> session_;
};

hone::Error as_error(llvm::Error failure, const char* doing) {
  return error(ErrorCode::CompileError, "{}: {}", doing, llvm::toString(std::move(failure)));
}

/// The runtime functions at the addresses handed in; all else comes from the process (the C library).
llvm::Error define_symbols(orc::LLJIT& session, const RuntimeSymbols& runtime) {
  orc::SymbolMap symbols;
  const auto add = [&](const char* name, auto* function) {
    if (function)
      symbols[session.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                                llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("hone_parallel_for", runtime.parallel_for);
  add("hone_allocate", runtime.allocate);
  add("hone_release", runtime.release);
  return session.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

}  // namespace

Result<CompiledModule> load_object(std::string object, const ir::Module& lowered, const CompileOptions& options) {
  initialize_llvm();
  orc::JITTargetMachineBuilder machine{llvm::Triple(triple(host_arch()))};
  auto session = orc::LLJITBuilder()
                     .setJITTargetMachineBuilder(std::move(machine))
                     .setPlatformSetUp(orc::setUpInactivePlatform)  // there are no constructors to run
                     .create();
  if (!session) return as_error(session.takeError(), "cannot start the JIT");
  if (llvm::Error failure = define_symbols(**session, options.runtime))
    return as_error(std::move(failure), "cannot define the runtime's symbols");
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "hone");
  if (llvm::Error failure = (*session)->addObjectFile(std::move(buffer)))
    return as_error(std::move(failure), "cannot load the object");

  std::vector<Kernel> kernels;
  for (const ir::Function& function : lowered.functions) {
    auto address = (*session)->lookup(function.name);
    if (!address) return as_error(address.takeError(), "cannot link the module");
    kernels.emplace_back(function.name, function.params.size(), address->toPtr<EntryPoint>());
  }
  return CompiledModule(std::make_shared<LoadedCode>(std::move(*session)), std::move(kernels));
}

}  // namespace hone::codegen
