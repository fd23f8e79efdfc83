#include "hone/codegen/llvm/subtarget.h"

#include <algorithm>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <memory>
#include <mutex>

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeAArch64TargetInfo();
void LLVMInitializeAArch64Target();
void LLVMInitializeAArch64TargetMC();
void LLVMInitializeAArch64AsmPrinter();
}

namespace hone::codegen {

namespace {

std::unique_ptr<llvm::MCSubtargetInfo> subtarget(Arch arch, const std::string& cpu, const std::string& features) {
  initialize_llvm();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple(arch), message);
  HONE_CHECK(target, "LLVM lacks the target {}: {}", triple(arch), message);
  return std::unique_ptr<llvm::MCSubtargetInfo>(target->createMCSubtargetInfo(triple(arch), cpu, features));
}

bool has(const llvm::MCSubtargetInfo& subtarget, std::string_view feature) {
  return subtarget.checkFeatures("+" + std::string(feature));
}

/// Instructions stay in the order that schedules give them. LLVM would change it twice: before registers are allocated,
/// which takes a tenth of the time of a trial, and on processors of AMD once more after that, which takes an eighth.
/// Kernels are as fast without. LLVM has but options for all of a process.
void leave_out_scheduling() {
  for (const char* option : {"enable-misched", "post-RA-scheduler"})
    if (llvm::cl::Option* const found = llvm::cl::getRegisteredOptions().lookup(option))
      found->addOccurrence(/*pos=*/1, option, "false");
}

}  // namespace

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    leave_out_scheduling();
  });
}

std::string triple(Arch arch) {
  return arch == Arch::X86_64 ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu";
}

std::string feature_string(const Target& target) {
  std::string text;
  for (const std::string& feature : target.mattr) text += (text.empty() ? "" : ",") + feature;
  return text;
}

Arch host_arch() { return llvm::Triple(llvm::sys::getProcessTriple()).isAArch64() ? Arch::AArch64 : Arch::X86_64; }

HostCpu host_cpu() {
  HostCpu host{.name = llvm::sys::getHostCPUName().str(), .features = {}};
  if (!is_known_cpu(host_arch(), host.name)) host.name = host_arch() == Arch::X86_64 ? "x86-64" : "generic";
  const auto model = subtarget(host_arch(), host.name, "");
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const std::string name = feature.getKey().str();
    if (!is_known_feature(host_arch(), name) || has(*model, name) == feature.getValue()) continue;
    host.features.push_back((feature.getValue() ? "+" : "-") + name);
  }
  std::sort(host.features.begin(), host.features.end());
  return host;
}

bool is_known_cpu(Arch arch, const std::string& name) { return subtarget(arch, "", "")->isCPUStringValid(name); }

bool is_known_feature(Arch arch, const std::string& name) {
  const auto info = subtarget(arch, "", "");
  const auto features = info->getAllProcessorFeatures();
  return std::any_of(features.begin(), features.end(), [&](const auto& feature) { return name == feature.Key; });
}

bool has_feature(const Target& target, std::string_view feature) {
  return has(*subtarget(target.arch, target.mcpu, feature_string(target)), feature);
}

std::string feature_missing_on_host(const Target& target) {
  if (target.arch != host_arch()) return std::string(to_string(target.arch));
  const auto wanted = subtarget(target.arch, target.mcpu, feature_string(target));
  std::vector<std::string> missing;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const std::string name = feature.getKey().str();
    if (!feature.getValue() && is_known_feature(target.arch, name) && has(*wanted, name)) missing.push_back(name);
  }
  return missing.empty() ? "" : *std::min_element(missing.begin(), missing.end());
}

}  // namespace hone::codegen
