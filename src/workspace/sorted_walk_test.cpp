#include "workspace/sorted_walk.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workspace/beneath.hpp"
#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class SortedWalkTest : public WorkspaceTest {
 protected:
  base::Result<std::vector<std::string>> Walk(const std::string& begin = "",
                                              const SortedWalk::Memory& memory = SortedWalk::kUsual) {
    SKERRY_ASSIGN_OR_RETURN(SortedWalk walk, SortedWalk::Open(Files().root(), memory));
    walk.BeginAt(begin);
    std::vector<std::string> paths;
    for (;;) {
      SKERRY_ASSIGN_OR_RETURN(const bool there, walk.Next());
      if (!there) return paths;
      if (walk.name() == "skipped") walk.Skip();
      paths.push_back(walk.path());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(One, SortedWalkTest, testing::Values(Resolver::Way::kKernel), WayName);

TEST_P(SortedWalkTest, GoesInTheOrderOfPaths) {
  for (const char* path : {"b/z", "b/a", "b.txt", "a", "c/d/e/f", "skipped/x", ".skerry-stage-x"}) Put(path, "");
  Link("b", "l");
  const auto paths = Walk();
  ASSERT_TRUE(paths) << MessageOf(paths);
  EXPECT_THAT(*paths, ElementsAre("a", "b", "b/a", "b/z", "b.txt", "c", "c/d", "c/d/e", "c/d/e/f", "l", "skipped"));
  EXPECT_TRUE(std::ranges::is_sorted(*paths, PathBefore));
}

TEST_P(SortedWalkTest, BeginsWhereItIsTold) {
  for (const char* path : {"a/1", "b/1", "b/2/x", "b/3", "c"}) Put(path, "");
  EXPECT_THAT(*Walk("b/2/x"), ElementsAre("b", "b/2", "b/2/x", "b/3", "c"));
  EXPECT_THAT(*Walk("b/1gone"), ElementsAre("b", "b/2", "b/2/x", "b/3", "c"));
  EXPECT_THAT(*Walk("zzz"), ElementsAre());
}

TEST_P(SortedWalkTest, AnyDepthTakesTwoDescriptors) {
  base::UniqueFd at = DirectoryFd(root_);
  constexpr int kDepth = 600;
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "deep", 0755), 0);
    ASSERT_EQ(::mkdirat(at.get(), "zz", 0755), 0);
    at.Reset(::openat(at.get(), "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  const auto paths = Walk();
  ASSERT_TRUE(paths) << MessageOf(paths);
  EXPECT_EQ(paths->size(), 2U * kDepth);
  EXPECT_EQ(paths->back(), "zz");
}

TEST_P(SortedWalkTest, LittleMemoryIsEnough) {
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) Put("d" + std::to_string(i) + "/e" + std::to_string(j) + "/f", "");
  const auto paths = Walk();
  ASSERT_TRUE(paths) << MessageOf(paths);
  EXPECT_EQ(paths->size(), 12U + 2 * 144);
  for (const auto& [of_one, of_all] : std::vector<SortedWalk::Memory>{{5, 5}, {1, 1}, {100, 3}, {7, 1000}})
    EXPECT_EQ(Walk("", {of_one, of_all}).value_or(std::vector<std::string>()), *paths) << of_one << " " << of_all;
}

TEST_P(SortedWalkTest, AMovedDirectoryEndsIt) {
  Put("a/b/f", "");
  Put("z", "");
  auto walk = SortedWalk::Open(Files().root());
  ASSERT_TRUE(walk && walk->Next() && walk->Next());
  EXPECT_EQ(walk->path(), "a/b");
  ASSERT_TRUE(walk->Next());
  EXPECT_EQ(walk->path(), "a/b/f");
  fs::rename(root_ / "a/b", outside_ / "b");
  EXPECT_EQ(CodeOf(walk->Next()), "conflict");
}

}  // namespace
}  // namespace skerry::workspace
