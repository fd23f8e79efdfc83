#include "hone/codegen/llvm/optimize.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "hone/codegen/llvm/subtarget.h"

namespace hone::codegen {

Result<std::unique_ptr<llvm::TargetMachine>> target_machine(const Target& target) {
  initialize_llvm();
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple(target.arch), message);
  if (!found) return error(ErrorCode::Unsupported, "target '{}': {}", to_string(target), message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.EmulatedTLS = false;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple(target.arch), target.mcpu, feature_string(target), options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive, /*JIT=*/false));
  if (!machine) return error(ErrorCode::Unsupported, "target '{}': LLVM has no such machine", to_string(target));
  return machine;
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::DCEPass());
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
}

Result<std::string> generate(llvm::Module& module, llvm::TargetMachine& machine, Output output) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const llvm::CodeGenFileType type =
      output == Output::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return error(ErrorCode::Unsupported, "LLVM cannot write this kind of file for {}", machine.getTargetTriple().str());
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace hone::codegen
