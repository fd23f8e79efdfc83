// The rules of ARCHITECTURE.md about who may include whom, read from its tables and checked against sources.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace hone::structure {

/// A file below `src/hone/`, with its path from there: `ir/expr.h`.
struct Source {
  std::string path;
  std::string text;
};

/// What ARCHITECTURE.md allows.
struct Rules {
  /// For each folder the folders that its row names, not yet what those may include.
  std::map<std::string, std::set<std::string>> may_include;
  /// For each prefix of foreign headers (`llvm/`) the one folder that may include them (`codegen/llvm/`).
  std::map<std::string, std::string> foreign_home;
};

/// Reads the two tables of ARCHITECTURE.md: rows of `folder/` and rows of `<prefix`.
Rules read_rules(const std::string& markdown);

/// The folders that files of `folder` may include: its own, `support`, and all that its row leads to.
std::set<std::string> reachable_folders(const Rules& rules, const std::string& folder);

/// Names every include that points the wrong way, one message each, in the order of the sources.
///
/// Unit tests (`*_test.cpp`, and `*_test.h`, which nobody else may include) may include any folder of hone: the linker
/// knows which ones their program is given.
std::vector<std::string> wrong_includes(const Rules& rules, const std::vector<Source>& sources);

/// Every header and source below `src/hone/` of the repository, sorted by path.
std::vector<Source> repository_sources();

/// The content of a file of the repository, named from its root.
std::string repository_file(const std::string& path);

}  // namespace hone::structure
