#include "hone/codegen/llvm/backend.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>
#include <mutex>

#include "hone/codegen/llvm/emitter.h"
#include "hone/codegen/llvm/optimize.h"

namespace hone::codegen {

namespace {

/// Thrown in place of LLVM's abort when it meets something it cannot compile.
struct FatalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void throw_fatal_error(void*, const char* reason, bool) { throw FatalError(reason); }

void catch_fatal_errors() {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(throw_fatal_error); });
}

/// Collects LLVM's errors; its remarks and warnings are dropped.
struct Diagnostics : llvm::DiagnosticHandler {
  explicit Diagnostics(std::string& into) : messages(into) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(messages);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }
  std::string& messages;
};

Result<std::string> write(const ir::Module& lowered, const Target& target, const CompileOptions& options,
                          Output output) {
  HONE_TRY(const std::unique_ptr<llvm::TargetMachine> machine, target_machine(target));
  std::string messages;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(messages));
  context.setDiscardValueNames(output != Output::LlvmIr);
  llvm::Module module("hone", context);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());

  ModuleEmitter emitter(module, target, options);
  HONE_TRY(emitter.emit(lowered));
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(module, &stream))
    return error(ErrorCode::CompileError, "LLVM refuses the generated module: {}", broken);

  optimize(module, *machine);
  std::string text;
  if (output == Output::LlvmIr) {
    llvm::raw_string_ostream(text) << module;
  } else {
    HONE_TRY(text, generate(module, *machine, output));
  }
  if (!messages.empty()) return error(ErrorCode::CompileError, "LLVM cannot compile the module: {}", messages);
  return text;
}

}  // namespace

Result<std::string> write_module(const ir::Module& lowered, const Target& target, const CompileOptions& options,
                                 Output output) {
  catch_fatal_errors();
  try {
    return write(lowered, target, options, output);
  } catch (const FatalError& fatal) {
    return error(ErrorCode::CompileError, "LLVM cannot compile the module: {}", fatal.what());
  }
}

}  // namespace hone::codegen
