/// What tuning found earlier: which candidate a task is compiled to.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "hone/first_choice.h"
#include "hone/search/reuse.h"

namespace hone {

using search::Origin;

/// A candidate of the space that it was found in.
struct Chosen {
  std::unique_ptr<space::Space> space;
  space::Candidate candidate;
  Origin origin = Origin::Default;
  std::optional<measure::Record> record = {};  ///< what says so; nothing for the default
};

/// The candidate that needs no measurement: what a session compiles as long as nothing is known from tuning.
Chosen default_choice(const space::Task& task, const codegen::Target& target, const FirstChoice& first = FirstChoice());

/// A candidate as it is stored. An error if its space has no such one.
Result<Chosen> parse_choice(const std::string& candidate, const space::Task& task, const codegen::Target& target);

/// Looks candidates up in a file of records, which is opened with the first question. Without a file, or where it
/// cannot be read, which is warned about once, everything is as before any tuning. Thread-safe.
class Tuned {
 public:
  /// `file` may be empty: no records.
  explicit Tuned(std::string file, FirstChoice first = FirstChoice())
      : file_(std::move(file)), first_(std::move(first)) {}

  /// The candidate that tuning settled on for the task; else that of a task like it (see reuse.h); else the first
  /// choice.
  Chosen choose(const space::Task& task, const codegen::Target& target);
  const FirstChoice& first_choice() const { return first_; }

 private:
  std::optional<Chosen> find(const space::Task& task, const codegen::Target& target);

  std::mutex mutex_;
  std::string file_;
  bool is_opened_ = false, has_warned_ = false;
  std::optional<measure::Records> records_;
  FirstChoice first_;
};

}  // namespace hone
