/// Target: the machine that code is generated for, as a text that can be stored and read back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/support/result.h"

namespace hone::codegen {

/// Instruction sets we generate code for, and GPUs, for which programs are scheduled but not compiled yet.
enum class Arch : std::uint8_t { X86_64, AArch64, Gpu };

/// What a GPU allows a block of threads; all 0 for CPUs.
struct GpuLimits {
  std::int64_t max_threads = 0;   ///< of a block
  std::int64_t shared_bytes = 0;  ///< memory that the threads of a block share
  std::int64_t warp = 0;          ///< threads that run in step
  std::int64_t registers = 0;     ///< of 32 bits that a thread may have

  bool operator==(const GpuLimits&) const = default;

  /// How many virtual threads one thread may stand for (Ansor's limit for CUDA).
  std::int64_t max_vthreads() const { return warp < 4 ? 1 : warp / 4; }
};

/// A CPU or GPU to compile for. The text form holds what a person chose (architecture, CPU, features, threads; limits
/// of a GPU); the other fields follow from it, cache sizes and cores from the host if it has the same architecture.
struct Target {
  Arch arch = Arch::X86_64;
  std::string mcpu;                ///< an LLVM CPU name, such as "znver4"; "x86-64" and "generic" are the baselines
  std::vector<std::string> mattr;  ///< features on top of the CPU's own, such as "+avx2" or "-avx512f"
  int threads = 1;                 ///< how many threads kernels are scheduled for

  int vector_bits = 128;      ///< width of a vector register
  int vector_registers = 16;  ///< how many of them the instruction set names
  bool has_fma = false;       ///< whether a fused multiply-add is one instruction
  int multiply_adds = 2;      ///< vector multiply-adds that a core begins in a cycle
  int cores = 1;
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< data caches: of a core, of a core, shared
  int cache_line_bytes = 64;
  double l3_bytes_per_cycle = 3.5, memory_bytes_per_cycle = 3.5;  ///< that a core reads, when others read as well

  GpuLimits gpu;

  bool operator==(const Target&) const = default;

  bool is_gpu() const { return arch == Arch::Gpu; }
  /// How many lanes of a type of `bits` bits a vector register holds.
  int lanes(int bits) const { return vector_bits / bits; }
};

/// Reads `cpu`, `cpu -mcpu=znver4 -threads=2`, `cpu -mattr=+avx2`, `aarch64 -mattr=+neon` and the like. `cpu` is the
/// host's architecture; without -mcpu it is the host itself, unless -mattr is given: then it is the architecture's
/// baseline plus these features. `+avx2` brings `+fma`; `+avx512` stands for the sub-features f, bw, cd, dq and vl.
/// Also `gpu` and `gpu -max-threads=1024 -shared-bytes=49152 -warp=32 -registers=255`, each option with this default.
Result<Target> parse_target(std::string_view text);

/// The canonical text: parse_target reads it back to an equal target.
std::string to_string(const Target& target);

/// The machine this process runs on, with as many threads as it may use at once (affinity and cgroup limits count).
const Target& host_target();
/// What the maker calls this machine's processor, for people; empty if nobody says.
const std::string& host_cpu_name();

/// "x86-64", "aarch64" or "gpu".
std::string_view to_string(Arch arch);

}  // namespace hone::codegen
