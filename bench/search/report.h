/// What a comparison found, as a table for people, JSON lines for machines, and a section of docs/results/search.md.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "hone/support/result.h"

namespace hone::bench {

struct Report {
  std::string claim;                           ///< "throughput": what --claims calls it
  std::string title;                           ///< the heading of its section
  std::string how;                             ///< what was done, in a few sentences
  std::vector<std::string> columns;            ///< the first names the task
  std::vector<std::vector<std::string>> rows;  ///< as many cells as columns
  std::vector<std::string> results;            ///< what is held against a bar, one sentence each
};

/// The table to stderr, and each row and result as a JSON line to stdout.
void print(const Report& report);

/// Replaces the section of the report in a file of Markdown, or adds it at the end. `command` made it.
Result<void> write_section(const Report& report, const std::filesystem::path& file, const std::string& command);

/// Rows that earlier runs found, by their first cell: a file of JSON lines, first how they are found, then each row.
class RowFile {
 public:
  /// What rows depend on, by name.
  using Conditions = std::map<std::string, std::string>;

  /// Reads a file, or begins it; without a name, rows are kept in memory alone. Refuses a file whose rows were found
  /// under other conditions; files of old do not say. Lines that are no rows of so many cells are left out.
  static Result<RowFile> open(const std::string& file, const Conditions& conditions, std::size_t cells);

  /// Null if there is none.
  const std::vector<std::string>* find(const std::string& name) const;
  /// Keeps a row; it is in the file at once.
  Result<void> add(std::vector<std::string> row);

 private:
  std::string file_;
  std::ofstream out_;
  std::map<std::string, std::vector<std::string>> rows_;
};

/// What a cell of a row says, which may come from a file.
Result<double> number_in(const std::vector<std::string>& row, std::size_t cell);

/// The mean of ratios.
double geometric_mean(const std::vector<double>& ratios);

}  // namespace hone::bench
