/// A kernel as people read it: the steps that make it, its program, and its machine code.
#pragma once

#include <string>
#include <vector>

#include "hone/space/space.h"

namespace hone {

/// See above.
struct KernelText {
  std::string candidate;           ///< as JSON
  std::vector<std::string> steps;  ///< of its trace, one a line
  std::string program;             ///< as IR text, without what packs constants ahead of time
  std::string assembly;            ///< labels and instructions; no directives
};

/// Builds and compiles a candidate, and shows it. Texts of more than `most_bytes` are cut: of a program the beginning
/// is kept, of assembly the part with the most multiply-adds; a line says what is missing.
Result<KernelText> kernel_text(const space::Space& space, const space::Candidate& candidate,
                               const codegen::Target& target, std::size_t most_bytes);

/// The lines of a text from the first on, as many as fit into so many bytes, and a line about the rest.
std::string keep_beginning(const std::string& text, std::size_t most_bytes);
/// The same for assembly: the lines with the most vector arithmetic are kept.
std::string keep_hottest(const std::string& assembly, std::size_t most_bytes);

}  // namespace hone
