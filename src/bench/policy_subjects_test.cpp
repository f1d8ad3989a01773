#include "bench/policy_subjects.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/command.hpp"
#include "bench/workloads.hpp"

namespace skerry::bench {
namespace {

using ::testing::HasSubstr;

TEST(PolicySubjectsTest, EveryGroupOfThePolicyHasOursAndNoOtherGroupHas) {
  const Baselines found = FindPolicySubjects({});
  std::set<std::string_view> groups;
  for (const Subject& subject : found.subjects) {
    EXPECT_EQ(subject.name, "skerry");
    groups.insert(subject.group);
  }
  for (const Workload& workload : Workloads())
    EXPECT_EQ(groups.contains(workload.group), IsGroupOf(workload.group, "policy")) << workload.group;
}

TEST(PolicySubjectsTest, OursAnswersWithATime) {
  for (const Subject& subject : FindPolicySubjects({}).subjects) {
    const auto sample = subject.run();
    ASSERT_TRUE(sample) << subject.group << ": " << sample.error().message;
    EXPECT_GT(sample->total, Duration{});
  }
}

TEST(PolicySubjectsTest, AParserThatIsNotInstalledIsLeftOutByItsName) {
  const Baselines found = FindPolicySubjects({});
  ASSERT_EQ(found.left_out.size(), 6U);
  for (const LeftOut& row : found.left_out) {
    EXPECT_EQ(row.name, FindWorkload(row.group)->baseline);
    EXPECT_THAT(row.reason, HasSubstr("not installed"));
  }
}

// The code is ordinary when the parsers accept it.
TEST(PolicySubjectsTest, EveryParserThatIsInstalledAcceptsTheCode) {
  const Interpreters interpreters = {
      .python = FindProgram("python3"), .node = FindProgram("node"), .shell = FindProgram("bash")};
  if (!interpreters.python && !interpreters.node && !interpreters.shell) GTEST_SKIP() << "no interpreter is installed";
  const Baselines found = FindPolicySubjects(interpreters);
  for (const LeftOut& row : found.left_out) EXPECT_THAT(row.reason, HasSubstr("not installed")) << row.group;
  for (const Subject& subject : found.subjects) EXPECT_TRUE(subject.run()) << subject.group << " " << subject.name;
}

TEST(PolicySubjectsTest, AParserThatRefusesTheCodeIsLeftOutWithItsReason) {
  const Baselines found = FindPolicySubjects({.shell = "/bin/false"});
  const auto refused = std::ranges::find(found.left_out, "policy-shell-1m", &LeftOut::group);
  ASSERT_NE(refused, found.left_out.end());
  EXPECT_THAT(refused->reason, HasSubstr("exited with 1"));
}

}  // namespace
}  // namespace skerry::bench
