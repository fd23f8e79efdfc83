#include "hone/measure/records/record_queue.h"

namespace hone::measure {
namespace {

/// After a failure it waits so long, and so many times as long as the failure took: another process that keeps the
/// file locked costs seconds each time.
constexpr std::chrono::milliseconds kPause(500);
constexpr int kPauseFactor = 10;

}  // namespace

void RecordQueue::insert(Record record) {
  if (!records_) return;
  complete(record);  // so that it is the same record, of this moment, however often it is tried
  waiting_.push_back(std::move(record));
  if (problem_.empty() || Clock::now() >= next_attempt_) flush();
}

void RecordQueue::flush() {
  while (!waiting_.empty()) {
    const Clock::time_point begin = Clock::now();
    if (const Result<void> stored = records_->insert(waiting_.front()); !stored) {
      problem_ = stored.error().message;
      const Clock::time_point end = Clock::now();
      next_attempt_ = end + kPause + kPauseFactor * (end - begin);
      return;
    }
    waiting_.pop_front();
  }
  problem_.clear();
}

}  // namespace hone::measure
