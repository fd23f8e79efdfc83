#include "hone/measure/records/record_queue.h"

#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace hone::measure {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Record record(int number) {
  Record made;
  made.task = {"0123-1", "0123", "func f() {\n}", {{number}}, {}};
  made.target = "cpu";
  made.candidate = std::to_string(number);
  made.trace = "[\"" + std::string(2000, 'x') + "\"]";  // a few of them are more than the limit below
  made.status = TrialStatus::Ok;
  made.samples_ns = {1};
  return made;
}

/// While it lives, no file of this process may grow beyond some bytes: what a full disk is like.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit small = old_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

TEST(RecordQueue, WhatAFullDiskHoldsBackIsStoredOnceThereIsRoom) {
  const fs::path file = fs::temp_directory_path() / ("hone-queue-" + std::to_string(getpid()) + ".db");
  {
    Records records = Records::open(file.string()).value();
    RecordQueue queue(&records);
    constexpr int kCount = 100;
    {
      const FullDisk full(200'000);
      for (int i = 0; i < kCount; ++i) queue.insert(record(i));
      EXPECT_GT(queue.held_back(), 0u) << "the disk was never full";
      EXPECT_LT(records.count().value(), kCount);
      EXPECT_THAT(queue.problem(), HasSubstr("cannot be written: disk I/O error; the disk may be full"));
      EXPECT_THAT(queue.problem(), HasSubstr(file.string()));
    }
    queue.flush();
    EXPECT_EQ(queue.held_back(), 0u);
    EXPECT_EQ(queue.problem(), "");
    const std::vector<Record> found = records.find({}).value();
    ASSERT_EQ(found.size(), static_cast<std::size_t>(kCount));
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)].candidate, std::to_string(i));
  }
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file.string() + suffix);
}

TEST(RecordQueue, WithoutRecordsNothingIsKept) {
  RecordQueue queue(nullptr);
  queue.insert(record(1));
  EXPECT_EQ(queue.held_back(), 0u);
  EXPECT_EQ(queue.problem(), "");
}

}  // namespace
}  // namespace hone::measure
