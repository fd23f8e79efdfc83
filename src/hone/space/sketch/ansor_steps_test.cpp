#include "hone/space/sketch/ansor_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::space::ansor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// All fourteen kinds.
constexpr const char* kAllKinds =
    R"([["CHW",2,"local"],["SP",2,0,512,[1,64,8],1],["RE",2,[0,2,1]],["FSP",3,0,1,2],["FFSP",3,0,[1,2],1,1],)"
    R"(["CA",2,3,3],["FU",3,[0,1,2]],["AN",3,0,3],["PR",2,0,"auto_unroll_max_step$64"],["CI",1],["CR",1],)"
    R"(["CHR",0,"shared",[2,3]],["RF",4,2,0],["SA",2,1,4,1],["FU",0,[]]])";

TEST(AnsorSteps, EveryKindIsReadAndWritten) {
  const Steps steps = parse_steps(kAllKinds).value();
  ASSERT_EQ(steps.size(), 15);
  EXPECT_EQ(to_json(steps), kAllKinds);
  EXPECT_EQ(steps[1], (Step{Split{2, 0, 512, {1, 64, 8}, 1}}));
  EXPECT_EQ(parse_steps(R"([["SP",2,0,0,[4],false]])").value()[0], (Step{Split{2, 0, 0, {4}, 0}}));
}

TEST(AnsorSteps, WhatIsWrongIsNamed) {
  EXPECT_EQ(parse_steps("7").error().message, "ansor: the steps are 7, expected an array");
  EXPECT_EQ(parse_steps("[[1]]").error().message, "ansor: step 0 is [1], expected an array that begins with its kind");
  EXPECT_THAT(parse_steps(R"([["CI",1],["XX",1]])").error().message,
              HasSubstr("step 1 is of the kind 'XX', there are"));
  EXPECT_EQ(parse_steps(R"([["CI",1,2]])").error().message,
            R"(ansor: step 0, ["CI",1,2], has 2 fields, expected are 1)");
  EXPECT_EQ(parse_steps(R"([["SP",1,0,4,[2,"x"],1]])").error().message,
            R"(ansor: field 4 of step 0, SP, is [2,"x"], expected a list of whole numbers)");
}

TEST(AnsorSteps, SplitsFollowOthers) {
  const Steps steps = parse_steps(R"([["SP",2,0,512,[2,4,8],1],["SP",2,4,64,[1,2,16],1],["CI",1]])").value();
  EXPECT_THAT(lengths_of(FollowSplit{3, 0, 0, 1}, steps).value(), ElementsAre(64));
  EXPECT_THAT(lengths_of(FollowSplit{3, 0, 0, 3}, steps).value(), ElementsAre(2, 4, 8));
  EXPECT_THAT(lengths_of(FollowSplit{3, 0, 0, 4}, steps).value(), ElementsAre(2, 4, 8, 1));
  EXPECT_THAT(lengths_of(FollowFusedSplit{3, 0, {0, 1}, 1, 1}, steps).value(), ElementsAre(8));
  EXPECT_EQ(lengths_of(FollowSplit{3, 0, 0, 5}, steps).error().message,
            "ansor: FSP splits into 5 parts, expected 1..4");
  EXPECT_EQ(lengths_of(FollowSplit{3, 0, 2, 1}, steps).error().message,
            "ansor: FSP follows step 2, which is CI, not SP");
  EXPECT_EQ(lengths_of(FollowFusedSplit{3, 0, {7}, 1, 1}, steps).error().message,
            "ansor: FFSP follows step 7, which is not before it");
  EXPECT_EQ(lengths_of(FollowFusedSplit{3, 0, {0}, 3, 1}, steps).error().message,
            "ansor: FFSP follows level 3 of a split with 3");
  const Steps huge = parse_steps(R"([["SP",2,0,0,[4000000000,4000000000],1]])").value();
  EXPECT_THAT(lengths_of(FollowSplit{3, 0, 0, 1}, huge).error().message,
              HasSubstr("a length of a split is 4000000000"));
}

}  // namespace
}  // namespace hone::space::ansor
