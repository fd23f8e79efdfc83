#include "hone/kernel_text.h"

#include <fmt/format.h>
#include <string_view>

#include "hone/codegen/compile.h"
#include "hone/ir/text.h"
#include "hone/schedule/prepack.h"
#include "hone/space/candidate.h"

namespace hone {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Directives are for assemblers; labels begin in the first column.
bool is_directive(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos || (begin > 0 && line[begin] == '.') || line.starts_with("#") ||
         (line.starts_with(".") && !line.starts_with(".L"));
}

std::string without_directives(std::string_view assembly) {
  std::string kept;
  for (const std::string_view line : lines_of(assembly))
    if (!is_directive(line)) kept += line;
  return kept;
}

/// What the inner loops of kernels consist of, on x86-64 and AArch64.
bool is_arithmetic(std::string_view line) {
  for (const char* mnemonic : {"fmadd", "fmla", "mulps", "mulpd", "addps", "addpd", "maxps", "fmul", "fadd"})
    if (line.find(mnemonic) != std::string_view::npos) return true;
  return false;
}

std::string about_rest(std::size_t lines, const char* where) {
  return lines == 0 ? "" : fmt::format("… {} lines {} are left out\n", lines, where);
}

}  // namespace

std::string keep_beginning(const std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::string kept;
  const std::vector<std::string_view> lines = lines_of(text);
  std::size_t count = 0;
  while (count < lines.size() && kept.size() + lines[count].size() <= most_bytes) kept += lines[count++];
  return kept + about_rest(lines.size() - count, "below");
}

std::string keep_hottest(const std::string& assembly, std::size_t most_bytes) {
  if (assembly.size() <= most_bytes) return assembly;
  const std::vector<std::string_view> lines = lines_of(assembly);
  // A window slides over the lines: [begin, end) always fits.
  std::size_t bytes = 0, begin = 0, hot = 0, best = 0, best_begin = 0, best_end = 0;
  for (std::size_t end = 0; end < lines.size(); ++end) {
    bytes += lines[end].size();
    hot += is_arithmetic(lines[end]) ? 1 : 0;
    for (; bytes > most_bytes && begin <= end; ++begin) {
      bytes -= lines[begin].size();
      hot -= is_arithmetic(lines[begin]) ? 1 : 0;
    }
    if (hot > best || best_end == 0) {
      best = hot;
      best_begin = begin;
      best_end = end + 1;
    }
  }
  std::string kept = about_rest(best_begin, "above");
  for (std::size_t i = best_begin; i < best_end; ++i) kept += lines[i];
  return kept + about_rest(lines.size() - best_end, "below");
}

Result<KernelText> kernel_text(const space::Space& space, const space::Candidate& candidate,
                               const codegen::Target& target, std::size_t most_bytes) {
  HONE_TRY(const schedule::Schedule built, space.build(candidate));
  const schedule::KernelProgram program = schedule::split_packing(built.program());
  HONE_TRY(const std::string assembly, codegen::emit_assembly(ir::Module{{program.main}}, target));
  KernelText text{.candidate = space::to_json(space, candidate),
                  .program = keep_beginning(ir::to_text(program.main), most_bytes),
                  .assembly = keep_hottest(without_directives(assembly), most_bytes)};
  for (const schedule::Step& step : built.trace()) text.steps.push_back(schedule::to_text(step));
  return text;
}

}  // namespace hone
