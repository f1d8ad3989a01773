#include "os/remove_tree.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::os {
namespace {

namespace fs = std::filesystem;

class RemoveTreeTest : public testing::Test {
 protected:
  RemoveTreeTest() { fs::create_directory(base_ / "tree"); }
  support::TemporaryDirectory directory_;
  fs::path base_ = directory_.path();
};

TEST_F(RemoveTreeTest, RemovesFilesAndDirectories) {
  fs::create_directories(base_ / "tree/a/b/c");
  std::ofstream(base_ / "tree/a/file") << "x";
  std::ofstream(base_ / "tree/a/b/c/file") << "x";
  ASSERT_TRUE(RemoveTree((base_ / "tree").string()).has_value());
  EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(RemoveTreeTest, RemovesLinksAndLeavesTheirTargets) {
  std::ofstream(base_ / "outside") << "x";
  fs::create_directory(base_ / "outside-directory");
  fs::create_symlink(base_ / "outside", base_ / "tree/link");
  fs::create_directory_symlink(base_ / "outside-directory", base_ / "tree/directory-link");
  ASSERT_TRUE(RemoveTree((base_ / "tree").string()).has_value());
  EXPECT_TRUE(fs::exists(base_ / "outside"));
  EXPECT_TRUE(fs::exists(base_ / "outside-directory"));
}

TEST_F(RemoveTreeTest, ALinkInPlaceOfTheTreeIsRemovedItself) {
  fs::create_directory(base_ / "precious");
  std::ofstream(base_ / "precious/file") << "x";
  fs::create_directory_symlink(base_ / "precious", base_ / "link");
  ASSERT_TRUE(RemoveTree((base_ / "link").string()).has_value());
  EXPECT_TRUE(fs::exists(base_ / "precious/file"));
}

TEST_F(RemoveTreeTest, RemovesWhatItsOwnerLocked) {
  fs::create_directories(base_ / "tree/locked/inner");
  std::ofstream(base_ / "tree/locked/inner/file") << "x";
  ::chmod((base_ / "tree/locked/inner").c_str(), 0);
  ::chmod((base_ / "tree/locked").c_str(), 0);
  ::chmod((base_ / "tree").c_str(), 0500);
  ASSERT_TRUE(RemoveTree((base_ / "tree").string()).has_value());
  EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(RemoveTreeTest, RemovesATreeDeeperThanAnyPath) {
  int fd = ::open((base_ / "tree").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int depth = 0; depth < 3000; ++depth) {
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::mkdirat(fd, "nested", 0755), 0);
    const int next = ::openat(fd, "nested", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(fd);
    fd = next;
  }
  ::close(fd);
  ASSERT_TRUE(RemoveTree((base_ / "tree").string()).has_value());
  EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(RemoveTreeTest, WhatIsNotThereNeedsNoRemoving) {
  EXPECT_TRUE(RemoveTree((base_ / "never").string()).has_value());
}

// Runs in a child with its own mounts; the exit code says what happened.
int RemoveWithMount(const fs::path& base) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) < 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) ::_exit(77);
    fs::create_directory(base / "tree/mnt");
    if (::mount((base / "outside").c_str(), (base / "tree/mnt").c_str(), nullptr, MS_BIND, nullptr) < 0) ::_exit(77);
    ::_exit(RemoveTree((base / "tree").string()) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST_F(RemoveTreeTest, WhatIsMountedInsideIsNotTouched) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount";
  fs::create_directory(base_ / "outside");
  std::ofstream(base_ / "outside/file") << "x";
  const int outcome = RemoveWithMount(base_);
  if (outcome == 77) GTEST_SKIP() << "cannot mount here";
  EXPECT_EQ(outcome, 1);
  EXPECT_TRUE(fs::exists(base_ / "outside/file"));
}

}  // namespace
}  // namespace skerry::os
