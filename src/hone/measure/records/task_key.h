/// The key under which the records of a task are stored and found again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/ir/stmt.h"

namespace hone::measure {

/// Says which task a record belongs to. It depends on what is computed alone, not on names, models or versions of hone.
struct TaskKey {
  std::string key;     ///< equal for equal naive programs with the same constant parameters
  std::string family;  ///< equal for tasks that differ at most in sizes: extents, strides, paddings
  std::string text;    ///< the naive program, for people and for training
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the parameters: what tells tasks of a family apart
  std::vector<std::size_t> constants;             ///< parameters that never change between runs

  bool operator==(const TaskKey&) const = default;
};

TaskKey task_key(const ir::Function& naive, std::span<const std::size_t> constants);

}  // namespace hone::measure
