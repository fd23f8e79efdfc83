#include "hone/search/reuse.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::search {
namespace {

class ReuseTest : public ::testing::Test {
 protected:
  ~ReuseTest() override {
    for (const char* suffix : {"", "-wal", "-shm", ".other", ".other-wal", ".other-shm"})
      std::filesystem::remove(file_ + suffix);
  }

  static space::Task product(std::int64_t m, std::int64_t n, std::int64_t k) {
    const tensor::Tensor a = tensor::placeholder("a", {m, k}), b = tensor::placeholder("b", {k, n});
    return {{{"direct", tensor::lower("product", {a, b}, {*tensor::matmul(a, b)})}}, {1}};
  }

  /// Records that a candidate of the mapping space, by its number, was adopted for a task.
  std::string adopt(const space::Task& task, std::uint64_t number, double ns) {
    const auto space = space::make_space("mapping", task, target_).value();
    return adopt(task, space::to_json(*space, space::candidate_at(*space, number)), ns);
  }
  std::string adopt(const space::Task& task, const std::string& candidate, double ns) {
    measure::Record record;
    record.task = measure::task_key(task.naive(), task.constants);
    record.target = codegen::to_string(target_);
    record.candidate = candidate;
    record.status = measure::TrialStatus::Ok;
    record.samples_ns = {ns};
    record.is_checked = true;
    record.tags = measure::adopted_tags({});
    EXPECT_TRUE(records_.insert(record));
    return record.candidate;
  }

  /// How a candidate for the task is come by, and what it is.
  std::pair<Origin, std::string> reused(const space::Task& task) const {
    const std::optional<Reused> found = find_reusable(records_, task, target_).value();
    if (!found) return {Origin::Default, ""};
    EXPECT_TRUE(found->space->build(found->candidate));
    return {found->origin, space::to_json(*found->space, found->candidate)};
  }

  const std::string file_ =
      (std::filesystem::temp_directory_path() / ("hone-reuse-" + std::to_string(getpid()) + ".db")).string();
  measure::Records records_ = measure::Records::open(file_).value();
  codegen::Target target_ = codegen::parse_target("cpu -threads=1").value();
};

TEST_F(ReuseTest, TheSameTaskComesFirst) {
  EXPECT_EQ(reused(product(16, 64, 32)).first, Origin::Default);
  const std::string own = adopt(product(16, 64, 32), 5, 100);
  adopt(product(8, 64, 32), 3, 1);
  EXPECT_EQ(reused(product(16, 64, 32)), std::pair(Origin::Exact, own));
}

TEST_F(ReuseTest, ThenTheCompatibleTaskWhoseScaledTimeIsLeast) {
  // twice the rows: they stand in a and in the result, so times count four times
  const std::string half = adopt(product(16, 64, 32), 5, 100);
  EXPECT_EQ(reused(product(32, 64, 32)), std::pair(Origin::Compatible, half));
  adopt(product(8, 64, 32), 3, 50);  // four times the rows: times count sixteen times
  EXPECT_EQ(reused(product(32, 64, 32)), std::pair(Origin::Compatible, half));
  const std::string quarter = adopt(product(8, 64, 32), 4, 10);
  EXPECT_EQ(reused(product(32, 64, 32)), std::pair(Origin::Compatible, quarter));
}

TEST_F(ReuseTest, ThenTheNearestTaskRefitted) {
  adopt(product(16, 64, 32), 5, 100);
  EXPECT_EQ(reused(product(8, 64, 32)).first, Origin::Nearest) << "a larger task is not compatible";
  EXPECT_EQ(reused(product(17, 64, 32)).first, Origin::Nearest);
}

TEST_F(ReuseTest, WhatIsNoCandidateAnyMoreIsFitted) {
  const space::Task task = product(16, 64, 32);
  const auto space = space::make_space("mapping", task, target_).value();
  nlohmann::json candidate = nlohmann::json::parse(space::to_json(*space, space::candidate_at(*space, 5)));
  for (nlohmann::json& values : candidate["decisions"]) values[0] = values[0].get<int>() + 1000;
  ASSERT_FALSE(space::parse_candidate(*space, candidate.dump()));
  adopt(task, candidate.dump(), 100);
  EXPECT_EQ(reused(task).first, Origin::Nearest);
}

TEST_F(ReuseTest, AndNothingFromTasksThatAreFarAwayOrOfAnotherTarget) {
  adopt(product(16, 64, 32), 5, 100);
  EXPECT_EQ(reused(product(16, 1024, 512)).first, Origin::Default);
  EXPECT_EQ(reused(product(16, 1000, 333)).first, Origin::Default);
  target_.threads = 7;
  EXPECT_EQ(reused(product(16, 64, 32)).first, Origin::Default);
}

TEST_F(ReuseTest, DamagedRecordsAreAnError) {
  const space::Task task = product(16, 64, 32);
  adopt(task, 5, 100);
  records_ = measure::Records::open(file_ + ".other").value();  // closing the file brings all of it to its place
  constexpr std::uintmax_t kPage = 4096;                        // the first one says what tables there are
  const std::uintmax_t size = std::filesystem::file_size(file_);
  std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(kPage);
  file << std::string(size - kPage, '\xff');
  file.close();
  const auto damaged = measure::Records::open(file_, measure::Records::Mode::ReadOnly);
  ASSERT_TRUE(damaged) << damaged.error().message;
  const Result<std::optional<Reused>> found = find_reusable(*damaged, task, target_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::ParseError);
  EXPECT_NE(found.error().message.find(file_), std::string::npos) << found.error().message;
}

TEST_F(ReuseTest, OriginsHaveNames) {
  EXPECT_EQ(to_string(Origin::Exact), "tuned");
  EXPECT_EQ(to_string(Origin::Compatible), "compatible");
  EXPECT_EQ(to_string(Origin::Nearest), "nearest");
  EXPECT_EQ(to_string(Origin::Predicted), "predicted");
  EXPECT_EQ(to_string(Origin::Default), "default");
}

}  // namespace
}  // namespace hone::search
