#include "workspace/tree_walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Writes down what the walk shows: a directory as "+path" and "-", anything else as its path.
class Notes : public TreeVisitor {
 public:
  std::function<void(const std::string&)> on_entry = [](const std::string&) {};

  base::Status Visit(const TreeEntry& entry) override { return Note(entry.path, entry.path); }
  base::Status Enter(const TreeEntry& entry) override { return Note("+" + entry.path, entry.path); }
  base::Status Leave() override {
    lines.emplace_back("-");
    return {};
  }

  std::vector<std::string> lines;

 private:
  base::Status Note(const std::string& line, const std::string& path) {
    lines.push_back(line);
    on_entry(path);
    return {};
  }
};

class TreeWalkTest : public testing::Test {
 protected:
  void Put(const fs::path& path) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "x";
  }
  void Move(const fs::path& from, const fs::path& to) { fs::rename(root_ / from, root_ / to); }
  base::Status Walk() {
    const base::UniqueFd top(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return WalkTree(top.get(), notes_, {});
  }

  support::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();
  Notes notes_;
};

std::size_t CountDescriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator{}));
}

TEST_F(TreeWalkTest, FilesComeBeforeTheDirectoriesBesideThem) {
  Put("b/c/d");
  Put("b/file");
  Put("top");
  ASSERT_TRUE(Walk());
  EXPECT_THAT(notes_.lines, ElementsAre("top", "+b", "b/file", "+b/c", "b/c/d", "-", "-"));
}

TEST_F(TreeWalkTest, EachDirectoryIsLeftOnce) {
  for (const char* path : {"a/b/c/d/x", "a/b/y", "e/f/z"}) Put(path);
  fs::create_directories(root_ / "a/empty/inner");
  fs::create_directories(root_ / "g");
  ASSERT_TRUE(Walk());
  EXPECT_EQ(std::ranges::count(notes_.lines, "-"), 9);
  EXPECT_THAT(notes_.lines, testing::IsSupersetOf({"e/f/z", "+a/empty/inner"}));
}

TEST_F(TreeWalkTest, AnyDepthTakesTwoDescriptors) {
  constexpr int kDepth = 600;
  base::UniqueFd at(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_TRUE(at.valid());
    ASSERT_EQ(::mkdirat(at.get(), "deep", 0755), 0);
    ASSERT_EQ(::mkdirat(at.get(), "leaf", 0755), 0);
    at.Reset(::openat(at.get(), "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  at.Reset();
  const std::size_t before = CountDescriptors();
  std::size_t most = 0;
  notes_.on_entry = [&](const std::string&) { most = std::max(most, CountDescriptors()); };
  ASSERT_TRUE(Walk());
  EXPECT_EQ(notes_.lines.size(), 4U * kDepth);
  EXPECT_LE(most, before + 3);  // with the one of this test
  EXPECT_EQ(CountDescriptors(), before);
}

TEST_F(TreeWalkTest, ADirectoryWithOthersInItThatIsMovedEndsTheWalk) {
  Put("a/b/c/file");
  fs::create_directories(root_ / "elsewhere");
  notes_.on_entry = [&](const std::string& path) {
    if (path == "a/b/c/file") Move("a/b", "elsewhere/b");
  };
  const auto walked = Walk();
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().code, base::Code::kConflict) << walked.error().message;
}

TEST_F(TreeWalkTest, ADirectoryWithoutOthersInItMayBeMoved) {
  Put("a/one");
  Put("b/two");
  fs::create_directories(root_ / "c");
  notes_.on_entry = [&](const std::string& path) {
    if (path == "a/one" || path == "b/two") Move(path.substr(0, 1), "c/" + path.substr(0, 1));
  };
  ASSERT_TRUE(Walk());
  EXPECT_THAT(notes_.lines, testing::IsSupersetOf({"+a", "a/one", "+b", "b/two", "+c"}));
}

TEST_F(TreeWalkTest, ADirectoryThatWasMovedOutOfTheTreeShowsNothingOutside) {
  Put("inside/a/b/file");
  Put("outside/a/secret");
  Put("outside/secret");
  notes_.on_entry = [&](const std::string& path) {
    if (path == "a/b/file") Move("inside/a", "outside/moved");
  };
  const base::UniqueFd top(::open((root_ / "inside").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto walked = WalkTree(top.get(), notes_, {});
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().code, base::Code::kConflict);
  EXPECT_THAT(notes_.lines, ElementsAre("+a", "+a/b", "a/b/file", "-"));
}

TEST_F(TreeWalkTest, WhatVanishesIsPassedOver) {
  Put("file");
  Put("gone/a/b");
  Put("here");
  notes_.on_entry = [&](const std::string&) { fs::remove_all(root_ / "gone"); };
  ASSERT_TRUE(Walk());
  EXPECT_THAT(notes_.lines, UnorderedElementsAre("file", "here"));
}

}  // namespace
}  // namespace skerry::workspace
