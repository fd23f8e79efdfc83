#include "passes.h"

#include "hone/codegen/compact_buffers.h"
#include "hone/codegen/hoist_inits.h"
#include "hone/codegen/lower.h"
#include "hone/ir/simplify.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"

namespace hone::golden {

namespace {

using ir::Function;

/// Reads a function, runs a pass on it and prints what comes out; what goes in and comes out must verify.
template <typename Run>
Result<std::string> on_function(std::string_view input, Run run) {
  HONE_TRY(const Function before, ir::parse_function(input));
  HONE_TRY(ir::verify(before));
  HONE_TRY(const Function after, run(before));
  HONE_TRY(ir::verify(after, ir::Names::InScope));
  return ir::to_text(after);
}

Result<std::string> roundtrip(std::string_view input) {
  return on_function(input, [](const Function& f) -> Result<Function> { return f; });
}

Result<std::string> simplify(std::string_view input) {
  return on_function(
      input, [](const Function& f) -> Result<Function> { return Function{f.name, f.params, ir::simplify(f.body)}; });
}

Result<std::string> compact_buffers(std::string_view input) {
  return on_function(input, [](const Function& f) -> Result<Function> { return codegen::compact_buffers(f); });
}

Result<std::string> hoist_inits(std::string_view input) {
  return on_function(input, [](const Function& f) -> Result<Function> { return codegen::hoist_inits(f); });
}

/// The whole lowering, for a machine with vectors of 512 bits.
Result<std::string> lower(std::string_view input) {
  codegen::Target target;
  target.vector_bits = 512;
  return on_function(input, [&](const Function& f) { return codegen::lower(f, target); });
}

constexpr Pass kPasses[] = {
    {"compact_buffers", compact_buffers},
    {"hoist_inits", hoist_inits},
    {"lower", lower},
    {"roundtrip", roundtrip},
    {"simplify", simplify},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

}  // namespace hone::golden
