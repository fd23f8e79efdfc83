// hone targets: what models can be compiled for.
#include <CLI/App.hpp>
#include <fmt/format.h>

#include "command.h"
#include "describe.h"

#include "hone/codegen/target.h"

namespace hone::command {

Action add_targets(CLI::App& /*parser*/) {
  return []() -> Result<void> {
    const codegen::Target& host = codegen::host_target();
    fmt::print("{}\n", codegen::to_string(host));
    fmt::print("  this machine: {}, {} cores, vectors of {} bits{}, caches of {}, {} and {}\n", to_string(host.arch),
               host.cores, host.vector_bits, host.has_fma ? " with multiply-add" : "",
               bytes_text(static_cast<double>(host.l1_bytes)), bytes_text(static_cast<double>(host.l2_bytes)),
               bytes_text(static_cast<double>(host.l3_bytes)));
    fmt::print(
        "cpu [-mcpu=CPU] [-mattr=+FEATURE,-FEATURE…] [-threads=N]\n"
        "  the same architecture with other features, such as 'cpu -mcpu=x86-64-v3' (AVX2) or 'cpu -mattr=+avx512'\n");
    return {};
  };
}

}  // namespace hone::command
