/// What LLVM knows about CPUs: their names and features, and which the host has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/codegen/target.h"

namespace hone::codegen {

/// The architecture this process runs on.
Arch host_arch();

/// The host's CPU name, and the features in which this machine differs from that CPU as LLVM knows it (a virtual
/// machine may hide some), sorted, such as "-amx-fp16".
struct HostCpu {
  std::string name;
  std::vector<std::string> features;
};
HostCpu host_cpu();

/// Whether LLVM knows the CPU, or the feature (without its sign).
bool is_known_cpu(Arch arch, const std::string& name);
bool is_known_feature(Arch arch, const std::string& name);

/// Whether code for this CPU and these features may use `feature`; implied features count.
bool has_feature(const Target& target, std::string_view feature);

/// The first feature that the target uses and the host lacks; empty if there is none.
std::string feature_missing_on_host(const Target& target);

/// "x86_64-unknown-linux-gnu" or "aarch64-unknown-linux-gnu".
std::string triple(Arch arch);

/// Features as LLVM takes them: "+avx2,+fma".
std::string feature_string(const Target& target);

/// Registers LLVM's targets; safe to call from any thread, any number of times.
void initialize_llvm();

}  // namespace hone::codegen
