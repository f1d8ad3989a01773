#include "bench/workloads.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace skerry::bench {
namespace {

Subject Named(const std::string& group, const std::string& name) {
  return {.group = group, .name = name, .run = [] { return Sample{}; }};
}

const Group& Find(const std::vector<Group>& groups, std::string_view name) {
  return *std::ranges::find(groups, name, &Group::name);
}

TEST(WorkloadsTest, EveryGroupIsThereOnceAndHasATarget) {
  std::set<std::string_view> names;
  for (const Workload& workload : Workloads()) {
    EXPECT_TRUE(names.insert(workload.group).second) << workload.group;
    EXPECT_TRUE(workload.target.ratio || workload.target.p50) << workload.group;
    EXPECT_EQ(FindWorkload(workload.group), &workload);
  }
  EXPECT_EQ(FindWorkload("nonsense"), nullptr);
}

TEST(WorkloadsTest, AGroupIsMeantByItsNameOrItsFirstWords) {
  EXPECT_TRUE(IsGroupOf("cell", "cell"));
  EXPECT_TRUE(IsGroupOf("policy-python-1m", "policy"));
  EXPECT_TRUE(IsGroupOf("policy-python-1m", "policy-python"));
  EXPECT_FALSE(IsGroupOf("policy-python-1m", "pol"));
  EXPECT_FALSE(IsGroupOf("policy-python-1m", "python"));
  EXPECT_FALSE(IsGroupOf("policy", "policy-python-1m"));
  EXPECT_FALSE(IsGroupOf("cell", ""));
}

TEST(WorkloadsTest, OursGetsTheTargetOfItsGroupAndOthersNone) {
  const auto groups = Grouped({Named("shell", "bare"), Named("shell", "skerry"), Named("shell", "skerry run")}, {});
  const Group& shell = Find(groups, "shell");
  ASSERT_EQ(shell.subjects.size(), 3U);
  EXPECT_EQ(shell.baseline, "bare");
  EXPECT_FALSE(shell.subjects[0].target.ratio);
  EXPECT_EQ(shell.subjects[1].target.ratio, 1.5);
  EXPECT_FALSE(shell.subjects[2].target.ratio);
}

TEST(WorkloadsTest, ATargetThatASubjectBringsStays) {
  Subject subject = Named("shell", "skerry");
  subject.target.ratio = 9;
  EXPECT_EQ(Find(Grouped({subject}, {}), "shell").subjects[0].target.ratio, 9);
}

TEST(WorkloadsTest, WhatWasLeftOutStandsInItsGroup) {
  const auto groups = Grouped({}, {{"cell", "ipykernel", "not installed"}});
  ASSERT_EQ(Find(groups, "cell").left_out.size(), 1U);
  EXPECT_TRUE(Find(groups, "python").left_out.empty());
}

}  // namespace
}  // namespace skerry::bench
