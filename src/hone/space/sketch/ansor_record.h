/// A line of Ansor's logs: a workload, the steps of one of its programs, and what measuring it gave.
///
///     {"i": [[workload, target, [hardware], host, layout_rewrite, [inputs]], [[], [steps]]],
///      "r": [[seconds], error, seconds in all, time], "v": "v0.6"}
///
/// Older lines have only the first two fields of the task.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/space/sketch/ansor_import.h"

namespace hone::space::ansor {

struct Record {
  std::string workload;  ///< JSON: a name or hash, then the sizes of its tensors or whatever the name needs
  std::string target;
  Ids hardware;  ///< eight numbers, or none if the line had none; the others below are then not written either
  std::string host = {};
  LayoutRewrite rewrite = LayoutRewrite::None;
  std::vector<std::string> inputs = {};
  Steps steps;

  std::vector<double> costs_s;
  std::int64_t error = 0;  ///< 0: none
  double all_cost_s = 0;   ///< compiling included
  std::int64_t time_s = 0;
  std::string version = "v0.6";

  bool operator==(const Record&) const = default;
};

/// What stands as the cost of a failure.
inline constexpr double kFailedCost = 1e10;

/// Reads and writes a line. An error names what was found and what is expected.
Result<Record> parse_record(std::string_view line);
std::string to_json(const Record& record);

/// What a workload begins with: its name or hash; empty if it is no list that begins with a text.
std::string name_of(std::string_view workload);
/// All numbers of a workload in their order, those in lists too.
Ids numbers_of(std::string_view workload);

}  // namespace hone::space::ansor
