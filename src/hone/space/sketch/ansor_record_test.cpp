#include "hone/space/sketch/ansor_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::space::ansor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kLine =
    R"({"i":[["[\"12b88bedece6984a\", [1, 512], [512, 64]]","llvm -keys=cpu -mcpu=core-avx2",[16,64,64,0,0,0,0,0],"",2,)"
    R"(["w"]],[[],[["CHW",2,"local"],["SP",2,0,512,[1,64,8],1]]]],"r":[[0.00198047,0.0019683],0,0.130737,1714270206],)"
    R"("v":"v0.6"})";

TEST(AnsorRecord, ALineIsReadAndWritten) {
  const Result<Record> record = parse_record(kLine);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->target, "llvm -keys=cpu -mcpu=core-avx2");
  EXPECT_THAT(record->hardware, ElementsAre(16, 64, 64, 0, 0, 0, 0, 0));
  EXPECT_EQ(record->rewrite, LayoutRewrite::PreTransformed);
  EXPECT_THAT(record->inputs, ElementsAre("w"));
  EXPECT_EQ(record->steps.size(), 2);
  EXPECT_THAT(record->costs_s, ElementsAre(0.00198047, 0.0019683));
  EXPECT_EQ(record->time_s, 1714270206);
  EXPECT_EQ(to_json(*record), kLine);
  EXPECT_EQ(name_of(record->workload), "12b88bedece6984a");
  EXPECT_THAT(numbers_of(record->workload), ElementsAre(1, 512, 512, 64));
}

TEST(AnsorRecord, OldLinesHaveLess) {
  const char* line =
      R"({"i":[["[\"matmul\", 512, 512]","cuda"],[[],[]]],"r":[[1e10],4,2.49277,1585564852],"v":"v0.1"})";
  const Result<Record> record = parse_record(line);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_THAT(record->hardware, IsEmpty());
  EXPECT_EQ(record->error, 4);
  EXPECT_EQ(parse_record(to_json(*record)).value(), *record);
  EXPECT_EQ(parse_record(to_json(*record)).value().version, "v0.1");
}

TEST(AnsorRecord, WhatIsWrongIsNamed) {
  const auto message = [](std::string_view line) {
    const Result<Record> record = parse_record(line);
    return record ? "none" : record.error().message;
  };
  EXPECT_EQ(message("{\"i\": [["), "ansor: the line is no JSON object with 'i' and 'r'");
  EXPECT_EQ(message(R"({"i":[1],"r":[]})"), "ansor: 'i' is [1], expected the task and [[], [steps]]");
  EXPECT_THAT(message(R"({"i":[["w"],[[],[]]],"r":[]})"), HasSubstr("the task is [\"w\"], expected"));
  EXPECT_THAT(message(R"({"i":[["w",7],[[],[]]],"r":[]})"), HasSubstr("the target is 7, expected a text"));
  EXPECT_THAT(message(R"({"i":[["w","t",[],"",5],[[],[]]],"r":[]})"),
              HasSubstr("layout rewrite is 5, expected 0, 1 or 2"));
  EXPECT_THAT(message(R"({"i":[["w","t"],[[],[["NO"]]]],"r":[]})"), HasSubstr("step 0 is of the kind 'NO'"));
  EXPECT_THAT(message(R"({"i":[["w","t"],[[],[]]],"r":[1]})"), HasSubstr("the result is [1], expected a list of four"));
  EXPECT_THAT(message(R"({"i":[["w","t"],[[],[]]],"r":[["x"],0,0,0]})"),
              HasSubstr("the list of costs is [\"x\"], expected"));
  EXPECT_EQ(name_of("no JSON"), "");
  EXPECT_THAT(numbers_of("no JSON"), IsEmpty());
}

}  // namespace
}  // namespace hone::space::ansor
