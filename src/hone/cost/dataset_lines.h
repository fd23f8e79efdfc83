/// The lines of a data set's file: writing and reading them.
#pragma once

#include <string>
#include <string_view>

#include "hone/cost/dataset.h"

namespace hone::cost {

/// What a program took on a target; kFailed with the reason if it failed.
struct Label {
  std::size_t program = 0, target = 0;
  double seconds = 0;
  std::string reason = {};
};

std::string line_of(const DatasetTask& task);
std::string line_of(const DatasetProgram& program);
std::string line_of(const Label& label);

/// The lines of a file, and whether they were compressed in it.
struct DatasetText {
  std::string lines;
  bool is_compressed = false;
};
Result<DatasetText> read_dataset_text(const std::filesystem::path& file);

/// Reads lines; what stands behind the last newline was cut off and does not count. `file` is for messages.
Result<Dataset> parse_dataset(std::string_view lines, const std::string& file);

}  // namespace hone::cost
