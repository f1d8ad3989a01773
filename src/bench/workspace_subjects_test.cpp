#include "bench/workspace_subjects.hpp"

#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "bench/workloads.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::bench {
namespace {

TEST(WorkspaceSubjectsTest, EachAnswersWithATimeAndLeavesNothing) {
  const support::TemporaryDirectory directory;
  {
    const Baselines found = FindWorkspaceSubjects(directory.path().string(), nullptr);
    std::set<std::string> groups;
    for (const Subject& subject : found.subjects) {
      const auto sample = subject.run();
      ASSERT_TRUE(sample) << subject.group << " " << subject.name << ": " << sample.error().message;
      EXPECT_GT(sample->total, Duration{});
      groups.insert(subject.group);
    }
    EXPECT_EQ(groups, (std::set<std::string>{"workspace-commit", "workspace-read"}));
    ASSERT_EQ(found.left_out.size(), 1U);
    EXPECT_EQ(found.left_out.front().group, "workspace-nothing");
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(WorkspaceSubjectsTest, ADirectoryThatCannotBeUsedIsTheReason) {
  const Baselines found = FindWorkspaceSubjects("/nowhere", nullptr);
  EXPECT_TRUE(found.subjects.empty());
  EXPECT_EQ(found.left_out.size(), 3U);
}

}  // namespace
}  // namespace skerry::bench
