#include "hone/codegen/target.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <hwloc.h>
#include <optional>
#include <sched.h>
#include <sstream>

#include "hone/codegen/llvm/subtarget.h"

namespace hone::codegen {

namespace {

constexpr int kMaxThreads = 1024;

/// What hwloc knows about the host.
struct Machine {
  int cores = 1;
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 8 << 20;
  int cache_line_bytes = 64;
  std::string cpu_name;
};

Machine detect_machine() {
  Machine machine;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return machine;
  if (hwloc_topology_load(topology) == 0) {
    machine.cores = std::max(1, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE));
    const auto cache_bytes = [&](hwloc_obj_type_t type, std::int64_t otherwise) {
      const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
      return cache && cache->attr->cache.size > 0 ? static_cast<std::int64_t>(cache->attr->cache.size) : otherwise;
    };
    machine.l1_bytes = cache_bytes(HWLOC_OBJ_L1CACHE, machine.l1_bytes);
    machine.l2_bytes = cache_bytes(HWLOC_OBJ_L2CACHE, machine.l2_bytes);
    machine.l3_bytes = cache_bytes(HWLOC_OBJ_L3CACHE, machine.l3_bytes);
    const hwloc_obj_t l1 = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L1CACHE, 0);
    if (l1 && l1->attr->cache.linesize > 0) machine.cache_line_bytes = static_cast<int>(l1->attr->cache.linesize);
    const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    if (const char* name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr) machine.cpu_name = name;
  }
  hwloc_topology_destroy(topology);
  return machine;
}

const Machine& host_machine() {
  static const Machine machine = detect_machine();
  return machine;
}

/// How many CPUs' worth of time the control group grants this process, if it is limited.
std::optional<int> cgroup_cpus() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::int64_t quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<int>(std::max<std::int64_t>(1, quota / period));
}

int usable_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int affinity = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  return std::clamp(std::min(affinity, cgroup_cpus().value_or(affinity)), 1, kMaxThreads);
}

/// Rates of processors that differ from the usual, as measured. AMD's have an L3 cache for few cores, and make 512 bits
/// of two halves before Zen 5.
void derive_rates(Target& target) {
  if (!target.mcpu.starts_with("znver")) return;
  target.l3_bytes_per_cycle = 25;
  target.memory_bytes_per_cycle = 8;
  if (target.mcpu == "znver4" && target.vector_bits == 512) target.multiply_adds = 1;
}

/// Fills in what follows from architecture, CPU and features.
void derive_facts(Target& target) {
  if (target.arch == Arch::X86_64) {
    const bool avx512 = has_feature(target, "avx512f"), avx = has_feature(target, "avx");
    target.vector_bits = avx512 ? 512 : avx ? 256 : 128;
    target.vector_registers = avx512 ? 32 : 16;
    target.has_fma = has_feature(target, "fma");
  } else {
    target.vector_bits = 128;
    target.vector_registers = 32;
    target.has_fma = true;
  }
  derive_rates(target);
  const Machine machine = target.arch == host_arch() ? host_machine() : Machine{};
  target.cores = machine.cores;
  target.l1_bytes = machine.l1_bytes;
  target.l2_bytes = machine.l2_bytes;
  target.l3_bytes = machine.l3_bytes;
  target.cache_line_bytes = machine.cache_line_bytes;
}

Target detect_host() {
  Target host;
  host.arch = host_arch();
  HostCpu cpu = host_cpu();
  host.mcpu = std::move(cpu.name);
  host.mattr = std::move(cpu.features);
  host.threads = usable_threads();
  derive_facts(host);
  return host;
}

/// The features that one signed name of -mattr stands for.
std::vector<std::string> expand_feature(const std::string& signed_name) {
  if (signed_name == "+avx2") return {"+avx2", "+fma"};
  if (signed_name == "+avx512") return {"+avx512f", "+avx512bw", "+avx512cd", "+avx512dq", "+avx512vl", "+fma"};
  return {signed_name};
}

Result<std::vector<std::string>> parse_features(std::string_view text, Arch arch, std::string_view whole) {
  std::vector<std::string> features;
  std::stringstream list{std::string(text)};
  for (std::string item; std::getline(list, item, ',');) {
    if (item.size() < 2 || (item[0] != '+' && item[0] != '-'))
      return error(ErrorCode::ParseError,
                   "target '{}': feature '{}' in -mattr, allowed are names with + or - in front, such as +avx2", whole,
                   item);
    for (const std::string& feature : expand_feature(item)) {
      if (!is_known_feature(arch, feature.substr(1)))
        return error(ErrorCode::ParseError, "target '{}': unknown feature '{}' in -mattr, allowed are {}", whole,
                     feature.substr(1),
                     arch == Arch::X86_64 ? "LLVM's for x86-64, such as sse4.2, avx2, fma, f16c, avx512, avx512bf16"
                                          : "LLVM's for aarch64, such as neon, fp16, dotprod, bf16, i8mm");
      features.push_back(feature);
    }
  }
  // Later entries win in LLVM, so sorting is only right without both signs of one name; keep the last sign of each.
  std::vector<std::string> kept;
  for (auto feature = features.rbegin(); feature != features.rend(); ++feature)
    if (std::none_of(kept.begin(), kept.end(), [&](const auto& k) { return k.substr(1) == feature->substr(1); }))
      kept.push_back(*feature);
  std::sort(kept.begin(), kept.end());
  return kept;
}

/// The value of an option that is a number in 1..most.
Result<std::int64_t> parse_number(std::string_view option, std::string_view text, std::int64_t most,
                                  std::string_view whole) {
  std::int64_t number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || stop != text.data() + text.size() || number < 1 || number > most)
    return error(ErrorCode::ParseError, "target '{}': {} is '{}', allowed are 1..{}", whole, option, text, most);
  return number;
}

/// An option of a target, `-name=value`, taken apart.
struct Option {
  std::string name, value;
};

Option parse_option(const std::string& word) {
  const std::size_t equals = word.find('=');
  return {word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1)};
}

/// A limit of a GPU, its option, and what is allowed.
struct GpuOption {
  std::string_view name;
  std::int64_t GpuLimits::* field;
  std::int64_t usual, most;
};
constexpr GpuOption kGpuOptions[] = {
    {"-max-threads", &GpuLimits::max_threads, 1024, 1 << 16},
    {"-shared-bytes", &GpuLimits::shared_bytes, 48 << 10, 1 << 30},
    {"-warp", &GpuLimits::warp, 32, 1024},
    {"-registers", &GpuLimits::registers, 255, 1 << 16},
};

/// Reads the options of a GPU, the words that are left.
Result<Target> parse_gpu(std::stringstream& words, std::string_view whole) {
  Target target;
  target.arch = Arch::Gpu;
  for (const GpuOption& option : kGpuOptions) target.gpu.*option.field = option.usual;
  for (std::string word; words >> word;) {
    const Option given = parse_option(word);
    const auto* known = std::find_if(std::begin(kGpuOptions), std::end(kGpuOptions),
                                     [&](const GpuOption& option) { return option.name == given.name; });
    if (known == std::end(kGpuOptions))
      return error(ErrorCode::ParseError,
                   "target '{}': unknown option '{}', allowed are -max-threads, -shared-bytes, -warp and -registers",
                   whole, given.name);
    HONE_TRY(target.gpu.*known->field, parse_number(known->name, given.value, known->most, whole));
  }
  if (target.gpu.warp > target.gpu.max_threads)
    return error(ErrorCode::ParseError, "target '{}': -warp is {}, allowed are 1..{}, the threads of a block", whole,
                 target.gpu.warp, target.gpu.max_threads);
  return target;
}

Result<Arch> parse_arch(const std::string& word, std::string_view whole) {
  if (word == "cpu") return host_arch();
  for (const Arch arch : {Arch::X86_64, Arch::AArch64})
    if (word == to_string(arch)) return arch;
  return error(ErrorCode::ParseError, "target '{}': unknown kind '{}', allowed are cpu, x86-64, aarch64 and gpu", whole,
               word);
}

}  // namespace

std::string_view to_string(Arch arch) {
  switch (arch) {
    case Arch::X86_64:
      return "x86-64";
    case Arch::AArch64:
      return "aarch64";
    case Arch::Gpu:
      return "gpu";
  }
  HONE_CHECK(false, "an architecture without a name");
}

Result<Target> parse_target(std::string_view text) {
  std::stringstream words{std::string(text)};
  std::string word;
  words >> word;
  if (word == to_string(Arch::Gpu)) return parse_gpu(words, text);
  Target target;
  HONE_TRY(target.arch, parse_arch(word, text));
  const bool is_host_arch = target.arch == host_arch();
  target.threads = is_host_arch ? host_target().threads : 1;

  bool has_features = false;
  while (words >> word) {
    const auto [option, value] = parse_option(word);
    if (option == "-mcpu") {
      if (!is_known_cpu(target.arch, value))
        return error(ErrorCode::ParseError, "target '{}': unknown CPU '{}' in -mcpu, allowed are LLVM's, such as {}",
                     text, value,
                     target.arch == Arch::X86_64 ? "x86-64-v3, skylake-avx512, znver4" : "cortex-a76, neoverse-n1");
      target.mcpu = value;
    } else if (option == "-mattr") {
      HONE_TRY(target.mattr, parse_features(value, target.arch, text));
      has_features = true;
    } else if (option == "-threads") {
      HONE_TRY(const std::int64_t threads, parse_number(option, value, kMaxThreads, text));
      target.threads = static_cast<int>(threads);
    } else {
      return error(ErrorCode::ParseError, "target '{}': unknown option '{}', allowed are -mcpu, -mattr and -threads",
                   text, option);
    }
  }
  if (target.mcpu.empty()) {
    const bool is_host = is_host_arch && !has_features;
    target.mcpu = is_host ? host_target().mcpu : target.arch == Arch::X86_64 ? "x86-64" : "generic";
    if (is_host) target.mattr = host_target().mattr;
  }
  derive_facts(target);
  return target;
}

std::string to_string(const Target& target) {
  if (target.is_gpu()) {
    std::string text(to_string(target.arch));
    for (const GpuOption& option : kGpuOptions) text += fmt::format(" {}={}", option.name, target.gpu.*option.field);
    return text;
  }
  std::string text = target.arch == host_arch() ? "cpu" : std::string(to_string(target.arch));
  text += " -mcpu=" + target.mcpu;
  if (!target.mattr.empty()) text += " -mattr=" + feature_string(target);
  return text + " -threads=" + std::to_string(target.threads);
}

const std::string& host_cpu_name() { return host_machine().cpu_name; }

const Target& host_target() {
  static const Target host = detect_host();
  return host;
}

}  // namespace hone::codegen
