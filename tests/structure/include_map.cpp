#include "include_map.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace hone::structure {
namespace {

struct Include {
  int line;
  std::string target;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The pieces of `text` that stand between backquotes.
std::vector<std::string> quoted_pieces(const std::string& text) {
  std::vector<std::string> pieces;
  for (std::size_t open = text.find('`'); open != std::string::npos;) {
    const std::size_t close = text.find('`', open + 1);
    if (close == std::string::npos) break;
    pieces.push_back(text.substr(open + 1, close - open - 1));
    open = text.find('`', close + 1);
  }
  return pieces;
}

/// The cells of a row of a Markdown table; none if the line is not such a row.
std::vector<std::string> table_cells(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with("| ")) return cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
  return cells;
}

std::set<std::string> words_of(const std::string& cell) {
  std::set<std::string> words;
  std::string word;
  for (const char c : cell + " ")
    if ((c >= 'a' && c <= 'z') || c == '_') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, ""));
    }
  return words;
}

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> includes;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("<\"", word);
    const std::size_t close = open == std::string::npos ? open : line.find_first_of(">\"", open + 1);
    if (close != std::string::npos) includes.push_back({number, line.substr(open + 1, close - open - 1)});
  }
  return includes;
}

/// `ir` for `ir/expr.h`, nothing for a file that stands in `src/hone/` itself.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// Whether a file is part of a unit test's program alone.
bool is_test_file(const std::string& path) { return path.ends_with("_test.cpp") || path.ends_with("_test.h"); }

std::string join(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// The home of the foreign header `target`, or nothing if it is at home everywhere.
std::string foreign_home(const Rules& rules, const std::string& target) {
  for (const auto& [prefix, home] : rules.foreign_home)
    if (target.starts_with(prefix)) return home;
  return "";
}

/// The headers that show foreign headers to whoever includes them, each with the only folder that may.
std::map<std::string, std::string> private_headers(const Rules& rules, const std::vector<Source>& sources) {
  std::map<std::string, std::string> home_of;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Source& source : sources) {
      if (!source.path.ends_with(".h") || home_of.contains(source.path)) continue;
      for (const Include& include : includes_of(source.text)) {
        std::string home = foreign_home(rules, include.target);
        if (home.empty() && include.target.starts_with("hone/")) {
          const auto found = home_of.find(include.target.substr(5));
          if (found != home_of.end()) home = found->second;
        }
        if (home.empty()) continue;
        home_of[source.path] = home;
        grown = true;
        break;
      }
    }
  }
  return home_of;
}

}  // namespace

Rules read_rules(const std::string& markdown) {
  Rules rules;
  for (const std::string& line : lines_of(markdown)) {
    const std::vector<std::string> cells = table_cells(line);
    if (cells.size() < 2 || !cells.front().starts_with(" `")) continue;
    const std::vector<std::string> names = quoted_pieces(cells.front());
    if (names.empty()) continue;
    if (names.front().starts_with("<")) {
      const std::vector<std::string> homes = quoted_pieces(cells[1]);
      if (homes.empty()) throw std::runtime_error("ARCHITECTURE.md: no home for the headers " + names.front());
      for (const std::string& name : names) rules.foreign_home[name.substr(1)] = homes.front();
    } else if (names.front().ends_with("/") && cells.size() >= 3) {
      rules.may_include[names.front().substr(0, names.front().size() - 1)] = words_of(cells[2]);
    }
  }
  return rules;
}

std::set<std::string> reachable_folders(const Rules& rules, const std::string& folder) {
  std::set<std::string> reached = {folder, "support"};
  std::vector<std::string> open = {folder};
  while (!open.empty()) {
    const auto row = rules.may_include.find(open.back());
    open.pop_back();
    if (row == rules.may_include.end()) continue;
    for (const std::string& next : row->second)
      if (reached.insert(next).second) open.push_back(next);
  }
  return reached;
}

std::vector<std::string> wrong_includes(const Rules& rules, const std::vector<Source>& sources) {
  const std::map<std::string, std::string> private_home = private_headers(rules, sources);
  std::set<std::string> top_headers;
  for (const Source& source : sources)
    if (folder_of(source.path).empty()) top_headers.insert(source.path);

  std::vector<std::string> wrong;
  for (const Source& source : sources) {
    const std::string folder = folder_of(source.path);
    if (!folder.empty() && !rules.may_include.contains(folder)) {
      wrong.push_back(source.path + ": folder '" + folder + "' has no row in the map of ARCHITECTURE.md");
      continue;
    }
    const bool is_test = is_test_file(source.path);
    const bool is_free = folder.empty() || is_test;
    const std::set<std::string> allowed = reachable_folders(rules, folder);
    for (const Include& include : includes_of(source.text)) {
      const std::string where = source.path + ":" + std::to_string(include.line) + ": \"" + include.target + "\": ";
      const std::string home = foreign_home(rules, include.target);
      if (!home.empty() && !source.path.starts_with(home)) wrong.push_back(where + "this header stays inside " + home);
      if (!include.target.starts_with("hone/")) continue;

      const std::string target = include.target.substr(5);
      const std::string target_folder = folder_of(target);
      if (!is_free && !target_folder.empty() && !allowed.contains(target_folder))
        wrong.push_back(where + folder + " may include " + join(allowed) + ", not " + target_folder);
      if (!is_free && top_headers.contains(target))
        wrong.push_back(where + "a folder does not include what stands above all folders");
      if (!is_test && is_test_file(target)) wrong.push_back(where + "only tests include what belongs to tests");
      const auto hidden = private_home.find(target);
      if (hidden != private_home.end() && !source.path.starts_with(hidden->second))
        wrong.push_back(where + "it shows foreign headers that stay inside " + hidden->second);
    }
  }
  return wrong;
}

std::string repository_file(const std::string& path) {
  std::ifstream file(std::filesystem::path(HONE_SOURCE_DIR) / path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Source> repository_sources() {
  const std::filesystem::path root = std::filesystem::path(HONE_SOURCE_DIR) / "src/hone";
  std::vector<Source> sources;
  if (!std::filesystem::exists(root)) return sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
    sources.push_back({path, repository_file("src/hone/" + path)});
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

}  // namespace hone::structure
