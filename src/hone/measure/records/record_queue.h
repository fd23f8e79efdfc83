/// Records on their way to a file that may not take them for the moment.
///
///     measure::RecordQueue queue(&records);
///     queue.insert(record);                                   // stored, or held back
///     queue.flush();                                          // once more, for those held back
///     if (!queue.problem().empty()) warn(queue.problem());    // some could not be stored to the end
#pragma once

#include <chrono>
#include <deque>
#include <string>

#include "hone/measure/records/records.h"

namespace hone::measure {

/// Stores records in their order. Where that fails (a full disk, a file that somebody keeps locked), they are held back
/// in memory, and tried again with those that follow, but not so often that it would take much of the time.
class RecordQueue {
 public:
  /// Without records nothing is kept.
  explicit RecordQueue(Records* records) : records_(records) {}

  void insert(Record record);
  /// Tries at once to store what is held back.
  void flush();

  std::size_t held_back() const { return waiting_.size(); }
  /// Why records are held back; empty if none are.
  const std::string& problem() const { return problem_; }

 private:
  using Clock = std::chrono::steady_clock;

  Records* records_;
  std::deque<Record> waiting_;
  std::string problem_;
  Clock::time_point next_attempt_ = {};
};

}  // namespace hone::measure
