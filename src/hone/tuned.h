/// What tuning found earlier: which candidate a task is compiled to.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "hone/measure/records/records.h"
#include "hone/space/space.h"

namespace hone {

/// How a candidate was come by.
enum class Origin {
  Default,  ///< by rules: nothing was measured
  Exact,    ///< tuned for this task
  Nearest,  ///< tuned for a task that differs in sizes alone
};

/// "default", "tuned" or "nearest".
std::string_view to_string(Origin origin);

/// A candidate of the space that it was found in.
struct Chosen {
  std::unique_ptr<space::Space> space;
  space::Candidate candidate;
  Origin origin = Origin::Default;
  std::optional<measure::Record> record = {};  ///< what says so; nothing for the default
};

/// The candidate that needs no measurement.
Chosen default_choice(const space::Task& task, const codegen::Target& target);

/// Looks candidates up in a file of records, which is opened with the first question. Without a file, or with one that
/// cannot be read, everything is as before any tuning. Thread-safe.
class Tuned {
 public:
  /// `file` may be empty: no records.
  explicit Tuned(std::string file) : file_(std::move(file)) {}

  /// The candidate that tuning settled on for the task; else the one of the nearest shape; else the default.
  Chosen choose(const space::Task& task, const codegen::Target& target);

 private:
  std::optional<Chosen> find(const space::Task& task, const codegen::Target& target);

  std::mutex mutex_;
  std::string file_;
  bool is_opened_ = false;
  std::optional<measure::Records> records_;
};

}  // namespace hone
